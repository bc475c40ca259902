/** `folkmoot conformance`: a suite for other implementations, and a look at their results. */

import { createReadStream, existsSync } from 'node:fs';
import { Command } from 'commander';
import type { Comparison } from '../../sim/index.js';
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

export function conformanceCommand(): Command {
  return new Command('conformance')
    .description(
      'write vectors and logs for another implementation, and compare what it made of them',
    )
    .option('--out <dir>', 'write the suite there: a new folder')
    .option('--only <names>', 'these cases only, with commas between', (text) => text.split(','))
    .option('--check <file>', 'compare results in NDJSON with a suite; - reads standard input')
    .option('--against <dir>', 'the suite of --check')
    .option('--partial', 'results may leave out lines and outcomes')
    .option('--list', 'print the names of all cases')
    .option('--json', 'print the suite, or {match, lines, cases, difference}, as one JSON object')
    .addHelpText(
      'after',
      `
The suite holds requests as they are signed and sent, with the outcome, events, records and digests
of each, and the log of every scenario that comes with folkmoot; the same bytes each time. Its
README.md says what is in the files and what results look like. Exit code 12: the first difference.

Examples:
  $ folkmoot conformance --out suite
  $ folkmoot conformance --out suite --only life,alliances,healthy-town
  $ my-implementation suite | folkmoot conformance --check - --against suite`,
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const asked = [flags.out, flags.check, flags.list].filter((flag) => flag !== undefined);
  if (asked.length !== 1) throw new UsageError('expected one of --out DIR, --check FILE, --list');
  if ((flags.check === undefined) !== (flags.against === undefined)) {
    throw new UsageError('--check FILE and --against DIR belong together');
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
  if (unknown !== undefined) throw new UsageError(`--only: no case ${unknown}; --list shows them`);
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
  else writeStdout(...rows, `${out}/README.md says how to use it`);
}

async function check(file: string, suite: string, { partial = false, json }: Flags) {
  const { checkResults } = await import('../../sim/index.js');
  if (file !== '-' && !existsSync(file)) throw new UsageError(`--check: ${file} does not exist`);
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
    `differs after ${compared} that match`,
    `${name} line ${line}${where && `: ${where}`}`,
    `  expected ${expected}`,
    `  found    ${found}`,
  ];
}
