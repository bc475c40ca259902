/** `folkmoot replay`: recomputes a network from its log and compares everything that was stored. */

import { Command, Option } from 'commander';
import type { Verifier } from '../../engine/crypto/verifier.js';
import type { Divergence } from '../../engine/replay/recompute.js';
import type { ReplayResult } from '../../engine/replay/replay.js';
import type { Store } from '../../engine/store/store.js';
import { integer } from '../options/options.js';
import { assertUiServerFlags, uiServerOptions, watchOption } from '../options/ui-server.js';
import { exitCodes, interruption, UsageError } from '../output/exit.js';
import { endNow, setExitCode } from '../output/io.js';
import { canRedraw, printJson, redraw, writeStderr, writeStdout } from '../output/output.js';
import type { Flags, WatchedOptions } from './replay-page.js';

export function replayCommand(): Command {
  const command = new Command('replay')
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
    .addOption(watchOption('the folder, and where it differs,'));
  for (const option of uiServerOptions()) command.addOption(option);
  return command
    .addHelpText(
      'after',
      `
Both digest chains, every stored event and record, the index of events and all bytes of archive/ are
compared; of a printed log, the digests that its lines carry. Exit code 0 when all match, 12 with
the first difference, 13 when a file of archive/ is damaged.

With --watch a page shows the folder while its log is recomputed: how far that is, and the first
difference with its entry, actor, field, what was expected and what was found. Who has the address
that is printed, with its token, may pause it. It stays until it is stopped by SIGTERM or SIGINT.

Examples:
  $ folkmoot replay runs/7 --signatures
  $ folkmoot replay runs/7 --watch --signatures
  $ folkmoot replay run.ndjson --json`,
    )
    .action(run);
}

async function run(source: string, flags: Flags): Promise<void> {
  assertUiServerFlags(flags);
  const { createVerifier } = await import('../../engine/crypto/create-verifier.js');
  const verifier = flags.signatures ? createVerifier(flags.verifier) : undefined;
  try {
    if (flags.watch) await watched(source, flags, verifier);
    else tell(await compare(source, flags, verifier), flags);
  } finally {
    await verifier?.close();
  }
}

/** Prints what was found, and sets the exit code. */
function tell(result: ReplayResult, flags: Flags): void {
  if (canRedraw()) redraw('');
  const { records_compared: _, ...shown } = result;
  if (flags.json) printJson(shown);
  else writeStdout(...readable(result));
  setExitCode(result.match ? exitCodes.done : exitCodes.differs);
}

/** On a page, which stays until it is stopped. */
async function watched(source: string, flags: Flags, verifier?: Verifier): Promise<void> {
  const { isFolder, storeFolder } = await import('../options/folder.js');
  if (source === '-' || !isFolder(source)) {
    throw new UsageError('--watch shows a folder; a printed log has no state to show');
  }
  const { openReplayPage } = await import('./replay-page.js');
  const { signal, end: die } = interruption();
  const shown = await openReplayPage(storeFolder(source), flags, signal);
  let failure: unknown;
  try {
    tell(await shown.replay((more) => compare(source, flags, verifier, more)), flags);
    writeStderr('folkmoot: the replay is over; Ctrl+C ends the page');
  } catch (error) {
    failure = error;
    if (!signal.aborted) writeStderr(`folkmoot: ${(error as Error).message}; Ctrl+C ends the page`);
  }
  const isWhole = failure === undefined || !signal.aborted;
  if (isWhole) await aborted(signal);
  await shown.close();
  if (!isWhole) return die();
  if (failure !== undefined) throw failure;
  endNow();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function compare(
  source: string,
  flags: Flags,
  verifier?: Verifier,
  watch?: WatchedOptions,
): Promise<ReplayResult> {
  const { fileLines, storedLines } = await import('../../engine/replay/lines.js');
  const { replay } = await import('../../engine/replay/replay.js');
  const { StoreError } = await import('../../engine/store/store.js');
  const { isFolder, openForReading } = await import('../options/folder.js');
  const options = {
    ...(verifier ? { verifier } : {}),
    ...(flags.to === undefined ? {} : { to: flags.to }),
    ...(canRedraw() ? { onProgress: (seq: number) => redraw(`entry ${seq}`) } : {}),
    ...(watch?.onStep ? { onStep: watch.onStep } : {}),
  };
  if (source === '-') return replay({ ...options, lines: fileLines('/dev/stdin') });
  if (!isFolder(source)) return replay({ ...options, lines: fileLines(source) });
  const stored: Store = openForReading(source, true);
  try {
    const end = stored.meta();
    if (!end) throw new StoreError('NO_NETWORK', { path: source });
    const { to } = flags;
    if (to !== undefined && to > end.seq) {
      writeStderr(`folkmoot: the log ends at entry ${end.seq}`);
    }
    const lines = storedLines(stored, 0, end.seq);
    const result = await replay({ ...options, stored, end, lines: watch?.paced(lines) ?? lines });
    if (result.match && to === undefined && !result.records_compared) {
      writeStderr('folkmoot: a writer went on meanwhile: records were not compared');
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
