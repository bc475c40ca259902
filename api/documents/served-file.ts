/** A file that is served as it is: its bytes, packed or not, and the tag that names them. */
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** What a client may take a file as, the smallest first. */
export const codings = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof codings)[number];

export interface ServedFile {
  type: string;
  /** Of the bytes that are not packed, in hexadecimal. */
  digest: string;
  /** Its path names its digest: it never changes. */
  immutable: boolean;
  /** Its content security policy; none where a browser never shows it by itself. */
  policy?: string;
  bytes(coding: Coding): Uint8Array;
}

export interface Made {
  type: string;
  body: string | Uint8Array;
  policy?: string;
}

/** The quality at which packing costs a few milliseconds. */
const BROTLI_QUALITY = 5;

/** A file that is made while the server runs: packed when somebody takes it so, then kept. */
export function madeFile({ type, body, policy }: Made): ServedFile {
  const identity = Buffer.from(body);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const pack: Record<Coding, () => Uint8Array> = {
    br: () => brotliCompressSync(identity, { params }),
    gzip: () => gzipSync(identity),
    identity: () => identity,
  };
  return {
    type,
    digest: digestOf(identity),
    immutable: false,
    ...(policy === undefined ? {} : { policy }),
    bytes: kept((coding) => pack[coding]()),
  };
}

/** The same, each made once. */
export function kept(make: (coding: Coding) => Uint8Array): (coding: Coding) => Uint8Array {
  const made = new Map<Coding, Uint8Array>();
  return (coding) => {
    const bytes = made.get(coding) ?? make(coding);
    made.set(coding, bytes);
    return bytes;
  };
}

export const digestOf = (bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 32);
