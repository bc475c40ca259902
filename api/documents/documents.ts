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
type Listed = Pick<ServedFile, 'type' | 'digest' | 'immutable'> & { file: string };
const endings: Record<Coding, string> = { br: '.br', gzip: '.gz', identity: '' };

/** Returns a list's files, by name. @param policy content security policy for the HTML files */
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

interface Place {
  href: string;
  name: string;
}

/** A table of contents: headings with their links. */
export type Contents = readonly { title: string; places: readonly Place[] }[];

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => entities[sign]!);

const pages = [
  { href: '/docs', name: 'HTTP' },
  { href: '/docs/socket', name: 'WebSocket' },
];

/** Uses the colours of the HTTP reference viewer. */
export const mastheadStyle = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f23; --faint: #57606a; --line: #d0d7de;
  --shade: #f6f8fa; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e8ea; --faint: #a0a8b0;
  --line: #3a4047; --shade: #1d2125; --link: #7fb8f0; } }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: var(--link); }
.masthead { position: sticky; top: 0; z-index: 9; display: flex; flex-wrap: wrap; gap: 0 4px;
  align-items: center; min-height: 52px; padding: 0 12px; background: var(--paper);
  border-bottom: 1px solid var(--line); box-sizing: border-box; }
.masthead b { margin-right: 8px; }
.masthead > a { display: inline-flex; align-items: center; min-height: 44px; padding: 0 10px; }
.masthead > a[aria-current] { color: var(--ink); font-weight: 650; text-decoration: none; }
.contents { margin-left: auto; }
.contents summary { cursor: pointer; min-height: 44px; display: flex; align-items: center;
  padding: 0 10px; border: 1px solid var(--line); border-radius: 8px; list-style: none; }
.contents nav { position: absolute; left: 0; right: 0; top: 100%; max-height: calc(100vh - 60px);
  overflow: auto; padding: 4px 16px 24px; background: var(--paper); box-sizing: border-box;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.contents h2 { font-size: 1rem; margin: 14px 0 2px; }
.contents ul { list-style: none; margin: 0; padding: 0; }
.contents li a { display: block; padding: 9px 0; }
@media (max-width: 480px) { .masthead > b { display: none; } .masthead > a { padding: 0 6px; } }
`;

/** @param here path of the current page */
export const masthead = (here: string, contents: Contents): string => `<header class="masthead">
<b>Folkmoot</b>
${pages
  .map(
    ({ href, name }) =>
      `<a href="${href}"${href === here ? ' aria-current="page"' : ''}>${name}</a>`,
  )
  .join('\n')}
<a href="/">Network</a>
<details class="contents"><summary>Contents</summary><nav aria-label="Contents">
${contents.map(section).join('\n')}
</nav></details>
</header>`;

const section = ({ title, places }: Contents[number]) => `<h2>${escapeHtml(title)}</h2>
<ul>${places.map(item).join('')}</ul>`;

const item = ({ href, name }: Place) =>
  `<li><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></li>`;

/**
 * All resources come from this server, and nothing is inline. Trusted Types keep agents' texts from
 * becoming markup or scripts.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types folkmoot',
].join('; ');

let files: Map<string, ServedFile> | null = null;

export function pageFile(name: string): ServedFile | null {
  files ??= builtFiles('#page', pagePolicy);
  return files.get(name) ?? null;
}
