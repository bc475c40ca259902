/** `folkmoot compare`: what two kept runs have different, from which entry on; as a page too. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { UsageError } from '../output/exit.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';

export function compareCommand(): Command {
  return new Command('compare')
    .description('say what two kept runs have different, and from which entry on')
    .argument('<a>', 'a run that sim --out or fork kept')
    .argument('<b>', 'another')
    .option('--out <file>', 'write a page of it too: charts, tallies, votes; a new .html file')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Named are the first value in which the scenarios differ, the first entry in which the logs do, whose
it is and its field, each block that ended otherwise (with approving and rejecting weight), and each
measure that differs, with b less a. Of runs with a common beginning votes that flipped are counted,
whoever cast them. Whether a difference is luck, one pair of runs cannot say:
folkmoot fork RUN --replicates.

Examples:
  $ folkmoot compare runs/7 runs/7-fork
  $ folkmoot compare runs/7 runs/7-fork --out runs/7-and-fork.html
  $ folkmoot compare runs/7 runs/8 --json | jq .measures`,
    )
    .action(run);
}

interface Flags {
  out?: string;
  json?: boolean;
}

async function run(a: string, b: string, { out, json }: Flags): Promise<void> {
  if (out !== undefined && !/\.html?$/i.test(out)) {
    throw new UsageError(`--out ${out}: expected the name of an .html file`);
  }
  if (out !== undefined && existsSync(out)) {
    throw new UsageError(`${out} is there already; expected the name of a new file`);
  }
  const { compareKept } = await import('../../sim/compare/runs.js');
  const { compareFutures } = await import('../../sim/compare/futures.js');
  const found = await compareKept(a, b);
  const futures = await compareFutures(a, b, found.first?.seq);
  if (out !== undefined) {
    const { writeComparison } = await import('../../sim/report/index.js');
    await writeComparison({ a, b, file: out, found, futures });
  }
  if (json) printJson({ ...found, futures });
  else {
    const { comparisonLines, futureLines } = await import('./comparison-text.js');
    await writeStdoutAsync(...comparisonLines(found, [a, b]), ...futureLines(found, futures));
  }
  if (out !== undefined) writeStderr(`to look at: ${out}`);
}
