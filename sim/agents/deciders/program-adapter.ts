/**
 * Decider that is a program. One or more processes are started lazily. Each process reads one
 * question per line on standard input and writes one answer per line to standard output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { parseJson } from '../../../engine/protocol/json.js';
import { type ScenarioError, scenarioError } from '../../scenario/problem.js';
import { type DeciderAdapter, type DeciderResponse, NoAnswer, toPayload } from './adapter.js';
import { LARGEST_ANSWER_BYTES, plainLine, type Question } from './question.js';

export interface Program {
  command: readonly string[];
  /** Working directory. */
  folder: string;
  env: Readonly<Record<string, string>>;
}

interface Waiting {
  resolve(said: DeciderResponse): void;
  reject(error: unknown): void;
}

/** Delay between end of input and killing the process, to let the process exit by itself. */
const GRACE_MS = 2_000;

/** Error for a program that does not exist or is not executable. */
export const cannotStart = (program: string, cause: unknown): ScenarioError =>
  scenarioError('CANNOT_START', { program, detail: plainLine(cause) }, { cause });

class DeciderProcess {
  readonly #program: Program;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ended: Promise<void>;
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Error that made the process unusable, or null. */
  over: Error | null = null;

  constructor(program: Program) {
    this.#program = program;
    const [file, ...args] = program.command as [string, ...string[]];
    const { folder: cwd, env } = program;
    // The program's stderr is passed through.
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    const child = spawn(file, args, { cwd, env, stdio: [...stdio], windowsHide: true });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    child.once('error', (error) => this.#fail(this.#spawnError(error)));
    child.once('close', (code, signal) => {
      this.#fail(new NoAnswer('PROCESS_ENDED', { detail: signal ?? `exit code ${code}` }));
    });
    child.stdin!.on('error', () => {});
    child.stdout!.on('error', () => {});
    child.stdout!.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout!.once('end', () => this.#fail(new NoAnswer('OUTPUT_CLOSED', {})));
  }

  get asked(): number {
    return this.#waiting.size;
  }

  ask(question: Question, signal: AbortSignal): Promise<DeciderResponse> {
    if (this.over) return Promise.reject(this.over);
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#child.stdin!.write(`${JSON.stringify(toPayload(question))}\n`);
      signal.addEventListener('abort', () => reject(new NoAnswer('CANCELLED', {})));
    });
  }

  /** Stops waiting for an answer to the question. A later answer is ignored. */
  giveUp(id: string): void {
    this.#waiting.delete(id);
  }

  /** Ends standard input, then kills the process after the grace period. */
  async close(): Promise<void> {
    this.over ??= new NoAnswer('PROCESS_ENDED', { detail: 'closed' });
    this.#child.stdin!.end();
    const timer = setTimeout(() => this.kill(), GRACE_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#fail(new NoAnswer('PROCESS_ENDED', { detail: 'killed' }));
    this.#child.kill('SIGKILL');
  }

  /** Creates the spawn error. A missing program is a scenario mistake, not a temporary failure. */
  #spawnError(cause: Error): Error {
    if (this.#child.pid !== undefined)
      return new NoAnswer('PROCESS_ENDED', { detail: plainLine(cause) });
    const [file] = this.#program.command;
    return cannotStart(file!, cause);
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
    this.#fail(new NoAnswer('ANSWER_TOO_LONG', { bytes: LARGEST_ANSWER_BYTES }));
    this.#child.kill('SIGKILL');
  }

  #take(line: Buffer): void {
    if (line.length > LARGEST_ANSWER_BYTES) return this.#tooLong();
    const parsed = parseJson(line);
    const value = 'value' in parsed ? parsed.value : null;
    const named = typeof value === 'object' && value !== null && !Array.isArray(value);
    const { id, ...answer } = named ? (value as Record<string, unknown>) : {};
    if (typeof id === 'string') {
      // An unknown id belongs to a late or repeated answer.
      this.#waiting.get(id)?.resolve({ value: 'answer' in answer ? answer.answer : answer });
      this.#waiting.delete(id);
      return;
    }
    // A line without an id can be attributed only if exactly one question is pending.
    const [only] = this.#waiting.keys();
    if (this.#waiting.size !== 1) return;
    const { reject } = this.#waiting.get(only!)!;
    this.#waiting.delete(only!);
    const detail = 'value' in parsed ? 'no id' : plainLine(parsed.message);
    reject(new NoAnswer('INVALID_LINE', { detail }));
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
      try {
        return await process.ask(question, signal);
      } catch (error) {
        process.giveUp(question.id);
        // The process may hang. The next question starts a new process.
        if (signal.aborted && process.asked === 0) process.kill();
        throw error;
      }
    },
    async close() {
      await Promise.all(running.map((one) => one?.close()));
    },
  };
}
