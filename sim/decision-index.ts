/**
 * Index of decisions.ndjson by agent. The file is read once. The index needs 24 bytes per line, so
 * millions of lines fit in memory. Lines are read on demand. The file may come from an untrusted
 * source, so every line is validated.
 */
import { existsSync, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Decided, KnownDecisions } from '../api/contract/run.js';
import { describeSystemError } from '../engine/protocol/messages.js';
import { validator } from '../engine/protocol/schema/validator.js';
import { defineStoreErrors, type StoreError, storeError } from '../engine/store/messages.js';
import { DecisionLine } from './measure/decisions.js';

/** Errors of a decision file. */
const decisionsError = defineStoreErrors({
  CORRUPT: {
    DECISIONS_DAMAGED: 'decision file {path} is damaged: {reason}',
  },
});

const FILE = 'decisions.ndjson';
/** Bytes per read. */
const CHUNK_BYTES = 1_048_576;
/** Maximum line length. A line contains the ids of all memes that an agent received. */
const LINE_BYTES = 1_048_576;
/** Maximum number of lines, which bounds the index's memory. */
const MOST_LINES = 5_000_000;
/** Length of the line prefix that contains the block and the agent. */
const HEAD_BYTES = 48;
const head = /^\{"block":(\d{1,9}),"agent":(\d{1,6}|null),/;
const LINE_FEED = 10;

const problemOf = validator('decision_line', DecisionLine);
const howTo = 'record them with folkmoot sim --set measure.decisions=true --out DIR';

/** Opens a run's decisions. Returns a message if the run has none. */
export function openDecisions(folder: string): KnownDecisions | string {
  const path = join(folder, FILE);
  if (!existsSync(path)) return `decisions were not recorded; ${howTo}`;
  // A link could lead anywhere, and a pipe might never end.
  return lstatSync(path).isFile() ? new KeptDecisions(path) : `not a regular file: ${path}`;
}

class KeptDecisions implements KnownDecisions {
  #lines: Promise<Lines | string> | null = null;

  constructor(private readonly path: string) {}

  async blocksOf(agent: number): Promise<readonly number[] | string> {
    const lines = await this.#indexed();
    return typeof lines === 'string' ? lines : lines.blocksOf(agent);
  }

  async read(agent: number, from: number, to: number): Promise<Decided[]> {
    const lines = await this.#indexed();
    if (typeof lines === 'string') return [];
    return this.#opened(async (file) => {
      const read: Decided[] = [];
      for (const { offset, bytes } of lines.of(agent, from, to)) {
        read.push(this.#decided(await textAt(file, offset, bytes)));
      }
      return read;
    });
  }

  #indexed(): Promise<Lines | string> {
    // After an error, the next call retries.
    this.#lines ??= this.#opened((file) => this.#index(file)).catch((error) => {
      this.#lines = null;
      throw error;
    });
    return this.#lines;
  }

  async #index(file: FileHandle): Promise<Lines | string> {
    const lines = new Lines();
    let number = 0;
    for await (const { offset, bytes, start } of linesIn(file)) {
      number += 1;
      if (number > MOST_LINES) return `${FILE} has too many lines (limit ${MOST_LINES})`;
      const [, block, agent] = head.exec(start) ?? [];
      if (block === undefined || bytes > LINE_BYTES) throw this.#damaged(`line ${number}`);
      if (agent !== 'null')
        lines.add({ block: Number(block), agent: Number(agent), offset, bytes });
    }
    lines.finish();
    return lines;
  }

  #decided(text: string): Decided {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw this.#damaged('line');
    }
    const problem = problemOf(value);
    if (problem) throw this.#damaged(`${problem.pointer} in a line`);
    const { agent: _, group: __, voted_ms: ___, warmup: ____, ...decided } = value as DecisionLine;
    return decided;
  }

  async #opened<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
    let file: FileHandle;
    try {
      file = await open(this.path);
    } catch (cause) {
      const reason = describeSystemError(cause);
      throw storeError('FILE_UNREADABLE', { path: this.path, reason }, { cause });
    }
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  #damaged(what: string): StoreError {
    return decisionsError('DECISIONS_DAMAGED', { path: this.path, reason: `invalid ${what}` });
  }
}

async function textAt(file: FileHandle, offset: number, bytes: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
  return buffer.toString('utf8', 0, bytesRead);
}

interface Line {
  offset: number;
  /** Length in bytes without the line feed. */
  bytes: number;
  /** First characters of the line. */
  start: string;
}

/** Yields each line, including text after the last line feed. */
async function* linesIn(file: FileHandle): AsyncGenerator<Line> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let start = '';
  let offset = 0;
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    const read = chunk.subarray(0, bytesRead);
    for (let from = 0; from < bytesRead; ) {
      const found = read.indexOf(LINE_FEED, from);
      const end = found < 0 ? bytesRead : found;
      start += read.toString('latin1', from, Math.min(end, from + HEAD_BYTES - start.length));
      if (found < 0) break;
      yield { offset, bytes: at + end - offset, start };
      start = '';
      offset = at + end + 1;
      from = end + 1;
    }
    at += bytesRead;
  }
  if (at > offset) yield { offset, bytes: at - offset, start };
}

interface IndexedLine {
  block: number;
  agent: number;
  /** Position and length in bytes. */
  offset: number;
  bytes: number;
}

const FIRST = 1_024;

class Lines {
  #count = 0;
  #blocks = new Uint32Array(FIRST);
  #agents = new Uint32Array(FIRST);
  #bytes = new Uint32Array(FIRST);
  #offsets = new Float64Array(FIRST);
  /** Lines sorted by agent in file order, and the first position per agent. */
  #order = new Uint32Array();
  #starts = new Uint32Array(1);

  add({ block, agent, offset, bytes }: IndexedLine): void {
    if (this.#count === this.#blocks.length) this.#grow();
    this.#blocks[this.#count] = block;
    this.#agents[this.#count] = agent;
    this.#bytes[this.#count] = bytes;
    this.#offsets[this.#count] = offset;
    this.#count += 1;
  }

  /** Completes the index. Call this after the last line. */
  finish(): void {
    const agents = this.#agents.subarray(0, this.#count);
    let most = 0;
    for (const agent of agents) most = Math.max(most, agent);
    const starts = new Uint32Array(most + 2);
    for (const agent of agents) starts[agent + 1]! += 1;
    for (let agent = 0; agent <= most; agent += 1) starts[agent + 1]! += starts[agent]!;
    const next = starts.slice();
    this.#order = new Uint32Array(this.#count);
    for (const [line, agent] of agents.entries()) {
      this.#order[next[agent]!] = line;
      next[agent]! += 1;
    }
    this.#starts = starts;
  }

  blocksOf(agent: number): number[] {
    return Array.from(this.#linesOf(agent), (line) => this.#blocks[line]!);
  }

  /** Returns an agent's lines at positions `from` (inclusive) to `to` (exclusive). */
  of(agent: number, from: number, to: number): { offset: number; bytes: number }[] {
    return Array.from(this.#linesOf(agent).subarray(from, to), (line) => ({
      offset: this.#offsets[line]!,
      bytes: this.#bytes[line]!,
    }));
  }

  #linesOf(agent: number): Uint32Array {
    const start = this.#starts[agent] ?? this.#count;
    return this.#order.subarray(start, this.#starts[agent + 1] ?? start);
  }

  #grow(): void {
    const longer = <T extends Uint32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    const length = 2 * this.#count;
    this.#blocks = longer(this.#blocks, new Uint32Array(length));
    this.#agents = longer(this.#agents, new Uint32Array(length));
    this.#bytes = longer(this.#bytes, new Uint32Array(length));
    this.#offsets = longer(this.#offsets, new Float64Array(length));
  }
}
