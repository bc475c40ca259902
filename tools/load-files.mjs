// Writes docs/load-result.schema.json, and the dictionary in docs/load-testing.md. Requires
// `npm run build`. With --print, writes the guide to standard output.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { tables } from '../dist/bench/load/histograms.js';
import { loadResultJsonSchema, meanings } from '../dist/bench/load/result.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const schema = 'docs/load-result.schema.json';
const guide = 'docs/load-testing.md';

/** Formats an aligned Markdown table. */
function dictionary(head, entries) {
  const rows = [[head, 'meaning'], ...entries.map(([name, text]) => [`\`${name}\``, text])];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(rows[0]), rule, ...rows.slice(1).map(line)].join('\n');
}

const reference = `## 7. Every figure

Members of \`result.json\`. Latencies are in milliseconds, rates per second. An unknown value is
\`null\`. All latencies have the same members as \`finality\`.

${dictionary(
  'member',
  meanings().map(({ path, meaning }) => [path, meaning]),
)}

\`seconds.csv\` has the columns of \`seconds[]\`. A \`null\` is an empty cell. The other tables:

${Object.entries(tables)
  .map(([name, columns]) => dictionary(name, Object.entries(columns)))
  .join('\n\n')}
`;

const written = readFileSync(root + guide, 'utf8').split('## 7. ')[0] + reference;
if (process.argv.includes('--print')) process.stdout.write(written);
else {
  writeFileSync(root + guide, written);
  writeFileSync(root + schema, `${JSON.stringify(loadResultJsonSchema(), null, 2)}\n`);
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--write', schema];
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
