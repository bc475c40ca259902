/**
 * Runs a task in a child process, which ends with this process or when its caller stops waiting.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PeerError, type PeerErrorCode } from './proof.js';

const program = fileURLToPath(new URL('./subprocess-child.js', import.meta.url));

/**
 * Resolves when it is done.
 * @param progress told of a check, now and then: entries so far, and of how many.
 * @throws {PeerError} as the task fails; `UNSOUND` where its process dies of the data.
 * @throws {Error} where the own folder or machine is to blame.
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
      child.on('message', (said: SubprocessMessage) => {
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

/** Copies the data of a folder, which another process goes on writing, into an empty one. */
export interface CopyTask {
  do: 'copy';
  folder: string;
  to: string;
}

/** What was copied, in a file of its own. */
export interface CopiedFiles {
  network: string;
  log: string;
  version: number;
  bytes: number;
  sha256: string;
}

/** An entry that somebody has told the digest of. */
export interface PeerDigest {
  who: string;
  seq: number;
  /** Hex. */
  digest: string;
}

/** Looks at every byte of a snapshot, and at whether all follows from its log. */
export interface CheckTask {
  do: 'check';
  folder: string;
  network: string;
  log: string;
  epoch: string;
  /** How many batches of the order it is said to have. */
  version: number;
  /** Where the log ends that it must continue. */
  own: PeerDigest;
  /** What other nodes said of themselves: of entries beyond its end it says nothing. */
  told: readonly PeerDigest[];
  /** Every signature as well. */
  signatures: boolean;
}

export type Task = CopyTask | CheckTask;

/** What the process says: how far it is, and in the end what came of it. */
export type SubprocessMessage =
  | { entries: number; of: number }
  | { done: CopiedFiles | null }
  | { failed: PeerErrorCode | null; message: string };
