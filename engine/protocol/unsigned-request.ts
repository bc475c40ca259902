/** A request of a network without signatures, composed in this process. Safe in a browser. */
import type { CommandKind } from './schema/command.js';
import type { SignedRequest } from './schema/entry.js';
import type { JsonBody } from './signing.js';
import { utf8 } from './utf8.js';

/**
 * Knows what its body says, so that whoever admits it here need not read its text. What is signed
 * is read from its bytes, as those are what was signed.
 */
export class UnsignedRequest implements SignedRequest {
  kind: CommandKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: Uint8Array;
  readonly #said: JsonBody;
  readonly #bytes: Uint8Array;

  constructor(around: Omit<SignedRequest, 'body'>, said: JsonBody) {
    this.kind = around.kind;
    this.public_key = around.public_key;
    this.target = around.target;
    this.timestamp = around.timestamp;
    this.signature = around.signature;
    this.#said = said;
    this.#bytes = utf8(JSON.stringify(said));
    this.body = this.#bytes;
  }

  /**
   * What parsing a request's body would give, where that is known; null where it must be parsed.
   * Neither a copy of a request nor one that was given another body knows it.
   */
  static said(request: SignedRequest): JsonBody | null {
    return #said in request && request.#bytes === request.body ? request.#said : null;
  }
}

/**
 * Whether each member of a body is as JSON would give it back: a text, a truth, or a list of texts,
 * of which it gets a copy of its own.
 */
export function becamePlain(body: Record<string, unknown>): boolean {
  for (const name in body) {
    const value = body[name];
    if (typeof value === 'string' || typeof value === 'boolean') continue;
    if (!Array.isArray(value)) return false;
    const texts = [...value];
    if (!texts.every((text) => typeof text === 'string')) return false;
    body[name] = texts;
  }
  return true;
}
