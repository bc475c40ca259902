/** `folkmoot certify`: writes the certificate of a decision, out of its log. */
import { Command } from 'commander';
import { integer } from '../../options/options.js';
import { canRedraw, print, redraw } from '../../output/output.js';

const position = integer({ least: 0, most: Number.MAX_SAFE_INTEGER });
const sizes = integer({ least: 0, most: 1_048_576 });

interface MakeFlags {
  through?: number;
  bridge: number;
  most: number;
}

export function certifyCommand(): Command {
  return new Command('certify')
    .description(
      'write a certificate: why a block was finalized or rejected, to be checked offline',
    )
    .argument('<dir|file>', 'a kept run, a data folder, or what the command log printed')
    .argument('<block>', 'the hash of a block that was finalized or rejected')
    .option('--through <n>', 'carry the digest chain on to this entry', position)
    .option('--bridge <kib>', 'results of other entries that may be added', sizes, 1024)
    .option('--most <kib>', 'make no larger certificate', sizes, 16 * 1024)
    .addHelpText(
      'after',
      `
The log is replayed as far as that block; nothing is taken from what was stored beside it. The
certificate holds genesis, the electorate, the signed proposal and every counted vote, and binds
them to the log by its digest chain. docs/certificates.md says what it proves.

Examples:
  $ folkmoot certify runs/7 HASH > c.json
  $ folkmoot certify folkmoot-data HASH --through 5000 > c.json`,
    )
    .action(certifyBlock);
}

async function certifyBlock(source: string, block: string, flags: MakeFlags): Promise<void> {
  const { certify, fileLines, storedLines } = await import('../../../engine/internal.js');
  const { isFolder, openForReading } = await import('../../options/folder.js');
  const options = {
    block,
    through: flags.through,
    bridgeBytes: flags.bridge * 1024,
    mostBytes: flags.most * 1024,
    onProgress: canRedraw() ? (seq: number) => redraw(`entry ${seq}`) : undefined,
  };
  const write = (text: string) => {
    if (canRedraw()) redraw('');
    print(text.trimEnd());
  };
  if (source === '-') return write(await certify({ ...options, lines: fileLines('/dev/stdin') }));
  if (!isFolder(source)) return write(await certify({ ...options, lines: fileLines(source) }));
  const store = openForReading(source);
  try {
    const lines = storedLines(store, 0, store.meta()?.seq ?? -1);
    write(await certify({ ...options, lines }));
  } finally {
    await store.close();
  }
}
