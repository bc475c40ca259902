/** Runs the built command line in this process. */
import { Readable, Writable } from 'node:stream';
import type { SimResult } from 'folkmoot/sim';
import { run } from '../../dist/cli/run.js';
import { linesOf, type Replayed } from './runs.js';

export interface Ended {
  /** Null if a signal ended the process. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Runs `folkmoot` with these arguments until the command ends. */
export async function runCommand(args: readonly string[], input = ''): Promise<Ended> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await run({ argv: args, stdin, stdout, stderr });
  return { code, signal: null, stdout: stdout.text, stderr: stderr.text };
}

/** Output of `sim --json`. */
export type SimJson = SimResult & { version: string; commit: string | null; node: string };

/** Runs `sim --json` and expects the exit code that matches its verdict. */
export async function simJson(...args: string[]): Promise<{ json: SimJson; ended: Ended }> {
  const ended = await runCommand(['sim', '--json', ...args]);
  expect([0, 10], ended.stderr).toContain(ended.code);
  const json = JSON.parse(ended.stdout) as SimJson;
  expect(ended.code).toBe(json.verdict === 'pass' ? 0 : 10);
  return { json, ended };
}

export async function logText(folder: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(['log', folder, ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** Runs `replay --json` and expects the exit code that matches its result. */
export async function replayJson(source: string, ...args: string[]): Promise<Replayed> {
  const { code, stdout, stderr } = await runCommand(['replay', source, '--json', ...args]);
  expect(stderr).toBe('');
  const found = JSON.parse(stdout) as Replayed;
  expect(code).toBe(found.match ? 0 : 12);
  return found;
}

/** Expects a failure with one line on standard error, after `skip` other lines. */
export function expectOneLine({ code, signal, stderr }: Ended, skip = 0): void {
  expect(signal).toBe(null);
  expect(code, stderr).not.toBe(0);
  const lines = linesOf(stderr).slice(skip);
  expect(lines, stderr).toEqual([expect.stringMatching(/^folkmoot: .{10,}/)]);
}
