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
export function noted<T>(begin: () => Promise<T>): Promise<T> {
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
