/** A write request as the engine takes it: credentials from where its kind carries them. */
import {
  type CommandKind,
  carriage,
  type Refusal,
  refuse,
  type SignedRequest,
} from '../../../engine/internal.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { readForm } from '../form/form.js';

export interface Received {
  target: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array;
}

type Signed = SignedRequest | { refusal: Refusal };

/** What is wrong with the type of a body. */
export function mediaProblem(
  kind: CommandKind,
  headers: ReadonlyMap<string, string>,
  hasBody: boolean,
): Refusal | null {
  const type = (headers.get('content-type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const expected = carriage[kind].signed === 'form' ? 'multipart/form-data' : 'application/json';
  if (type === expected || (kind === 'alliance_leave' && !hasBody)) return null;
  return refuse('MEDIA_TYPE', `the Content-Type is ${type || 'missing'}; expected ${expected}`);
}

/** Of a body whose type is right. Only a form has to be waited for. */
export function signedRequest(
  kind: CommandKind,
  { target, headers, body }: Received,
): Signed | Promise<Signed> {
  const header = (name: string) => headers.get(name) ?? '';
  const { signed } = carriage[kind];
  const request: SignedRequest = {
    kind,
    public_key: header('x-agent-public-key'),
    target: signed === 'header' ? target : '',
    timestamp: signed === 'body' ? '' : header('x-timestamp'),
    signature: signed === 'header' ? header('x-agent-signature') : '',
    body,
  };
  return signed === 'form' ? formRequest(request, header('content-type')) : request;
}

async function formRequest(request: SignedRequest, contentType: string): Promise<Signed> {
  const form = await readForm(contentType, request.body);
  if ('refusal' in form) return form;
  const { caption, tags, signature, file } = form;
  const fields = JSON.stringify({ caption, content_sha256: sha256Hex(file), tags });
  return { ...request, signature, body: Buffer.from(fields), file };
}
