/**
 * Ends the process safely while a commit is in progress. LMDB writes in a thread that reads the
 * memory of the main thread, and Node waits for that thread at exit, for as long as the disk takes.
 * So {@link exitProcess} waits for commits in progress. On any other exit, the process is killed
 * rather than left hanging, which does not affect commits. This module imports nothing from the
 * engine, since the command line uses it before the engine is loaded.
 */
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';

const underWay = new Set<Promise<unknown>>();
let ending = false;
let guarded = false;

/** Starts and tracks a transaction. While the process exits, starts none and never resolves. */
export function trackCommit<T>(begin: () => Promise<T>): Promise<T> {
  if (ending) return new Promise(() => {});
  guard();
  const transaction = begin();
  const over = () => underWay.delete(transaction);
  underWay.add(transaction);
  transaction.then(over, over);
  return transaction;
}

/** Exits as soon as no commit is in progress. */
export function exitProcess(code: number): void {
  ending = true;
  if (underWay.size === 0) process.exit(code);
  void Promise.allSettled(underWay).then(() => process.exit(code));
}

function guard(): void {
  // A worker's exit does not end the process.
  if (guarded || !isMainThread) return;
  guarded = true;
  process.on('uncaughtExceptionMonitor', (error) => {
    // Node prints the error after the exit handlers, which kill the process.
    const unhandled = process.listenerCount('uncaughtException') === 0;
    if (underWay.size > 0 && unhandled) process.stderr.write(`Uncaught ${inspect(error)}\n`);
  });
  process.on('exit', () => {
    if (underWay.size > 0) process.kill(process.pid, 'SIGKILL');
  });
}

/*
 * Crash points are named places between durable steps at which a test can kill the process. Without
 * the environment variable `FOLKMOOT_CRASH_AT`, crash points do nothing.
 */

/** Crash points, with the state of the disk and the clients at each point. */
export const crashPoints = [
  /** The folder is locked, checked and open. Nothing has been written yet. */
  'store.opened',
  /** The batch is applied in memory but not on disk. */
  'commit.before',
  /** The batch is durable. No response has been sent. */
  'commit.after',
  /** The batch is durable and its responses have been sent. */
  'publish.after',
  /** A segment is on disk under its temporary name. */
  'archive.written',
  /** The segment has its final name but is not recorded. */
  'archive.named',
  /** The segment is recorded. LMDB still holds all of its rows. */
  'archive.recorded',
  /** Some archived rows are deleted from LMDB. */
  'archive.trimmed',
  /** A compacted copy is on disk but not yet in use. */
  'compact.copied',
  /** The copy has replaced the data. */
  'compact.swapped',
  /** Data from a different node is on disk and checked, but not yet in use. */
  'snapshot.checked',
  /** The other node's data has replaced this node's data. */
  'snapshot.swapped',
  /** Results are computed. The result file is unchanged. */
  'output.before',
] as const;

/** Name of a crash point. */
export type CrashPoint = (typeof crashPoints)[number];

const plan = parsePlan(process.env.FOLKMOOT_CRASH_AT);

/** Kills this process with SIGKILL if `FOLKMOOT_CRASH_AT` names this point. */
export function crashPoint(name: CrashPoint): void {
  if (plan === null || plan.point !== name) return;
  plan.passesLeft -= 1;
  if (plan.passesLeft === 0) process.kill(process.pid, 'SIGKILL');
}

/**
 * Parses `name` or `name:N`. Throws for an unknown name, because a test that never crashes proves
 * nothing.
 */
function parsePlan(text: string | undefined): { point: CrashPoint; passesLeft: number } | null {
  if (text === undefined || text === '') return null;
  const [name, passes = '1'] = text.split(':');
  const point = crashPoints.find((known) => known === name);
  if (point === undefined || !/^[1-9][0-9]{0,8}$/.test(passes)) {
    throw new Error(
      `invalid FOLKMOOT_CRASH_AT: ${text} (expected NAME or NAME:N, where NAME is one of: ` +
        `${crashPoints.join(', ')})`,
    );
  }
  return { point, passesLeft: Number(passes) };
}
