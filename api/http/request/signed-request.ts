/** A write request as the engine takes it: what it carries, and what a form in it has. */
import {
  type CommandKind,
  carriage,
  type Refusal,
  refuse,
  type SignedRequest,
} from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { carriedRequest, type Received } from '../../checks/carried-request.js';
import { readForm } from '../form/form.js';

/** A request, and the names of form fields that are not known. */
export interface Carried extends SignedRequest {
  unknownFields?: readonly string[];
}

type Signed = Carried | { refusal: Refusal };

/** What is wrong with the type of a body. */
export function mediaProblem(
  kind: CommandKind,
  headers: ReadonlyMap<string, string>,
  hasBody: boolean,
): Refusal | null {
  const sent = headers.get('content-type') ?? '';
  const expected = carriage[kind].signed === 'form' ? 'multipart/form-data' : 'application/json';
  if (sent === expected) return null;
  const type = sent.split(';', 1)[0]!.trim().toLowerCase();
  if (type === expected || (kind === 'alliance_leave' && !hasBody)) return null;
  return refuse('MEDIA_TYPE', `the Content-Type is ${type || 'missing'}; expected ${expected}`);
}

/** Of a body whose type is right. Only a form has to be waited for. */
export function signedRequest(kind: CommandKind, received: Received): Signed | Promise<Signed> {
  const request = carriedRequest(kind, received);
  if (carriage[kind].signed !== 'form') return request;
  return formRequest(request, received.headers.get('content-type') ?? '');
}

async function formRequest(request: SignedRequest, contentType: string): Promise<Signed> {
  const form = await readForm(contentType, request.body);
  if ('refusal' in form) return form;
  const { caption, tags, signature, file, unknown: unknownFields } = form;
  const fields = JSON.stringify({ caption, content_sha256: sha256Hex(file), tags });
  return { ...request, signature, body: Buffer.from(fields), file, unknownFields };
}
