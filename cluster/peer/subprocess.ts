/** Runs a task in a child process. The child ends when this process ends or the caller aborts. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ExpectedSnapshot } from './check.js';
import { PeerError, type PeerProblem, type SnapshotDescription } from './proof.js';

const program = fileURLToPath(new URL('./subprocess-child.js', import.meta.url));

/**
 * Runs a task.
 * @param progress called with the number of entries checked and the total.
 * @throws {PeerError} if the task fails; `UNSOUND` if the data crashes the child.
 * @throws {Error} if this node's data folder or the machine is at fault.
 */
export async function runInSubprocess(
  task: Task,
  signal: AbortSignal,
  progress: (entries: number, of: number) => void = () => {},
): Promise<CopiedFiles | null> {
  signal.throwIfAborted();
  const child = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', (sent: SubprocessMessage) => {
        if ('entries' in sent) return progress(sent.entries, sent.of);
        if ('done' in sent) return resolve(sent.done);
        const { failed, message } = sent;
        if (failed === null) return reject(new Error(message));
        reject(new PeerError(failed.problem, failed.values as never));
      });
      child.on('error', reject);
      child.on('exit', (code, by) => {
        if (signal.aborted) return reject(signal.reason);
        reject(new PeerError('READER_DIED', { status: by ?? `code ${code}` }));
      });
      child.send(task);
    });
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** Copies a folder's data into an empty folder. The source folder stays open for writing. */
export interface CopyTask {
  do: 'copy';
  folder: string;
  to: string;
}

export type CopiedFiles = Omit<SnapshotDescription, 'protocol'>;

/** Checks every byte in a snapshot, and that the snapshot's state follows from its log. */
export interface CheckTask {
  do: 'check';
  folder: string;
  expected: ExpectedSnapshot;
  /** Verifies every signature too. */
  signatures: boolean;
}

export type Task = CopyTask | CheckTask;

/** A peer error in transit between processes. */
export interface PeerFailure {
  problem: PeerProblem;
  values: Readonly<Record<string, string | number>>;
}

export type SubprocessMessage =
  | { entries: number; of: number }
  | { done: CopiedFiles | null }
  | { failed: PeerFailure | null; message: string };
