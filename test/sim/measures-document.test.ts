/** docs/measures.md matches the data dictionary. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measures, sweepTables, tables } from 'folkmoot/sim';
import { expect, test } from 'vitest';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test('docs/measures.md: equals the output of `npm run docs`', () => {
  const written = execFileSync(process.execPath, [at('../../tools/measures.mjs'), '--print']);
  expect(readFileSync(at('../../docs/measures.md'), 'utf8')).toBe(written.toString());
});

test('docs/measures.md: names every measure, table and column', () => {
  const text = readFileSync(at('../../docs/measures.md'), 'utf8');
  for (const name of Object.keys(measures)) expect(text).toContain(`| \`${name}\``);
  for (const [name, columns] of Object.entries({ ...tables, ...sweepTables })) {
    const section = text.split(`## ${name}: `)[1]?.split('\n## ')[0];
    for (const column of Object.keys(columns)) expect(section, name).toContain(`| \`${column}\``);
  }
});

test('docs/measures.md: describes the rows of each table, and lists each table at the top', () => {
  const text = readFileSync(at('../../docs/measures.md'), 'utf8');
  expect(text).not.toContain('undefined');
  const [top] = text.split('\n## ');
  const names = Object.keys({ ...tables, ...sweepTables });
  for (const name of names) expect(top, name).toContain(`\`${name}\``);
});
