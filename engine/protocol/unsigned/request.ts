/** A request of a network without signatures, composed in this process. Safe in a browser. */
import type { CommandKind } from '../schema/command.js';
import type { SignedRequest } from '../schema/entry.js';
import type { JsonBody } from '../signing.js';

/** A request, but for its body. */
export type AroundBody = Omit<SignedRequest, 'body'>;

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
  declare file?: Uint8Array;
  readonly #said: JsonBody;
  readonly #bytes: Uint8Array;

  /** @param bytes JSON of `said`, by `plainJson`. */
  constructor(around: AroundBody, said: JsonBody, bytes: Uint8Array) {
    this.kind = around.kind;
    this.public_key = around.public_key;
    this.target = around.target;
    this.timestamp = around.timestamp;
    this.signature = around.signature;
    this.#said = said;
    this.#bytes = bytes;
    this.body = bytes;
    if (around.file) this.file = around.file;
  }

  /**
   * What parsing a request's body would give, where that is known; null where it must be parsed.
   * Neither a copy of a request nor one that was given another body knows it.
   */
  static said(request: SignedRequest): JsonBody | null {
    return #said in request && request.#bytes === request.body ? request.#said : null;
  }
}
