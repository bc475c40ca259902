/**
 * The page of ui/, into dist/ui: scripts and styles whose names change with what is in them, packed
 * ahead, and the list by which the server finds them.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { buildExported } from './exported.mjs';
import { writeList } from './pack.mjs';

/** A worker is a file with this name; it is called by its folder. */
const WORKER = 'worker.ts';

const target = ['chrome110', 'firefox115', 'safari16.4'];

/** @returns what went into it, for its licences */
export async function buildPage(root) {
  const source = join(root, 'ui');
  const out = join(root, 'dist/ui');
  mkdirSync(out, { recursive: true });
  const { declarations } = await import('../../dist/report/shared/palette.js');
  const common = {
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target,
    minify: true,
    sourcemap: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    outdir: out,
    absWorkingDir: root,
    tsconfig: join(source, 'tsconfig.json'),
    plugins: [paletteOf(declarations)],
  };
  // Workers first: the page has to know what they are called.
  const folders = readdirSync(source).filter((name) => existsSync(join(source, name, WORKER)));
  const workers = await build({
    ...common,
    entryPoints: folders.map((name) => ({ in: join(source, name, WORKER), out: name })),
    entryNames: '[name]-worker-[hash]',
  });
  const names = Object.fromEntries(
    outputsOf(workers).map((file) => [/^(\w+)-worker-/.exec(file)[1], file]),
  );
  const page = await build({
    ...common,
    entryPoints: { page: join(source, 'main.tsx') },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    splitting: true,
    define: { WORKERS: JSON.stringify(names) },
  });
  const files = [...outputsOf(workers), ...outputsOf(page)];
  const named = (pattern) => files.find((file) => pattern.test(file));
  const html = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('{script}', named(/^page-\w+\.js$/))
    .replace('{style}', named(/^page-\w+\.css$/));
  writeFileSync(join(out, 'index.html'), html);
  // The same page, which knows from its first line that it shows a load run.
  const load = html
    .replace('<html ', '<html data-shows="load" ')
    .replaceAll('/api/v1/network/state', '/api/v1/load');
  writeFileSync(join(out, 'load.html'), load);
  writeList(out, ['index.html', 'load.html', ...files]);
  return [workers, page, await buildExported(root, common)];
}

const outputsOf = ({ metafile }) => Object.keys(metafile.outputs).map((path) => basename(path));

/** Reports and the page have their colours of one place: `@import 'palette'` stands for them. */
const paletteOf = (declarations) => ({
  name: 'palette',
  setup(builder) {
    const dark = `@media (prefers-color-scheme: dark) { :root { ${declarations('dark')} } }`;
    const contents = `:root { color-scheme: light dark; ${declarations('light')} } ${dark}`;
    builder.onResolve({ filter: /^palette$/ }, () => ({ path: 'palette', namespace: 'palette' }));
    builder.onLoad({ filter: /.*/, namespace: 'palette' }, () => ({ contents, loader: 'css' }));
  },
});
