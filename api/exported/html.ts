/**
 * The one file: the page's scripts and style, and a run, as texts in base64. Nothing in the run is
 * read as markup, and the checksum of gzip finds a changed byte in any part. It asks no server.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { About } from '../view/kept.js';

const require = createRequire(import.meta.url);
const built = (name: string) =>
  readFileSync(join(dirname(require.resolve('#page')), 'exported', name), 'utf8');

/** @param run packed by gzip */
export function htmlOf(about: About, run: Uint8Array): string {
  const style = built('page.css');
  const page = built('page.js');
  const begin = built('begin.js');
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(begin)}' '${hashOf(page)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src blob: data:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types folkmoot folkmoot-begin',
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Folkmoot</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="page"></div>
<noscript>
<p>This file holds a run and draws it with scripts, which are switched off here.</p>
</noscript>
<script type="text/plain" id="about">${packed(JSON.stringify(about))}</script>
<script type="text/plain" id="player">${packed(built('player.js'))}</script>
<script type="text/plain" id="look">${packed(style)}</script>
<script type="text/plain" id="code">${packed(page)}</script>
<script>${begin}</script>
<script type="text/plain" id="run">${base64(run)}</script>
</body>
</html>
`;
}

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const packed = (text: string) => base64(gzipSync(text, { level: 9 }));
