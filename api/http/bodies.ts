/** Request bodies: the memory that they hold, their form, and the signed request in them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { type ReceivedRequest, requestFromHttp } from '../checks/request-checks.js';
import { serverBounds } from '../contract/limit-table.js';
import { readForm } from './form-parser.js';

export type BodyClass = keyof typeof serverBounds.bodyClasses;

/** Bytes in request bodies in flight, by class and address. Bounds the memory of a flood. */
export class BodiesInFlight {
  /** Bytes by class, and by class and address. */
  readonly #bytes = new Map<string, number>();

  /** Adds bytes. Returns false if the class or the address has too many. */
  take(kind: BodyClass, address: string, bytes: number): boolean {
    const { total, ofAddress } = serverBounds.bodyClasses[kind];
    const all = (this.#bytes.get(kind) ?? 0) + bytes;
    const own = (this.#bytes.get(`${kind} ${address}`) ?? 0) + bytes;
    if (all > total || own > ofAddress) return false;
    this.#add(kind, bytes);
    this.#add(`${kind} ${address}`, bytes);
    return true;
  }

  release(kind: BodyClass, address: string, bytes: number): void {
    this.#add(kind, -bytes);
    this.#add(`${kind} ${address}`, -bytes);
  }

  #add(key: string, bytes: number): void {
    const left = (this.#bytes.get(key) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(key, left);
    else this.#bytes.delete(key);
  }
}

export const refuseBodySize = (bytes: number, limit: number): Refusal =>
  refuse('BODY_TOO_LARGE', { bytes, limit });

/** Refuses a compressed body: signatures and digests cover the bytes as sent. */
export function refuseCoding(headers: ReadonlyMap<string, string>): Refusal | null {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return null;
  return refuse('CONTENT_CODED', { coding: coding.slice(0, 64) });
}

/** A request, with the names of unknown form fields. */
export interface Carried extends SignedRequest {
  unknownFields?: readonly string[];
}

type Signed = Carried | { refusal: Refusal };

export function refuseMediaType(
  kind: CommandKind,
  headers: ReadonlyMap<string, string>,
  hasBody: boolean,
): Refusal | null {
  const sent = headers.get('content-type') ?? '';
  const expected = carriage[kind].signed === 'form' ? 'multipart/form-data' : 'application/json';
  if (sent === expected) return null;
  const type = sent.split(';', 1)[0]!.trim().toLowerCase();
  if (type === expected || (kind === 'alliance_leave' && !hasBody)) return null;
  return refuse('CONTENT_TYPE_WRONG', { type: type.slice(0, 128) || 'none', expected });
}

/** Builds the signed request from a body with the right media type. Only forms are asynchronous. */
export function signedRequest(
  kind: CommandKind,
  received: ReceivedRequest,
): Signed | Promise<Signed> {
  const request = requestFromHttp(kind, received);
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

/*
 * Parses at most one large body per event-loop turn. Parsing a large body takes tens of
 * milliseconds, so a small request waits for at most one large body.
 */

/** Size above which a body counts as large. Smaller bodies take less than a millisecond. */
const LARGE_BYTES = 64 * 1024;

export class LargeBodies {
  readonly #limit = pLimit(1);

  /** Resolves when this body may be parsed. Returns null if the body need not wait. */
  waitTurn(bytes: number): Promise<void> | null {
    // Immediates run after the poll phase, so other requests are served between turns.
    return bytes <= LARGE_BYTES ? null : this.#limit(() => nextTurn());
  }
}
