import { existsSync } from 'node:fs';
import { CliCommand } from '../options/options.js';

import { UsageError } from '../output/exit.js';
import { printJson, writeStderr, writeStdoutAsync } from '../output/output.js';

export function compareCommand(): CliCommand {
  return new CliCommand('compare')
    .description('compare two saved runs: scenario, log, blocks, measures')
    .argument('<a>', 'first run, written by sim --out or fork')
    .argument('<b>', 'second run')
    .option('--out <file>', 'HTML file to write, with charts and votes')
    .option('--json', 'print one JSON object')
    .explain({
      notes: `
Prints the first difference in the scenarios and in the logs, each block with a
different outcome (approving to rejecting weight), and each measure that differs
(b minus a). If the runs share a prefix, also counts flipped votes.

One pair of runs cannot show whether a difference is significant. For that, use
folkmoot fork RUN --replicates.`,
      examples: [
        'compare runs/7 runs/7-fork',
        'compare runs/7 runs/7-fork --out comparison.html',
        'compare runs/7 runs/8 --json | jq .measures',
      ],
    })
    .action(run);
}

interface Flags {
  out?: string;
  json?: boolean;
}

async function run(a: string, b: string, { out, json }: Flags): Promise<void> {
  if (out !== undefined && !/\.html?$/i.test(out)) {
    throw new UsageError('INVALID_VALUE', {
      option: '--out',
      value: out,
      expected: 'an .html file',
    });
  }
  if (out !== undefined && existsSync(out)) throw new UsageError('FILE_EXISTS', { path: out });
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
  if (out !== undefined) writeStderr(`report: ${out}`);
}
