/** A command that goes on until it is stopped: what it has printed so far, and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { main } from './paths.js';

export interface Begun {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the first match in what it prints on either stream; rejects at its end. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Lets one that stands still go on, for good. */
  goOn(): void;
  /** Sends a signal, lets it go on, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const still = new URL('./runner/still.mjs', import.meta.url);

/**
 * Begins `folkmoot` with these arguments; it is killed when the test ends.
 * @param stillAt it stands still as soon as it has said this on standard error, until it is told to
 *   go on: what is done to it by then is done before its end, however slow the test is.
 */
export function begin(args: readonly string[], stillAt?: RegExp): Begun {
  const held = stillAt ? ['--import', `${still}?at=${encodeURIComponent(stillAt.source)}`] : [];
  const child = spawn(process.execPath, [...held, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', ...(stillAt ? (['pipe'] as const) : [])],
  });
  // One that is killed meanwhile takes no more.
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
