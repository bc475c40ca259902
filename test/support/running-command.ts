/** A running command, its output so far, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { main } from './paths.js';

export interface Begun {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first match in either stream. Rejects if the command ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Unblocks the command. */
  goOn(): void;
  /** Sends a signal, unblocks the command, and waits until the command ends. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const still = new URL('./runner/still.mjs', import.meta.url);

/**
 * Starts `folkmoot` with these arguments. The command is killed at the end of the test.
 * @param stillAt blocks the command once standard error matches, so that even a slow test acts
 *   before the command ends.
 */
export function begin(args: readonly string[], stillAt?: RegExp): Begun {
  const held = stillAt ? ['--import', `${still}?at=${encodeURIComponent(stillAt.source)}`] : [];
  const child = spawn(process.execPath, [...held, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', ...(stillAt ? (['pipe'] as const) : [])],
  });
  // A killed command closes the pipe.
  child.stdio[3]?.on('error', () => {});
  const goOn = () => void (child.stdio[3] as Writable | undefined)?.end();
  onTestFinished(() => void child.kill('SIGKILL'));
  const texts = { stdout: '', stderr: '' };
  let look = () => {};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      look();
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        look = () => {
          const found = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr);
          if (found) resolve(found);
        };
        look();
        ended.then(({ code }) => reject(new Error(`ended with ${code}: ${texts.stderr}`)));
      }),
    ended,
    goOn,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      goOn();
      return ended;
    },
  };
}
