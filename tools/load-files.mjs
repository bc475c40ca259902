// Writes docs/load-result.schema.json and docs/load-result.md from the built result schema. With
// --print, writes the page to standard output.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tables } from '../dist/bench/load/histograms.js';
import { loadResultJsonSchema, meanings } from '../dist/bench/load/result.js';
import { formatMarkdownTable } from '../dist/report/shared/format.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const schema = 'docs/load-result.schema.json';
const page = 'docs/load-result.md';

const dictionary = (head, entries) =>
  formatMarkdownTable(
    [head, 'meaning'],
    entries.map(([name, text]) => [`\`${name}\``, text]),
  );

const written = `# Results of a load test

\`folkmoot load --out\` writes these files; [load-testing.md](load-testing.md) explains the figures.
The JSON Schema of \`result.json\` is [load-result.schema.json](load-result.schema.json).

## result.json

Latencies are in milliseconds and rates are per second. A member without a value is \`null\`. All
latencies have the members of \`finality\`.

${dictionary(
  'member',
  meanings().map(({ path, meaning }) => [path, meaning]),
)}

## Tables

\`seconds.csv\` has the columns of \`seconds[]\`. A cell is empty if the member is \`null\`.

${Object.entries(tables)
  .map(([name, columns]) => dictionary(name, Object.entries(columns)))
  .join('\n\n')}
`;

if (process.argv.includes('--print')) process.stdout.write(written);
else {
  writeFileSync(root + page, written);
  writeFileSync(root + schema, `${JSON.stringify(loadResultJsonSchema(), null, 2)}\n`);
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--write', schema];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
