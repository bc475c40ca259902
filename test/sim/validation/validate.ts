/**
 * `npm run validate [-- [-u] NAME...]`: measures cases, and prints their sections of
 * docs/validation.md. Ends with 1 if a row does not hold or the page differs, and with 2 if a name
 * is unknown. `-u` writes the sections into the page.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { full } from '../../support/counts.js';
import { holds } from './case.js';
import { cases } from './cases.js';
import { composePage, page, section } from './page.js';

const given = process.argv.slice(2);
const names = given.filter((one) => one !== '-u');
const known = cases.map(({ name }) => name);
const unknown = names.find((name) => !known.includes(name));

if (unknown === undefined) await validate();
else {
  process.stderr.write(`Unknown case: ${unknown}; expected one of ${known.join(', ')}\n`);
  process.exitCode = 2;
}

async function validate(): Promise<void> {
  const measured = new Map<string, string>();
  const failed: string[] = [];
  for (const one of cases) {
    if (names.length > 0 && !names.includes(one.name)) continue;
    const rows = await one.rows(full ? 'full' : 'small');
    measured.set(one.name, section(one, rows));
    process.stdout.write(`${measured.get(one.name)}`);
    failed.push(...rows.filter((row) => !holds(row)).map(({ what }) => `${one.name}: ${what}`));
  }
  for (const row of failed) process.stderr.write(`Does not hold: ${row}\n`);
  const differs = full && composePage(cases, measured) !== readFileSync(page, 'utf8');
  if (full && given.includes('-u')) writeFileSync(page, composePage(cases, measured));
  else if (differs) process.stderr.write('docs/validation.md differs; write it with -u\n');
  process.exitCode = failed.length > 0 || (differs && !given.includes('-u')) ? 1 : 0;
}
