/**
 * decisions.ndjson of a kept run, found by agent: its lines are gone through once, and a line is
 * read when it is asked for. The file may be anybody's: whatever is no line of it is refused.
 */
import { existsSync, lstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Decided, KnownDecisions } from '../../api/contract/run.js';
import { StoreError, validator } from '../../engine/internal.js';
import { DecisionLine } from '../measure/decisions/schema.js';
import { Lines } from './lines.js';

const FILE = 'decisions.ndjson';
/** Read at once. */
const CHUNK_BYTES = 1_048_576;
/** Of a line, which has the ids of all memes that an agent had received. */
const LINE_BYTES = 1_048_576;
/** Twenty bytes are kept for each. */
const MOST_LINES = 5_000_000;
/** What a line begins with, as `sim` writes it. */
const HEAD_BYTES = 48;
const head = /^\{"block":(\d{1,9}),"agent":(\d{1,6}|null),/;
const LINE_FEED = 10;

const problemOf = validator(DecisionLine);
const howTo = 'folkmoot sim --set measure.decisions=true --out DIR records it';

/** Of the run in a folder; a sentence where there are none. */
export function keptDecisions(folder: string): KnownDecisions | string {
  const path = join(folder, FILE);
  if (!existsSync(path)) return `what votes rested on was not recorded; ${howTo}`;
  // A link, or a pipe, might lead anywhere and never end.
  return lstatSync(path).isFile() ? new KeptDecisions(path) : `${path} is no regular file`;
}

export class KeptDecisions implements KnownDecisions {
  readonly #path: string;
  #lines: Promise<Lines | string> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

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
    // Whoever asks after it failed makes it anew.
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
      if (number > MOST_LINES) return `${FILE} has more than ${MOST_LINES} lines`;
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
      throw this.#damaged('one of its lines');
    }
    const problem = problemOf(value);
    if (problem) throw this.#damaged(`${problem.pointer} of a line`);
    const { agent: _, group: __, voted_ms: ___, warmup: ____, ...decided } = value as DecisionLine;
    return decided;
  }

  async #opened<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
    let file: FileHandle;
    try {
      file = await open(this.#path);
    } catch (cause) {
      const why = (cause as Error).message;
      throw new StoreError('UNREADABLE', `${this.#path}: ${why}`, { cause });
    }
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  #damaged(what: string): StoreError {
    return new StoreError('CORRUPT', `${this.#path}: ${what} is not what folkmoot sim writes`);
  }
}

async function textAt(file: FileHandle, offset: number, bytes: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
  return buffer.toString('utf8', 0, bytesRead);
}

interface Line {
  offset: number;
  /** Without its end. */
  bytes: number;
  /** Its first characters. */
  start: string;
}

/** Each line, and what follows the last end of one as another. */
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
