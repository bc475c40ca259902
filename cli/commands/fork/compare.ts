/** `folkmoot compare`: what two kept runs have different, and from which entry on. */
import { Command } from 'commander';
import { printed, printJson } from '../../output/output.js';

export function compareCommand(): Command {
  return new Command('compare')
    .description('say what two kept runs have different, and from which entry on')
    .argument('<a>', 'a run that sim --out or fork kept')
    .argument('<b>', 'another')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Named are the first value in which the scenarios differ, the first entry in which the logs do, whose
it is and its field, each block that ended otherwise (with approving and rejecting weight), and each
measure that differs, with b less a. Whether a difference is luck, one pair of runs cannot say:
folkmoot fork RUN --replicates.

Examples:
  $ folkmoot compare runs/7 runs/7-fork
  $ folkmoot compare runs/7 runs/8 --json | jq .measures`,
    )
    .action(run);
}

async function run(a: string, b: string, { json }: { json?: boolean }): Promise<void> {
  const { compareKept } = await import('../../../sim/compare/index.js');
  const found = await compareKept(a, b);
  if (json) return printJson(found);
  const { comparisonLines } = await import('./lines.js');
  await printed(...comparisonLines(found, [a, b]));
}
