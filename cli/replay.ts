/** `folkmoot replay`: recomputes a network from its log and compares everything that was stored. */
import { Command, Option } from 'commander';
import type { Divergence, ReplayResult, Store, Verifier } from '../engine/index.js';
import { exitCodes } from './exit.js';
import { integer } from './options.js';

interface Flags {
  signatures?: boolean;
  verifier: 'pool' | 'inline' | 'reference';
  to?: number;
  json?: boolean;
}

export function replayCommand(): Command {
  return new Command('replay')
    .description('recompute a network from its log alone and compare')
    .argument('<dir|file>', 'a kept run, a data folder, or what the command log printed')
    .option('--signatures', 'verify every signature again')
    .addOption(
      new Option('--verifier <name>', 'who checks them')
        .choices(['pool', 'inline', 'reference'])
        .default('pool'),
    )
    .option('--to <n>', 'stop after this entry', integer({ least: 0, most: 2 ** 53 - 1 }))
    .option('--json', 'print {match, entries, digest, log_digest, first_divergence}')
    .addHelpText(
      'after',
      `
Both digest chains, every stored event and every stored record are compared; of a printed log, the
digests that its lines carry. Exit code 0 when all match, 12 with the first difference.

Examples:
  $ folkmoot replay runs/7 --signatures
  $ folkmoot replay run.ndjson --json`,
    )
    .action(run);
}

async function run(source: string, flags: Flags): Promise<void> {
  const { createVerifier } = await import('../engine/index.js');
  const verifier = flags.signatures ? createVerifier(flags.verifier) : undefined;
  try {
    const result = await compare(source, flags, verifier);
    process.stdout.write(`${flags.json ? JSON.stringify(result) : readable(result)}\n`);
    process.exitCode = result.match ? exitCodes.done : exitCodes.differs;
  } finally {
    await verifier?.close();
  }
}

async function compare(source: string, flags: Flags, verifier?: Verifier): Promise<ReplayResult> {
  const { fileLines, replay, StoreError, storedLines } = await import('../engine/index.js');
  const { isFile, openForReading } = await import('./folder.js');
  const options = {
    ...(verifier ? { verifier } : {}),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(process.stderr.isTTY
      ? { onProgress: (seq: number) => void process.stderr.write(`\rentry ${seq} `) }
      : {}),
  };
  if (isFile(source)) return replay({ ...options, lines: fileLines(source) });
  const stored: Store = openForReading(source);
  try {
    if (!stored.meta()) throw new StoreError('MISSING', `${source}: no network is stored here`);
    const last = stored.meta()?.seq ?? 0;
    return await replay({ ...options, stored, lines: storedLines(stored, 0, last) });
  } finally {
    await stored.close();
  }
}

function readable(result: ReplayResult): string {
  const digests = `digest     ${result.digest}\nlog digest ${result.log_digest}`;
  if (!result.first_divergence) return `match: ${result.entries} entries\n${digests}`;
  return `differs after ${result.entries} matching entries\n${describe(result.first_divergence)}`;
}

function describe({ seq, kind, what, which, expected, found }: Divergence): string {
  const where = `entry ${seq} (${kind}): ${what}${which === undefined ? '' : `, ${which}`}`;
  return `${where}\n  expected ${expected}\n  found    ${found}`;
}
