import { CliCommand, expectOrdered, integer } from '../options/options.js';
import { writeStdoutAsync } from '../output/output.js';

const position = integer(0, Number.MAX_SAFE_INTEGER);

export function logCommand(): CliCommand {
  return new CliCommand('log')
    .description('print the log as NDJSON')
    .argument('<dir>', 'saved run or data folder')
    .option('--from <n>', 'first entry', position, 0)
    .option('--to <n>', 'last entry', position)
    .explain({
      notes: `
Each line contains one entry: {seq, at, kind, public_key, target, timestamp,
signature, body, log_digest, digest}. A meme also contains its file in base64.
See docs/protocol.md for the digests.`,
      examples: [
        'log runs/7 --from 10 --to 12',
        'log runs/7 | jq .kind',
        'log runs/7 > run.ndjson && folkmoot replay run.ndjson',
      ],
    })
    .action(printLog);
}

async function printLog(
  folder: string,
  { from, to }: { from: number; to?: number },
): Promise<void> {
  expectOrdered(from, to);
  const { printLine } = await import('../../engine/replay/recompute.js');
  const { storedLines } = await import('../../engine/replay/lines.js');
  const { openForReading, warnBeyondEnd } = await import('../options/folder.js');
  const store = openForReading(folder);
  try {
    const end = store.meta()?.seq ?? -1;
    const last = Math.min(to ?? end, end);
    warnBeyondEnd('entry', end, { '--from': from, '--to': to });
    for (const line of storedLines(store, from, last)) {
      await writeStdoutAsync(JSON.stringify(printLine(line)));
    }
  } finally {
    await store.close();
  }
}
