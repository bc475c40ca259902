/**
 * How a process ends that may have a commit under way. LMDB's writer, a thread, calls back on this
 * one; where the process exits in between, Node waits for that thread, the thread waits for this
 * one, and nothing ever ends. So {@link exitProcess} waits for what is under way; and whoever exits
 * otherwise is killed in place of hanging, which no commit minds. Knows nothing of the engine: the
 * command line uses it before that is loaded.
 */
import { inspect } from 'node:util';
import { isMainThread } from 'node:worker_threads';

const underWay = new Set<Promise<unknown>>();
let ending = false;
let guarded = false;

/** Begins a transaction, and notes it until it is over. Once the process ends, none begins. */
export function trackCommit<T>(begin: () => Promise<T>): Promise<T> {
  if (ending) return new Promise(() => {});
  guard();
  const transaction = begin();
  const over = () => underWay.delete(transaction);
  underWay.add(transaction);
  transaction.then(over, over);
  return transaction;
}

/** Ends the process: at once, or as soon as no commit is under way. */
export function exitProcess(code: number): void {
  ending = true;
  if (underWay.size === 0) process.exit(code);
  void Promise.allSettled(underWay).then(() => process.exit(code));
}

function guard(): void {
  // The end of a thread is not that of the process.
  if (guarded || !isMainThread) return;
  guarded = true;
  process.on('uncaughtExceptionMonitor', (error) => {
    // Node prints it last of all: too late here.
    const unhandled = process.listenerCount('uncaughtException') === 0;
    if (underWay.size > 0 && unhandled) process.stderr.write(`Uncaught ${inspect(error)}\n`);
  });
  process.on('exit', () => {
    if (underWay.size > 0) process.kill(process.pid, 'SIGKILL');
  });
}

/*
 * Named points between durable steps at which a test can kill the process. Without the environment
 * variable `FOLKMOOT_CRASH_AT` a point does nothing; it must never do anything but kill.
 */

/** What is durable, and what was answered, when the process dies at each point. */
export const crashPoints = [
  /** The store's folder is locked, checked and open; nothing was written in this run. */
  'store.opened',
  /** The next batch is applied in memory; nothing of it is on disk. */
  'commit.before',
  /** The batch is durable; nobody has been answered. */
  'commit.after',
  /** The batch is durable and its callers were answered. */
  'publish.after',
  /** A segment is on disk under a name that counts for nothing. */
  'archive.written',
  /** The segment has its name; the folder does not speak of it. */
  'archive.named',
  /** The segment counts; LMDB holds all that it holds too. */
  'archive.recorded',
  /** Some rows that a segment holds are deleted from LMDB. */
  'archive.trimmed',
  /** A copy of the data without free pages is on disk, and used by nobody. */
  'compact.copied',
  /** The copy has taken the place of the data. */
  'compact.swapped',
  /** Another node's data is on disk beside the own, found sound, and used by nobody. */
  'snapshot.checked',
  /** It has taken the place of the own data. */
  'snapshot.swapped',
  /** Results are computed; the file that will hold them was not touched. */
  'output.before',
] as const;

/** The name of a point at which a test can kill the process. */
export type CrashPoint = (typeof crashPoints)[number];

interface Plan {
  point: CrashPoint;
  passesLeft: number;
}

const plan = parsePlan(process.env.FOLKMOOT_CRASH_AT);

/** Kills this process with SIGKILL when it was told to die here, else returns at once. */
export function crashPoint(name: CrashPoint): void {
  if (plan === null || plan.point !== name) return;
  plan.passesLeft -= 1;
  if (plan.passesLeft === 0) process.kill(process.pid, 'SIGKILL');
}

/** `name` or `name:N`; a misspelt plan throws, since a test that never crashes proves nothing. */
function parsePlan(text: string | undefined): Plan | null {
  if (text === undefined || text === '') return null;
  const [name, passes = '1'] = text.split(':');
  const point = crashPoints.find((known) => known === name);
  if (point === undefined || !/^[1-9][0-9]{0,8}$/.test(passes)) {
    throw new Error(
      `FOLKMOOT_CRASH_AT is '${text}'; expected a name or name:N, the name one of: ` +
        crashPoints.join(', '),
    );
  }
  return { point, passesLeft: Number(passes) };
}
