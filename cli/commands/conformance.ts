import { createReadStream, existsSync } from 'node:fs';
import type { Comparison } from '../../sim/index.js';
import { CliCommand } from '../options/options.js';
import { exitCodes, UsageError } from '../output/exit.js';
import { io, setExitCode } from '../output/io.js';
import { printJson, writeStdout } from '../output/output.js';
import { showCount } from '../output/progress.js';

interface Flags {
  out?: string;
  only?: string[];
  check?: string;
  against?: string;
  partial?: boolean;
  list?: boolean;
  json?: boolean;
}

export function conformanceCommand(): CliCommand {
  return new CliCommand('conformance')
    .description('write test vectors, or check another implementation')
    .option('--out <dir>', 'new folder to write the suite to')
    .option('--only <names>', 'comma-separated list of cases', (text) => text.split(','))
    .option('--check <file>', 'NDJSON file of results to check, or - for stdin')
    .option('--against <dir>', 'suite to check the results against')
    .option('--partial', 'accept missing lines and outcomes')
    .option('--list', 'print the names of all cases')
    .option('--json', 'print one JSON object')
    .notes(`
The suite contains signed requests with their outcomes, events, records and
digests, and the log of every shipped scenario. Its bytes are the same on every
machine. README.md in the suite describes the files and the format of results.

--check exits with code 12 at the first difference.`)
    .examples(
      'conformance --out suite',
      'conformance --out suite --only life,alliances,healthy-town',
      'conformance --check results.ndjson --against suite',
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const asked = [flags.out, flags.check, flags.list].filter((flag) => flag !== undefined);
  if (asked.length !== 1) {
    const options = '--out DIR, --check FILE, --list';
    throw new UsageError('EXPECTED_ONE_OPTION', { options });
  }
  if ((flags.check === undefined) !== (flags.against === undefined)) {
    const [option, required] =
      flags.check === undefined ? ['--against', '--check FILE'] : ['--check', '--against DIR'];
    throw new UsageError('OPTION_REQUIRES', { option, required });
  }
  if (flags.list) {
    const { caseNames } = await import('../../sim/index.js');
    if (flags.json) printJson(caseNames());
    else writeStdout(...caseNames());
  } else if (flags.out !== undefined) await write(flags.out, flags);
  else await check(flags.check!, flags.against!, flags);
}

async function write(out: string, { only, json }: Flags): Promise<void> {
  const { caseNames, writeSuite } = await import('../../sim/index.js');
  const unknown = only?.find((name) => !caseNames().includes(name));
  if (unknown !== undefined) throw new UsageError('UNKNOWN_CASE', { name: unknown });
  const progress = showCount(only?.length ?? caseNames().length, 'cases');
  let done = 0;
  progress.update(done);
  const onCase = () => {
    done += 1;
    progress.update(done);
  };
  const suite = await writeSuite(out, { ...(only ? { only } : {}), onCase }).finally(() =>
    progress.stop(),
  );
  const rows = suite.cases.map(({ name, lines, digest }) => {
    return `${name.padEnd(18)} ${String(lines).padStart(6)} lines  ${digest}`;
  });
  if (json) printJson(suite);
  else writeStdout(...rows, `format and usage: ${out}/README.md`);
}

async function check(file: string, suite: string, { partial = false, json }: Flags) {
  const { checkResults } = await import('../../sim/index.js');
  if (file !== '-' && !existsSync(file)) throw new UsageError('FILE_NOT_FOUND', { path: file });
  const bytes = file === '-' ? io().stdin : createReadStream(file);
  const comparison = await checkResults(suite, bytes, { partial });
  if (json) printJson(comparison);
  else writeStdout(...readable(comparison));
  setExitCode(comparison.match ? exitCodes.done : exitCodes.differs);
}

function readable({ lines, cases, difference }: Comparison): string[] {
  const compared = `${lines} lines of ${cases} cases`;
  if (!difference) return [`match: ${compared}`];
  const { case: name, line, where, expected, found } = difference;
  return [
    `mismatch after ${compared}`,
    `${name} line ${line}${where && `: ${where}`}`,
    `  expected ${expected}`,
    `  found    ${found}`,
  ];
}
