/** docs/measures.md matches the data dictionary. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { measures, sweepTables, tables } from 'folkmoot/sim';

const page = fileURLToPath(new URL('../../docs/measures.md', import.meta.url));
const text = readFileSync(page, 'utf8');

test('docs/measures.md: names every measure, table and column', () => {
  for (const name of Object.keys(measures)) expect(text).toContain(`| \`${name}\``);
  for (const [name, columns] of Object.entries({ ...tables, ...sweepTables })) {
    const section = text.split(`## ${name}: `)[1]?.split('\n## ')[0];
    for (const column of Object.keys(columns)) expect(section, name).toContain(`| \`${column}\``);
  }
});

test('docs/measures.md: describes the rows of each table, and lists each table at the top', () => {
  expect(text).not.toContain('undefined');
  const [top] = text.split('\n## ');
  const names = Object.keys({ ...tables, ...sweepTables });
  for (const name of names) expect(top, name).toContain(`\`${name}\``);
});
