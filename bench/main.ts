/** `npm run bench`: how fast each part is on this machine, beside R, which is libsodium alone. */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Size, sizes } from './case.js';
import { cases } from './cases/index.js';
import { printResult } from './print.js';
import { bench, NOT_MEASURED } from './run.js';

interface Flags {
  case: string[];
  size: Size;
  seed: string;
  json?: string;
}

const names = cases.map(({ name }) => name);
const width = Math.max(...names.map((name) => name.length));

const program = new Command('bench')
  .usage('[options]')
  .description('measures every part of folkmoot beside R, the raw verifications of one core')
  .option('--case <name>', 'one case alone; give it again for more', oneOf, [])
  .addOption(new Option('--size <size>', 'how much is measured').choices(sizes).default('small'))
  .option('--seed <text>', 'keys follow from it', 'bench')
  .option('--json <file>', 'write the result there as well')
  .showHelpAfterError('(--help shows the options)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    'after',
    `
Cases:
${cases.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}

Without --case all are measured but ${cases
      .filter(({ byName }) => byName)
      .map(({ name }) => name)
      .join(', ')}.
Exit codes: 0 done, 1 a case could not be measured, 2 usage.

Examples:
  $ npm run bench
  $ npm run bench -- --case tiers --json tiers.json
  $ npm run bench -- --size large --json bench.json`,
  );

function oneOf(name: string, before: string[]): string[] {
  if (names.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`the cases are ${names.join(', ')}`);
}

program.parse();
const { case: chosen, size, seed, json } = program.opts<Flags>();
const result = await bench({
  cases: cases.filter(({ name, byName }) =>
    chosen.length === 0 ? !byName : chosen.includes(name),
  ),
  size,
  seed,
  progress: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(printResult(result));
if (result.cases.some(({ name }) => name === NOT_MEASURED)) process.exitCode = 1;
if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
