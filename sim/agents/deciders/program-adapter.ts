/**
 * A decider that is a program: one process or several, each started when it is first asked, with
 * questions as lines on its standard input and answers as lines on its standard output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { parseJson } from '../../../engine/protocol/json.js';
import { ScenarioError } from '../../scenario/problem.js';
import { type DeciderAdapter, type DeciderResponse, NoAnswer, toPayload } from './adapter.js';
import { LARGEST_ANSWER_BYTES, plainLine, type Question } from './question.js';

interface Program {
  command: readonly string[];
  /** Where it is started. */
  folder: string;
  env: Readonly<Record<string, string>>;
}

interface Waiting {
  resolve(said: DeciderResponse): void;
  reject(error: unknown): void;
}

/** How long a process may take to end by itself, once its input has. */
const GRACE_MS = 2_000;

class DeciderProcess {
  readonly #program: Program;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ended: Promise<void>;
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Why it can be asked no more. */
  over: Error | null = null;

  constructor(program: Program) {
    this.#program = program;
    const [file, ...args] = program.command as [string, ...string[]];
    const { folder: cwd, env } = program;
    // Its own messages go where ours go.
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    const child = spawn(file, args, { cwd, env, stdio: [...stdio], windowsHide: true });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    child.once('error', (error) => this.#fail(this.#spawnError(error)));
    child.once('close', (code, signal) => {
      this.#fail(new NoAnswer('ended', `its process ended with ${signal ?? `code ${code}`}`));
    });
    child.stdin!.on('error', () => {});
    child.stdout!.on('error', () => {});
    child.stdout!.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout!.once('end', () => this.#fail(new NoAnswer('ended', 'it closed its output')));
  }

  get asked(): number {
    return this.#waiting.size;
  }

  ask(question: Question): Promise<DeciderResponse> {
    if (this.over) return Promise.reject(this.over);
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify(toPayload(question))}\n`);
    });
  }

  /** What it still says about the question is of no account. */
  giveUp(id: string): void {
    this.#waiting.delete(id);
  }

  /** Its input ends, and with it any program that reads lines; one that goes on is killed. */
  async close(): Promise<void> {
    this.over ??= new NoAnswer('ended', 'its process was ended');
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.kill(), GRACE_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#fail(new NoAnswer('ended', 'its process was ended'));
    this.#child.kill('SIGKILL');
  }

  /** A program that is not there is a mistake of the scenario, and nothing that passes. */
  #spawnError(cause: Error): Error {
    if (this.#child.pid !== undefined) return new NoAnswer('ended', plainLine(cause));
    const [file] = this.#program.command;
    return new ScenarioError(`decider ${file} cannot be started: ${plainLine(cause)}`, { cause });
  }

  #fail(error: Error): void {
    this.over ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.over);
    this.#waiting.clear();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(from, at)]);
      this.#rest = [];
      this.#restBytes = 0;
      from = at + 1;
      this.#take(line);
    }
    this.#rest.push(chunk.subarray(from));
    this.#restBytes += chunk.length - from;
    if (this.#restBytes > LARGEST_ANSWER_BYTES) this.#tooLong();
  }

  #tooLong(): void {
    this.#rest = [];
    this.#restBytes = 0;
    const text = `it said a line of more than ${LARGEST_ANSWER_BYTES} bytes`;
    this.#fail(new NoAnswer('too_long', text));
    this.#child.kill('SIGKILL');
  }

  #take(line: Buffer): void {
    if (line.length > LARGEST_ANSWER_BYTES) return this.#tooLong();
    const parsed = parseJson(line);
    const value = 'value' in parsed ? parsed.value : null;
    const named = typeof value === 'object' && value !== null && !Array.isArray(value);
    const { id, ...answer } = named ? (value as Record<string, unknown>) : {};
    if (typeof id === 'string') {
      // One that nobody waits for came too late, or twice.
      this.#waiting.get(id)?.resolve({ value: 'answer' in answer ? answer.answer : answer });
      this.#waiting.delete(id);
      return;
    }
    // Without an id it can be of the one question only that waits.
    const [only] = this.#waiting.keys();
    if (this.#waiting.size !== 1) return;
    const { reject } = this.#waiting.get(only!)!;
    this.#waiting.delete(only!);
    const why = 'value' in parsed ? 'it has no id' : plainLine(parsed.message);
    reject(new NoAnswer('no_json', `its line is no answer: ${why}`));
  }
}

interface ExecOptions extends Program {
  processes: number;
  atOnce: number;
}

export function createProgramAdapter({
  processes,
  atOnce,
  ...program
}: ExecOptions): DeciderAdapter {
  const running: (DeciderProcess | undefined)[] = [];
  const at = (lane: number): DeciderProcess => {
    const there = running[lane];
    if (there && !there.over) return there;
    const started = new DeciderProcess(program);
    running[lane] = started;
    return started;
  };
  return {
    lanes: processes,
    atOnce,
    async ask(question, lane, signal) {
      const process = at(lane);
      let stop = () => {};
      const given = new Promise<never>((_, reject) => {
        stop = () => reject(new NoAnswer('timeout', 'it was given up'));
        signal.addEventListener('abort', stop, { once: true });
      });
      try {
        return await Promise.race([process.ask(question), given]);
      } catch (error) {
        process.giveUp(question.id);
        // It may hang: whoever is asked next gets a new one.
        if (signal.aborted && process.asked === 0) process.kill();
        throw error;
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
    async close() {
      await Promise.all(running.map((one) => one?.close()));
    },
  };
}
