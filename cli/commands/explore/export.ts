/** `folkmoot explore --export`: a run and its page as one file, once its log was recomputed. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogLine, ReplayResult } from '../../../engine/internal.js';
import { damageText } from '../../output/damage.js';
import { UsageError } from '../../output/exit.js';
import { print, printJson } from '../../output/output.js';
import { showCount } from '../../output/progress.js';
import { interruption } from '../../output/signals.js';
import { packageVersion } from '../../output/version.js';
import { keptScenario } from './scenario.js';

/** Beside the report of a run, which leads into it. */
const BESIDE_REPORT = 'run.html';
/** Entries between two turns of the event loop, and looks at the progress. */
const TURN = 256;

/** @param file null: the one beside the report of a kept run. */
export async function writeExport(
  folder: string,
  file: string | null,
  { json }: { json?: boolean },
): Promise<void> {
  const path = file ?? besideReport(folder);
  if (!/\.html?$/i.test(path)) {
    throw new UsageError(`--export ${path}: expected the name of an .html file`);
  }
  if (existsSync(path)) {
    throw new UsageError(`${path} is there already; expected the name of a new file`);
  }
  if (!existsSync(dirname(path))) {
    throw new UsageError(`${dirname(path)} is not there; expected a folder for ${basename(path)}`);
  }
  const { signal, end } = interruption();
  try {
    const { entries, events, html } = await made(folder, signal);
    const { writeWhole } = await import('../../../report/whole-file.js');
    // What kept the thread busy kept signals waiting.
    await nextTurn();
    signal.throwIfAborted();
    writeWhole(dirname(path), basename(path), html);
    await renewReport(folder, path);
    const bytes = Buffer.byteLength(html);
    if (json) printJson({ event: 'exported', file: path, folder, entries, events, bytes });
    else print(`${path}: ${events} events in ${Math.ceil(bytes / 1_000)} kB; open it in a browser`);
  } catch (error) {
    if (signal.aborted) return end();
    throw error;
  }
}

function besideReport(folder: string): string {
  if (existsSync(join(folder, 'summary.json'))) return join(folder, BESIDE_REPORT);
  throw new UsageError(`${folder} is no kept run; expected --export FILE, a new .html file`);
}

async function made(folder: string, signal: AbortSignal) {
  const { KeptNetwork } = await import('../../../engine/internal.js');
  const { exported } = await import('../../../api/exported/index.js');
  const { storeFolder } = await import('../../options/folder.js');
  const proven = await recomputed(folder, signal);
  const network = KeptNetwork.open({ path: storeFolder(folder), whole: false });
  try {
    const about = { folder: basename(resolve(folder)), proven, version: packageVersion() };
    const { scenario } = await keptScenario(folder, network);
    return await exported(network, { ...about, signal, groups: scenario?.groups });
  } finally {
    await network.close();
  }
}

/** A file that is passed on cannot be recomputed where it is opened: so all of it is before. */
async function recomputed(folder: string, signal: AbortSignal) {
  const { replay, StoreError, storedLines } = await import('../../../engine/internal.js');
  const { openForReading } = await import('../../options/folder.js');
  const stored = openForReading(folder, true);
  let result: ReplayResult;
  try {
    const last = stored.meta();
    if (!last) throw new StoreError('MISSING', `${folder}: no network is stored here`);
    await assertSize(folder, last.event_seq);
    const progress = last.seq < MANY ? null : showCount(last.seq + 1, 'entries recomputed');
    const lines = inTurns(storedLines(stored, 0, last.seq), signal, (done) =>
      progress?.update(done),
    );
    result = await replay({ lines, stored, end: last }).finally(() => progress?.stop());
  } finally {
    await stored.close();
  }
  const { first_divergence: divergence, entries, digest } = result;
  if (divergence) throw new StoreError('CORRUPT', damageText(folder, divergence));
  return { entries, digest };
}

/** Fewer are recomputed before anybody looks. */
const MANY = 1_000;

async function* inTurns(
  lines: Iterable<LogLine>,
  signal: AbortSignal,
  tell: (done: number) => void,
): AsyncGenerator<LogLine> {
  let done = 0;
  for (const line of lines) {
    if (done % TURN === 0) {
      await nextTurn();
      signal.throwIfAborted();
      tell(done);
    }
    yield line;
    done += 1;
  }
  tell(done);
}

/** Before anything is recomputed. */
async function assertSize(folder: string, events: number): Promise<void> {
  const { MOST_EVENTS } = await import('../../../api/exported/index.js');
  if (events <= MOST_EVENTS) return;
  const most = `one file holds ${MOST_EVENTS} at the most`;
  throw new UsageError(`${folder} has ${events} events; ${most}: folkmoot explore shows them all`);
}

/** The report of the run finds the file, and leads into it. */
async function renewReport(folder: string, path: string): Promise<void> {
  const there = resolve(path) === resolve(folder, BESIDE_REPORT);
  if (!there || !existsSync(join(folder, 'report.html'))) return;
  const { writeRunReport } = await import('../../../sim/report/index.js');
  await writeRunReport(folder);
}
