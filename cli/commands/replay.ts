/** `folkmoot replay`: recomputes a network from its log and compares everything that was stored. */
import { Command, Option } from 'commander';
import type { Divergence, ReplayResult, Store, Verifier } from '../../engine/internal.js';
import { integer } from '../options/options.js';
import { exitCodes } from '../output/exit.js';
import { canRedraw, print, printJson, redraw, say } from '../output/output.js';

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
  const { createVerifier } = await import('../../engine/internal.js');
  const verifier = flags.signatures ? createVerifier(flags.verifier) : undefined;
  try {
    const result = await compare(source, flags, verifier);
    if (canRedraw()) redraw('');
    const { records_compared: _, ...shown } = result;
    if (flags.json) printJson(shown);
    else print(...readable(result));
    process.exitCode = result.match ? exitCodes.done : exitCodes.differs;
  } finally {
    await verifier?.close();
  }
}

async function compare(source: string, flags: Flags, verifier?: Verifier): Promise<ReplayResult> {
  const { fileLines, replay, StoreError, storedLines } = await import('../../engine/internal.js');
  const { isFolder, openForReading } = await import('../options/folder.js');
  const options = {
    ...(verifier ? { verifier } : {}),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(canRedraw() ? { onProgress: (seq: number) => redraw(`entry ${seq}`) } : {}),
  };
  if (source === '-') return replay({ ...options, lines: fileLines('/dev/stdin') });
  if (!isFolder(source)) return replay({ ...options, lines: fileLines(source) });
  const stored: Store = openForReading(source, true);
  try {
    const end = stored.meta();
    if (!end) throw new StoreError('MISSING', `${source}: no network is stored here`);
    const { to } = flags;
    if (to !== undefined && to > end.seq) {
      say(`folkmoot: the log ends at entry ${end.seq}`);
    }
    const result = await replay({
      ...options,
      stored,
      end,
      lines: storedLines(stored, 0, end.seq),
    });
    if (result.match && to === undefined && !result.records_compared) {
      say('folkmoot: a writer went on meanwhile: records were not compared');
    }
    return result;
  } finally {
    await stored.close();
  }
}

function readable(result: ReplayResult): string[] {
  const { first_divergence: divergence, entries } = result;
  if (divergence) return [`differs after ${entries} matching entries`, ...described(divergence)];
  const digests = [`digest     ${result.digest}`, `log digest ${result.log_digest}`];
  return [`match: ${entries} entries`, ...digests];
}

function described({ seq, kind, what, which, expected, found }: Divergence): string[] {
  const where = `entry ${seq} (${kind}): ${what}${which === undefined ? '' : `, ${which}`}`;
  return [where, `  expected ${expected}`, `  found    ${found}`];
}
