/**
 * Rebuilds dist/ from .build/, the incremental output of the compiler. Copies only outputs that
 * still have a source, because the compiler never deletes stale outputs. The bundler then changes
 * the copies in place.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [cache, dist] = [join(root, '.build'), join(root, 'dist')];
const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));

/** Returns the paths below a folder, with `/` on every platform. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.replaceAll('\\', '/'),
  );

const typed = include.flatMap((folder) =>
  filesIn(join(root, folder))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`),
);
const sources = new Set(
  typed.filter((path) => !path.endsWith('.d.ts')).map((path) => path.slice(0, -'.ts'.length)),
);
const missing = [...sources].find((source) => !existsSync(join(cache, `${source}.js`)));
if (missing) {
  rmSync(cache, { recursive: true, force: true });
  process.stderr.write(`no output for ${missing}.ts: .build was removed; repeat npm run build\n`);
  process.exit(1);
}
rmSync(dist, { recursive: true, force: true });
for (const path of filesIn(cache)) {
  const [, source] = /^(.*?)(?:\.d\.ts|\.js(?:\.map)?)$/.exec(path) ?? [];
  if (sources.has(source)) cpSync(join(cache, path), join(dist, path));
}
// The compiler does not copy declarations of generated modules, which public types refer to.
for (const path of typed) {
  if (/\/bundled\/[^/]+\.d\.ts$/.test(path)) cpSync(join(root, path), join(dist, path));
}

// The table of decision rules: one per file in engine/rules/library, named after the file.
const rules = readdirSync(join(root, 'engine/rules/library')).map((file) => file.slice(0, -3));
rules.sort();
const table = join(dist, 'engine/rules/bundled');
mkdirSync(table, { recursive: true });
writeFileSync(
  join(table, 'library.js'),
  [
    ...rules.map((file, at) => `import { rule as rule${at} } from '../library/${file}.js';`),
    'export const library = {',
    ...rules.map((file, at) => `  ${file}: rule${at},`),
    '};',
    '',
  ].join('\n'),
);
// The definition of each rule in words: the comment above it, as one line per paragraph.
const definitions = rules.map((file) => {
  const text = readFileSync(join(root, 'engine/rules/library', `${file}.ts`), 'utf8');
  const before = text.slice(0, text.indexOf('\nexport const rule'));
  const [, comment] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/$/.exec(before) ?? [];
  if (comment === undefined) throw new Error(`${file}: a comment must define the rule`);
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim());
  const paragraphs = lines.join('\n').trim().split('\n\n');
  return [file, paragraphs.map((paragraph) => paragraph.replaceAll('\n', ' '))];
});
writeFileSync(
  join(table, 'definitions.js'),
  `export const definitions = ${JSON.stringify(Object.fromEntries(definitions))};\n`,
);
// The names alone, for programs that do not need the rules.
writeFileSync(join(table, 'policies.js'), `export const policies = ${JSON.stringify(rules)};\n`);
