/**
 * Index of decisions.ndjson by agent. The file is read once. The index keeps three numbers per
 * line, so millions of lines fit in memory. Lines are read on demand. The file may come from an
 * untrusted source, so every line is validated.
 */
import { existsSync, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Decided, KnownDecisions } from '../api/contract/run.js';
import { describeSystemError } from '../engine/protocol/messages.js';
import { validator } from '../engine/protocol/schema/validator.js';
import { defineStoreErrors, type StoreError, storeError } from '../engine/store/messages.js';
import { DecisionLine } from './measure/decisions.js';

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

/** Lines of one agent, in file order: their blocks, and their places in bytes. */
interface AgentLines {
  blocks: number[];
  offsets: number[];
  bytes: number[];
}

type Index = ReadonlyMap<number, AgentLines>;

class KeptDecisions implements KnownDecisions {
  #lines: Promise<Index | string> | null = null;

  constructor(private readonly path: string) {}

  async blocksOf(agent: number): Promise<readonly number[] | string> {
    const lines = await this.#indexed();
    return typeof lines === 'string' ? lines : (lines.get(agent)?.blocks ?? []);
  }

  async read(agent: number, from: number, to: number): Promise<Decided[]> {
    const lines = await this.#indexed();
    const own = typeof lines === 'string' ? undefined : lines.get(agent);
    if (!own) return [];
    return this.#opened(async (file) => {
      const read: Decided[] = [];
      for (const [at, offset] of own.offsets.slice(from, to).entries()) {
        read.push(this.#decided(await textAt(file, offset, own.bytes[from + at]!)));
      }
      return read;
    });
  }

  #indexed(): Promise<Index | string> {
    // After an error, the next call retries.
    this.#lines ??= this.#opened((file) => this.#index(file)).catch((error) => {
      this.#lines = null;
      throw error;
    });
    return this.#lines;
  }

  async #index(file: FileHandle): Promise<Index | string> {
    const lines = new Map<number, AgentLines>();
    let number = 0;
    for await (const { offset, bytes, start } of linesIn(file)) {
      number += 1;
      if (number > MOST_LINES) return `${FILE} has too many lines (limit ${MOST_LINES})`;
      const [, block, agent] = head.exec(start) ?? [];
      if (block === undefined || bytes > LINE_BYTES) throw this.#damaged(`line ${number}`);
      if (agent === 'null') continue;
      const own = lines.get(Number(agent)) ?? { blocks: [], offsets: [], bytes: [] };
      lines.set(Number(agent), own);
      own.blocks.push(Number(block));
      own.offsets.push(offset);
      own.bytes.push(bytes);
    }
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
