/** Starts processes that write to a store and can be killed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { tempFolder } from './fixture.js';

export interface Child {
  process: ChildProcess;
  lines: string[];
  /** Resolves when the process has printed this line. */
  printed(line: string): Promise<void>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Runs writer.mjs, which documents its arguments. */
export function startWriter(args: string[], env: Record<string, string> = {}): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.mjs'), ...args], {
    env: { ...process.env, ...env },
    stdio: 'pipe',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const waiting = new Map<string, () => void>();
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((part) => part !== '')) {
      lines.push(line);
      waiting.get(line)?.();
    }
  });
  const printed = (line: string) =>
    new Promise<void>((resolve, reject) => {
      if (lines.includes(line)) resolve();
      waiting.set(line, resolve);
      void ended.then(() => reject(new Error(`the child ended: ${lines.join(', ')}\n${errors}`)));
    });
  return { process: child, lines, printed, ended };
}

/** Returns a folder on a new file system, or null if this process cannot mount. */
export function smallDisk(mebibytes: number): string | null {
  const folder = tempFolder();
  const mount = ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'folkmoot-test', folder];
  if (spawnSync('mount', mount).status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  return folder;
}
