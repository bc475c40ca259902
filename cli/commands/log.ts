/** `folkmoot log`: prints the log, one JSON object a line. */
import { Command } from 'commander';
import { integer } from '../options/options.js';
import { writeStderr, writeStdoutAsync } from '../output/output.js';

const position = integer({ least: 0, most: Number.MAX_SAFE_INTEGER });

export function logCommand(): Command {
  return new Command('log')
    .description('print the log of a kept run or data folder as NDJSON')
    .argument('<dir>', 'a folder that sim --out or serve --data wrote')
    .option('--from <n>', 'first entry', position, 0)
    .option('--to <n>', 'last entry', position)
    .addHelpText(
      'after',
      `
Each line is {seq, at, kind, public_key, target, timestamp, signature, body, log_digest, digest}; a
meme has its file too, in base64. docs/protocol.md says how the digests are computed.

Examples:
  $ folkmoot log runs/7 --from 10 --to 12
  $ folkmoot log runs/7 > run.ndjson && folkmoot replay run.ndjson --signatures`,
    )
    .action(printLog);
}

async function printLog(
  folder: string,
  { from, to }: { from: number; to?: number },
): Promise<void> {
  const { printLine } = await import('../../engine/replay/recompute.js');
  const { storedLines } = await import('../../engine/replay/lines.js');
  const { openForReading } = await import('../options/folder.js');
  const store = openForReading(folder);
  try {
    const end = store.meta()?.seq ?? -1;
    const last = Math.min(to ?? end, end);
    if (from > end || (to ?? 0) > end) {
      writeStderr(`folkmoot: the log ends at entry ${end}`);
    }
    for (const line of storedLines(store, from, last)) {
      await writeStdoutAsync(JSON.stringify(printLine(line)));
    }
  } finally {
    await store.close();
  }
}
