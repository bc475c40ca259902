/** `npm run bench`: measures each part on this machine relative to R (libsodium alone). */

import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type BenchComparison, compareBuilds } from './against.js';
import { type BenchResult, type Size, sizes } from './case.js';
import { bench, cases, NOT_MEASURED, printComparison, printResult } from './run.js';

interface Flags {
  case: string[];
  size: Size;
  seed: string;
  json?: string;
  against?: string;
  pairs: number;
}

const names = cases.map(({ name }) => name);
const width = Math.max(...names.map((name) => name.length));

const program = new Command('bench')
  .usage('[options]')
  .description('measure the parts of folkmoot relative to R, the raw verifications of one core')
  .option('--case <name>', 'run this case only; may be repeated', oneOf, [])
  .addOption(new Option('--size <size>', 'size of the measurement').choices(sizes).default('small'))
  .option('--seed <text>', 'source of the keys', 'bench')
  .option('--json <file>', 'file to write the result to')
  .option('--against <dir>', 'checkout of another version, built, to compare with')
  .option('--pairs <n>', 'alternating pairs of runs with --against', pairsOf, 3)
  .showHelpAfterError('(see --help)')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .addHelpText(
    'after',
    `
Cases:
${cases.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')}

Exit codes: 0 done, 1 a case could not be measured, 2 usage, 3 a goal's figure fell by more than
10 % relative to --against.

Examples:
  $ npm run bench
  $ npm run bench -- --case server --json server.json
  $ npm run bench -- --size large --json bench.json
  $ npm run bench -- --case engine --against ../folkmoot-0.1.0 --pairs 5`,
  );

function oneOf(name: string, before: string[]): string[] {
  if (names.includes(name)) return [...before, name];
  throw new InvalidArgumentError(`expected one of: ${names.join(', ')}`);
}

function pairsOf(text: string): number {
  const pairs = Number(text);
  if (/^\d{1,2}$/.test(text) && pairs >= 1) return pairs;
  throw new InvalidArgumentError('expected an integer from 1 to 99');
}

program.parse();
const { case: chosen, size, seed, json, against, pairs } = program.opts<Flags>();
const measured = cases.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
const progress = (line: string) => process.stderr.write(`${line}\n`);
if (against === undefined) {
  const result = await bench({ cases: measured, size, seed, progress });
  process.stdout.write(printResult(result));
  if (result.cases.some(({ name }) => name === NOT_MEASURED)) process.exitCode = 1;
  writeResult(result);
} else {
  const names = measured.map(({ name }) => name);
  try {
    const result = await compareBuilds({
      folder: against,
      cases: names,
      size,
      seed,
      pairs,
      progress,
    });
    process.stdout.write(printComparison(result));
    if (result.not_compared.length > 0) process.exitCode = 1;
    if (result.fallen.length > 0) process.exitCode = 3;
    writeResult(result);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}

function writeResult(result: BenchResult | BenchComparison): void {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
}
