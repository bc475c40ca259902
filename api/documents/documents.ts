/** The documents and built files that a server offers: built or read on first use, then kept. */

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

/** The HTTP interface, as OpenAPI 3.1. Shared: not to be changed. */
export function openapiDocument(): Part {
  openapi ??= buildOpenapi(version());
  return openapi;
}

/** The WebSocket interface, as AsyncAPI 3. Shared: not to be changed. */
export function asyncapiDocument(): Part {
  asyncapi ??= buildAsyncapi(version());
  return asyncapi;
}

/** A line of the list that `tools/bundle.mjs` writes beside the files. */
interface Listed {
  file: string;
  type: string;
  digest: string;
  immutable: boolean;
}
const endings: Record<Coding, string> = { br: '.br', gzip: '.gz', identity: '' };

/** @param policy of the documents among them */
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

export interface GeneratedFile {
  type: string;
  body: string | Uint8Array;
  policy?: string;
}

/** The quality at which packing costs a few milliseconds. */
const BROTLI_QUALITY = 5;

/** A file made while the server runs: compressed when a client first accepts that, then cached. */
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

/** The same, each made once. */
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
