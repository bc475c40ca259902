/** Generated documents and built files, which are created or read on first use, then cached. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { buildAsyncapi } from './asyncapi.js';
import { buildOpenapi } from './openapi.js';
import type { Part } from './openapi-schemas.js';

const require = createRequire(import.meta.url);
const version = () => (require('folkmoot/package.json') as { version: string }).version;

let openapi: Part | undefined;
let asyncapi: Part | undefined;

/** Returns the OpenAPI 3.1 document. The object is shared and must not be modified. */
export function openapiDocument(): Part {
  openapi ??= buildOpenapi(version());
  return openapi;
}

/** Returns the AsyncAPI 3 document. The object is shared and must not be modified. */
export function asyncapiDocument(): Part {
  asyncapi ??= buildAsyncapi(version());
  return asyncapi;
}

/** An item in the list that `tools/bundle.mjs` writes alongside the files. */
interface Listed {
  file: string;
  type: string;
  digest: string;
  immutable: boolean;
}
const endings: Record<Coding, string> = { br: '.br', gzip: '.gz', identity: '' };

/**
 * Returns a list's files, by name.
 *
 * @param policy content security policy for the HTML files
 */
export function builtFiles(list: '#page' | '#viewer', policy: string): Map<string, ServedFile> {
  const path = require.resolve(list);
  const listed = JSON.parse(readFileSync(path, 'utf8')) as Listed[];
  return new Map(
    listed.map(({ file, type, digest, immutable }) => {
      const read = (coding: Coding) => readFileSync(join(dirname(path), file + endings[coding]));
      const served = { type, digest, immutable, bytes: kept(read) };
      return [file, type.startsWith('text/html') ? { ...served, policy } : served];
    }),
  );
}

/** Content codings, by ascending size of the result. */
export const codings = ['br', 'gzip', 'identity'] as const;
export type Coding = (typeof codings)[number];

export interface ServedFile {
  type: string;
  /** Digest of the uncompressed bytes, in hexadecimal. */
  digest: string;
  /** The path contains the digest, so the content never changes. */
  immutable: boolean;
  /** Content security policy; absent for files that a browser does not open as a document. */
  policy?: string;
  bytes(coding: Coding): Uint8Array;
}

export interface GeneratedFile {
  type: string;
  body: string | Uint8Array;
  policy?: string;
}

/** Compresses within a few milliseconds. */
const BROTLI_QUALITY = 5;

/** Creates a file. Its compressed forms are made on first use, then cached. */
export function generateFile({ type, body, policy }: GeneratedFile): ServedFile {
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

function kept(make: (coding: Coding) => Uint8Array): (coding: Coding) => Uint8Array {
  const made = new Map<Coding, Uint8Array>();
  return (coding) => {
    const bytes = made.get(coding) ?? make(coding);
    made.set(coding, bytes);
    return bytes;
  };
}

const digestOf = (bytes: Uint8Array) =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 32);
