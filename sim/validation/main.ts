/** `npm run validate`: theory beside measurement, and docs/validation.md out of it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { digits, holds, type Row, type Size, sizes, theoryText } from './case.js';
import { cases } from './cases/index.js';
import { type Validated, validationDocument } from './document.js';

const page = fileURLToPath(new URL('../../../docs/validation.md', import.meta.url));
const names = cases.map(({ name }) => name);

const program = new Command('validate')
  .usage('[options]')
  .description('holds the simulator against known answers from theory')
  .option('--case <name>', 'one case alone; give it again for more', oneOf, [])
  .addOption(new Option('--size <size>', 'how much is measured').choices(sizes).default('full'))
  .option('--write', 'write docs/validation.md: all cases, in full')
  .showHelpAfterError('(--help shows the options)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    'after',
    `
Cases: ${names.join(', ')}

Exit codes: 0 theory lies inside every interval, 1 it does not, 2 usage.

Examples:
  $ npm run validate
  $ npm run validate -- --case finality --case condorcet --size small`,
  );

function oneOf(name: string, before: string[]): string[] {
  if (names.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`the cases are ${names.join(', ')}`);
}

program.parse();
const { case: chosen, size, write } = program.opts<{ case: string[]; size: Size; write?: true }>();
const whole = size === 'full' && chosen.length === 0;
if (write && !whole) program.error('--write needs all cases, in full', { exitCode: 2 });

const validated: Validated[] = [];
for (const one of cases) {
  if (chosen.length > 0 && !chosen.includes(one.name)) continue;
  process.stdout.write(`${one.name}\n`);
  const rows = await one.rows(size);
  for (const row of rows) process.stdout.write(`${line(row)}\n`);
  validated.push({ one, rows });
}
if (write) writeFileSync(page, validationDocument(validated));
const missed = validated.flatMap(({ rows }) => rows).filter((row) => !holds(row));
if (missed.length > 0) {
  process.stderr.write(`validate: theory is outside the interval of ${missed.length} rows\n`);
  process.exitCode = 1;
}

function line(row: Row): string {
  const { what, measured, interval, from } = row;
  const within = interval ? ` (${interval.map(digits).join(' to ')})` : '';
  const mark = holds(row) ? 'ok ' : 'NO ';
  return `  ${mark} ${what}: ${digits(measured)}${within}, theory ${theoryText(row)}, ${from}`;
}
