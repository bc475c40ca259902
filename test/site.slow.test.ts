/** Builds the documentation site, which fails on dead links, and checks its pages. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './support/paths.js';

const run = promisify(execFile);
const site = join(root, 'site');
const page = (name: string) => readFileSync(join(site, `${name}.html`), 'utf8');

test('docs:site: builds every document, the API pages and an offline search index', async () => {
  const script = join(root, 'tools/site/build.mjs');
  await run(process.execPath, [script, '--skip-reference'], { cwd: root });
  const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const missing = documents
    .map((name) => (name === 'README.md' ? 'index' : name.replace('.md', '')))
    .filter((name) => !existsSync(join(site, 'docs', `${name}.html`)));
  expect(missing).toEqual([]);
  expect(page('index')).toContain('href="/docs/simulating.html"');
  expect(page('docs/http-api')).toContain('POST /api/v1/consensus/vote');
  expect(page('docs/websocket-api')).toContain('/ws/v1');
  const chunks = readdirSync(join(site, 'assets/chunks'));
  const index = chunks.find((name) => name.startsWith('@localSearchIndex'))!;
  expect(readFileSync(join(site, 'assets/chunks', index), 'utf8')).toContain('equivocation');
  // Nothing is fetched from another server when a page opens.
  const remote = /<(?:script|link|img)[^>]+(?:src|href)="https?:/;
  expect(
    documents.filter((name) =>
      remote.test(page(`docs/${name === 'README.md' ? 'index' : name.replace('.md', '')}`)),
    ),
  ).toEqual([]);
});
