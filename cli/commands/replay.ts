/** Commands that read a stored log: `replay`, `log` and `check`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Verifier } from '../../engine/crypto/verifier.js';
import type { Divergence, LogLine } from '../../engine/replay/recompute.js';
import type { ReplayOptions, ReplayResult } from '../../engine/replay/replay.js';
import type { Store, StoreMeta } from '../../engine/store/store.js';
import { omitAbsent } from '../options/client.js';
import { CliCommand, expectOrdered, integer } from '../options/options.js';
import { exitCodes, isUsage, UsageError } from '../output/exit.js';
import { setExitCode } from '../output/io.js';
import {
  canRedraw,
  damageText,
  printJson,
  redraw,
  writeStderr,
  writeStdout,
  writeStdoutAsync,
} from '../output/output.js';

interface Flags {
  signatures?: boolean;
  verifier: 'pool' | 'inline' | 'reference';
  to?: number;
  json?: boolean;
}

export function replayCommand(): CliCommand {
  return new CliCommand('replay')
    .description('recompute a network from its log, and compare')
    .argument('<dir|file>', 'saved run, data folder or printed log')
    .option('--signatures', 'verify all signatures')
    .choice('--verifier <name>', 'signature verifier', ['pool', 'inline', 'reference'], 'pool')
    .option('--to <n>', 'last entry to replay', integer(0, 2 ** 53 - 1))
    .option('--json', 'print one JSON object')
    .notes(`
Compares both digest chains, all stored events and records, the event index and
all bytes of archive/. For a printed log, compares the digests of its lines.
Exits with code 12 at the first difference.`)
    .examples('replay runs/7', 'replay runs/7 --signatures', 'replay run.ndjson --json')
    .action(run);
}

async function run(source: string, flags: Flags): Promise<void> {
  const { createVerifier } = await import('../../engine/crypto/pool.js');
  const verifier = flags.signatures ? createVerifier(flags.verifier) : undefined;
  try {
    printResult(await replayAndMatch(source, flags, verifier), flags);
  } finally {
    await verifier?.close();
  }
}

/** Prints the result and sets the exit code. */
function printResult(result: ReplayResult, flags: Flags): void {
  if (canRedraw()) redraw('');
  const { records_compared: _, ...shown } = result;
  if (flags.json) printJson(shown);
  else writeStdout(...readable(result));
  setExitCode(result.match ? exitCodes.done : exitCodes.differs);
}

async function replayAndMatch(
  source: string,
  flags: Flags,
  verifier?: Verifier,
): Promise<ReplayResult> {
  const { isFolder, warnBeyondEnd } = await import('../options/folder.js');
  const { to } = flags;
  const options = {
    ...omitAbsent({ verifier, to }),
    ...(canRedraw() ? { onProgress: (seq: number) => redraw(`entry ${seq}`) } : {}),
  };
  if (source === '-' || !isFolder(source)) {
    const { fileLines } = await import('../../engine/replay/lines.js');
    const { replay } = await import('../../engine/replay/replay.js');
    const lines = fileLines(source === '-' ? '/dev/stdin' : source);
    const result = await replay({ ...options, lines });
    if (result.match) warnBeyondEnd('entry', result.entries - 1, { '--to': to });
    return result;
  }
  const result = await replayFolder(source, options, (lines, end) => {
    warnBeyondEnd('entry', end.seq, { '--to': to });
    return lines;
  });
  if (result.match && to === undefined && !result.records_compared) {
    writeStderr('folkmoot: records not compared: another process added entries');
  }
  return result;
}

/**
 * Recomputes a folder's log, and compares all stored data.
 *
 * @param through returns the lines of the log, for example in turns
 * @throws {StoreError} if the folder contains no network or cannot be opened
 */
export async function replayFolder(
  folder: string,
  options: Omit<ReplayOptions, 'lines' | 'stored' | 'end'>,
  through: (lines: Iterable<LogLine>, end: StoreMeta) => ReplayOptions['lines'],
): Promise<ReplayResult> {
  const { storedLines } = await import('../../engine/replay/lines.js');
  const { replay } = await import('../../engine/replay/replay.js');
  const { storeError } = await import('../../engine/store/messages.js');
  const { openForReading } = await import('../options/folder.js');
  const stored: Store = openForReading(folder, true);
  try {
    const end = stored.meta();
    if (!end) throw storeError('NO_NETWORK', { path: folder });
    const lines = through(storedLines(stored, 0, end.seq), end);
    return await replay({ ...options, stored, end, lines });
  } finally {
    await stored.close();
  }
}

function readable(result: ReplayResult): string[] {
  const { first_divergence: divergence, entries } = result;
  if (divergence) return [`mismatch after ${entries} matching entries`, ...described(divergence)];
  const digests = [`digest     ${result.digest}`, `log digest ${result.log_digest}`];
  return [`match: ${entries} entries`, ...digests];
}

function described({ seq, kind, what, which, expected, found }: Divergence): string[] {
  const where = `entry ${seq} (${kind}): ${what}${which === undefined ? '' : `, ${which}`}`;
  return [where, `  expected ${expected}`, `  found    ${found}`];
}

const position = integer(0, Number.MAX_SAFE_INTEGER);

export function logCommand(): CliCommand {
  return new CliCommand('log')
    .description('print the log as NDJSON')
    .argument('<dir>', 'saved run or data folder')
    .option('--from <n>', 'first entry', position, 0)
    .option('--to <n>', 'last entry', position)
    .notes(`
Each line contains one entry: {seq, at, kind, public_key, target, timestamp,
signature, body, log_digest, digest}. A meme also contains its file in base64.
See docs/protocol.md for the digests.`)
    .examples(
      'log runs/7 --from 10 --to 12',
      'log runs/7 | jq .kind',
      'log runs/7 > run.ndjson && folkmoot replay run.ndjson',
    )
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

interface CheckFlags {
  pages?: boolean;
  json?: boolean;
}

/** Output of --json. */
interface Checked {
  whole: boolean;
  /** Number of pages checked in data.mdb. */
  pages: number;
  /** Number of entries; null with --pages. */
  entries: number | null;
  digest: string | null;
  /** Description of the damage. */
  problem: string | null;
}

export function checkCommand(): CliCommand {
  return new CliCommand('check')
    .description('check a data folder or saved run for damage')
    .argument('<dir>', 'data folder or saved run, not open in a server')
    .option('--pages', 'check the page structure only')
    .option('--json', 'print one JSON object')
    .notes(`
First checks the pages of data.mdb as plain bytes: each page is used once or
free, and all keys are in order. Then a second process replays the log and
compares every entry, event, record and file, including archive/. It therefore
also reports data that crashes the reader, and segments of another network in
archive/. The folder is not changed.

Exits with code 13 if the folder is damaged. Restore it from a copy, or replay
the part that folkmoot log still prints.`)
    .examples('check folkmoot-data', 'check runs/7 --pages', 'check runs/7 --json')
    .action(runCheck);
}

async function runCheck(folder: string, flags: CheckFlags): Promise<void> {
  const checked = await check(folder, flags);
  const { whole, pages, entries, problem } = checked;
  if (flags.json) printJson(checked);
  else if (whole) {
    const replayed = entries === null ? '' : `, ${entries} entries replay to digest`;
    writeStdout(`whole: ${pages} pages${replayed} ${checked.digest ?? ''}`);
  }
  if (whole) return;
  setExitCode(exitCodes.crash);
  if (!flags.json) writeStderr(`folkmoot: ${problem}`);
}

async function check(folder: string, flags: CheckFlags): Promise<Checked> {
  if (/\.(?:ya?ml|json)$/i.test(folder)) {
    const advice = `check a scenario with folkmoot scenario check ${folder}`;
    throw new UsageError('NOT_FOUND', { kind: 'data folder', name: folder, advice });
  }
  const { checkStorePages } = await import('../../engine/store/lmdb-guards.js');
  const { StoreError } = await import('../../engine/store/messages.js');
  const { storeFolder } = await import('../options/folder.js');
  const found: Checked = { whole: false, pages: 0, entries: null, digest: null, problem: null };
  try {
    found.pages = checkStorePages(storeFolder(folder));
  } catch (error) {
    // A wrong path is a usage error, not damage.
    if (!(error instanceof StoreError) || isUsage(error)) throw error;
    return { ...found, problem: error.message };
  }
  if (flags.pages) return { ...found, whole: true };
  return { ...found, ...replayApart(folder) };
}

/** Replays in a child process, because damaged data can crash the process that reads it. */
function replayApart(folder: string): Partial<Checked> {
  const program = fileURLToPath(new URL('../main.js', import.meta.url));
  const replay = [program, 'replay', folder, '--json'];
  const ended = spawnSync(process.execPath, [...process.execArgv, ...replay], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { status, signal, stdout, stderr } = ended;
  const isDone = status === exitCodes.done || status === exitCodes.differs;
  if (!isDone) {
    const last = stderr.trim().split('\n').at(-1) ?? '';
    const text = last.replace(/^folkmoot: /, '') || `replay ended with ${signal ?? status}`;
    const problem = signal === null ? text : `${folder}: damaged: LMDB crashes when reading it`;
    return { problem: `${problem}; restore the folder from a copy` };
  }
  const result = JSON.parse(stdout) as ReplayResult;
  const { match, entries, digest, first_divergence: divergence } = result;
  if (match) return { whole: true, entries, digest };
  return { entries, digest, problem: damageText(folder, divergence!) };
}
