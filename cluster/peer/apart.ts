/** Has a task done by a process of its own, which ends with this one, or when nobody waits. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PeerError } from './error.js';
import type { Copied, Said, Task } from './task.js';

const program = fileURLToPath(new URL('./apart-child.js', import.meta.url));

/**
 * Resolves when it is done.
 * @param progress told of a check, now and then: entries so far, and of how many.
 * @throws {PeerError} as the task fails; `UNSOUND` where its process dies of the data.
 * @throws {Error} where the own folder or machine is to blame.
 */
export async function doneApart(
  task: Task,
  signal: AbortSignal,
  progress: (entries: number, of: number) => void = () => {},
): Promise<Copied | null> {
  signal.throwIfAborted();
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', (said: Said) => {
        if ('entries' in said) return progress(said.entries, said.of);
        if ('done' in said) return resolve(said.done);
        const { failed, message } = said;
        reject(failed === null ? new Error(message) : new PeerError(failed, message));
      });
      child.on('error', reject);
      child.on('exit', (code, by) => {
        if (signal.aborted) return reject(signal.reason);
        const how = `the process that reads it ends with ${by ?? `code ${code}`}`;
        reject(new PeerError('UNSOUND', `the data cannot be read: ${how}`));
      });
      child.send(task);
    });
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}
