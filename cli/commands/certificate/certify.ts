/** `folkmoot certify`: writes the certificate of a decision, out of its log. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Command } from 'commander';
import { blockIn, blockInFile, blockName, blockSyntax } from '../../options/ids.js';
import { integer } from '../../options/options.js';
import { UsageError } from '../../output/exit.js';
import { canRedraw, print, redraw } from '../../output/output.js';

const position = integer({ least: 0, most: Number.MAX_SAFE_INTEGER });
const sizes = integer({ least: 0, most: 1_048_576 });

interface MakeFlags {
  through?: number;
  bridge: number;
  most: number;
  out?: string;
}

export function certifyCommand(): Command {
  return new Command('certify')
    .description(
      'write a certificate: why a block was finalized or rejected, to be checked offline',
    )
    .argument('<dir|file>', 'a kept run, a data folder, or what the command log printed')
    .argument('<block>', `a block that was finalized or rejected: ${blockSyntax}`)
    .option('--through <n>', 'carry the digest chain on to this entry', position)
    .option('--bridge <kib>', 'results of other entries that may be added', sizes, 1024)
    .option('--most <kib>', 'make no larger certificate', sizes, 16 * 1024)
    .option('--out <file>', 'file to write; default: standard output')
    .addHelpText(
      'after',
      `
The log is replayed as far as that block; nothing is taken from what was stored beside it. The
certificate holds genesis, the electorate, the signed proposal and every counted vote, and binds
them to the log by its digest chain. docs/certificates.md says what it proves.

Examples:
  $ folkmoot certify runs/7 12 --out c.json
  $ folkmoot certify folkmoot-data HASH --through 5000 > c.json`,
    )
    .action(certifyBlock);
}

async function certifyBlock(source: string, block: string, flags: MakeFlags): Promise<void> {
  const { certify, fileLines, storedLines } = await import('../../../engine/internal.js');
  const { isFolder, openForReading } = await import('../../options/folder.js');
  expectNew(flags.out);
  const options = {
    through: flags.through,
    bridgeBytes: flags.bridge * 1024,
    mostBytes: flags.most * 1024,
    onProgress: canRedraw() ? (seq: number) => redraw(`entry ${seq}`) : undefined,
  };
  const write = async (text: string) => {
    if (canRedraw()) redraw('');
    return flags.out === undefined ? print(text.trimEnd()) : writeNew(flags.out, text);
  };
  if (source === '-' || !isFolder(source)) {
    const hash = source === '-' ? wholeHash(block) : await blockInFile(source, block);
    const lines = fileLines(source === '-' ? '/dev/stdin' : source);
    return write(await certify({ ...options, block: hash, lines }));
  }
  const store = openForReading(source);
  try {
    const lines = storedLines(store, 0, store.meta()?.seq ?? -1);
    await write(await certify({ ...options, block: await blockIn(store, block), lines }));
  } finally {
    await store.close();
  }
}

/** Standard input is read once: the block must be known before. */
function wholeHash(block: string): string {
  const name = blockName(block);
  if ('hash' in name) return name.hash;
  throw new UsageError(`block ${block}: expected the whole hash, as - is read only once`);
}

/** Before any work is done. */
function expectNew(file: string | undefined): void {
  if (file === undefined) return;
  if (existsSync(file)) {
    throw new UsageError(`--out ${file} exists already; expected the name of a new file`);
  }
  if (existsSync(dirname(file))) return;
  throw new UsageError(`--out ${file}: there is no folder ${dirname(file)}; create it first`);
}

async function writeNew(file: string, text: string): Promise<void> {
  const { writeWhole } = await import('../../../report/whole-file.js');
  writeWhole(dirname(file), basename(file), text);
}
