/** A running command, its output so far, and its end. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { main } from './paths.js';

export interface Begun {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /**
   * Resolves with the first match in either stream. Rejects if the command ends first, or prints no
   * match for a long time.
   */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Unblocks the command. */
  goOn(): void;
  /** Sends a signal, unblocks the command, and waits until the command ends. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Limit on the wait for a line. A test on a busy machine may wait for minutes. */
const PRINT_MS = 150_000;

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
        const fail = (how: string) => {
          clearTimeout(timer);
          reject(new Error(`${how}, expected ${pattern}: ${texts.stdout}\n${texts.stderr}`));
        };
        const timer = setTimeout(fail, PRINT_MS, 'no match');
        look = () => {
          const found = pattern.exec(texts.stdout) ?? pattern.exec(texts.stderr);
          if (!found) return;
          clearTimeout(timer);
          resolve(found);
        };
        look();
        ended.then(({ code }) => fail(`ended with ${code}`));
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
