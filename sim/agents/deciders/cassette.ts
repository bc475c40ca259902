/**
 * A cassette records a run's questions to deciders and their answers. The file contains JSON lines:
 * a header, one record per question, and an end line. Each line contains a checksum over all lines
 * up to and including itself. Lines are verified on reading and appended during a run. Records are
 * found by what the agent saw. Only offsets are kept in memory.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { canonical } from '../../../engine/protocol/canonical.js';
import { describeSystemError } from '../../../engine/protocol/messages.js';
import { digestPattern } from '../../../engine/protocol/patterns.js';
import { parseUnique } from '../../../engine/protocol/repeated-members.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { storeError } from '../../../engine/store/messages.js';
import { writeWhole } from '../../../report/folder.js';
import { occasions } from '../../scenario/schema/strategies.js';
import { CASSETTE_FILE } from './adapter.js';
import { cassetteError, type FailureReason, failureReasons } from './messages.js';
import { Answer, formatName } from './question.js';

const LONGEST_LINE_BYTES = 64 * 1_048_576;
const CHUNK_BYTES = 1_048_576;
const toDisk = promisify(fdatasync);

export type Key = Pick<Recorded, 'agent' | 'kind' | 'number' | 'decider' | 'saw'>;

interface Place {
  offset: number;
  bytes: number;
}

/** Number of calls for a question, and the tokens used by failed calls. */
export type CallCost = Pick<Recorded, 'calls' | 'unusable'>;

const keyOf = (key: Key): string => `${formatName(key)} ${key.decider} ${key.saw}`;

export class Cassette {
  readonly path: string;
  readonly header: Header;
  /** True if the end line is present, so the cassette is complete. */
  ended = false;
  /** Length in bytes of a partial last line left by a killed process. */
  torn = 0;
  #file: number | null;
  #sum: string;
  /** Offset after the last valid line. */
  #size: number;
  readonly #places = new Map<string, Place>();
  /** Last record for each question, regardless of the view. */
  readonly #latest = new Map<string, Place>();
  /** Calls for questions that have no record. */
  readonly #open = new Map<string, CallCost>();
  #syncing: Promise<void> | null = null;
  #behind = false;

  /** @internal */
  constructor(path: string, file: number, header: Header, sum: string, size: number) {
    this.path = path;
    this.header = header;
    this.#file = file;
    this.#sum = sum;
    this.#size = size;
  }

  get records(): number {
    return this.#places.size;
  }

  /** Calls without a record, because their process ended before the answer was recorded. */
  get openCalls(): number {
    return [...this.#open.values()].reduce((sum, { calls }) => sum + calls, 0);
  }

  /** Creates an empty cassette. @throws {StoreError} `UNREADABLE` */
  static create(path: string, header: Header): Cassette {
    const { line, sum } = formatLine('', header);
    writeWhole(dirname(path), basename(path), line);
    return new Cassette(path, opened(path, 'r+'), header, sum, Buffer.byteLength(line));
  }

  /**
   * Reads and verifies a cassette.
   * @param named a cassette, or a run folder that contains one.
   * @param append continue the cassette: remove a partial last line and the end line.
   * @throws {StoreError} `MISSING`, `UNREADABLE`, or `CORRUPT` with the damaged record.
   */
  static open(named: string, append = false): Cassette {
    const path = fileOf(named);
    const file = opened(path, append ? 'r+' : 'r');
    try {
      const cassette = readAll(path, file);
      if (append) {
        ftruncateSync(file, cassette.#size);
        cassette.ended = false;
        cassette.torn = 0;
      }
      return cassette;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  find(key: Key): Recorded | null {
    const place = this.#places.get(keyOf(key));
    return place ? this.#read(place) : null;
  }

  /** Returns a record for the same question with a different view or decider. */
  near(key: Key): Recorded | null {
    const place = this.#latest.get(formatName(key));
    return place ? this.#read(place) : null;
  }

  costOf(key: Key): CallCost {
    return this.#open.get(keyOf(key)) ?? { calls: 0 };
  }

  /** Takes a line of the file. Returns false if its question already has a record. */
  take(value: Recorded | CallNote, bytes: number, sum: string): boolean {
    const question = 'call' in value ? value.call : value;
    const key = keyOf(question);
    if (this.#places.has(key)) return false;
    if ('call' in value) {
      const before = this.costOf(question);
      const { unusable } = value;
      if (unusable) this.#open.set(key, { ...before, unusable: added(before.unusable, unusable) });
      else this.#open.set(key, { ...before, calls: before.calls + 1 });
    } else {
      const place = { offset: this.#size, bytes };
      this.#places.set(key, place);
      this.#latest.set(formatName(value), place);
      this.#open.delete(key);
    }
    this.#size += bytes;
    this.#sum = sum;
    return true;
  }

  /** Appends a record or a call. Resolves when it is on disk. */
  append(value: Recorded | CallNote): Promise<void> {
    const { line, sum } = formatLine(this.#sum, value);
    const bytes = Buffer.from(line);
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#file!, bytes, done, bytes.length - done, this.#size + done);
      }
    } catch (cause) {
      throw this.#unwritable(cause);
    }
    this.#behind = true;
    this.take(value, bytes.length, sum);
    return this.durable();
  }

  #unwritable(cause: unknown): Error {
    const reason = describeSystemError(cause);
    return storeError('FILE_UNWRITABLE', { path: this.path, reason }, { cause });
  }

  /** Syncs everything appended so far. Concurrent callers share a sync. */
  durable(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  async #sync(): Promise<void> {
    while (this.#behind && this.#file !== null) {
      this.#behind = false;
      try {
        await toDisk(this.#file);
      } catch (cause) {
        throw this.#unwritable(cause);
      }
    }
  }

  #read({ offset, bytes }: Place): Recorded {
    const buffer = Buffer.alloc(bytes);
    readSync(this.#file!, buffer, 0, bytes, offset);
    const { sum: _, ...record } = JSON.parse(buffer.toString()) as Recorded & { sum: string };
    return record;
  }
}

function fileOf(named: string): string {
  const isFolder = existsSync(named) && statSync(named).isDirectory();
  const path = isFolder ? join(named, CASSETTE_FILE) : named;
  if (existsSync(path)) return path;
  throw cassetteError('CASSETTE_NOT_FOUND', { path, file: CASSETTE_FILE });
}

function opened(path: string, flags: string): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (cause) {
    throw storeError('FILE_UNREADABLE', { path, reason: describeSystemError(cause) }, { cause });
  }
}

function readAll(path: string, file: number): Cassette {
  let cassette: Cassette | null = null;
  let [sum, number] = ['', 0];
  const damaged = (reason: string) => cassetteError('CASSETTE_DAMAGED', { path, reason });
  for (const { bytes, whole } of linesOf(path, file)) {
    if (cassette?.ended) throw damaged('data after its end');
    if (!whole) {
      if (!cassette) throw damaged(`expected the format ${FORMAT}`);
      cassette.torn = bytes.length;
      break;
    }
    const read = readLine(sum, bytes.toString());
    const { value } = read ?? {};
    const size = bytes.length + 1;
    if (!cassette) {
      if (!read || !value || !('format' in value)) {
        throw damaged(`expected a header of the format ${FORMAT} in its first line`);
      }
      cassette = new Cassette(path, file, value, read.sum, size);
    } else if (!read || !value) {
      throw damaged(`wrong checksum of record ${number}`);
    } else if ('view' in value) {
      if (!cassette.take(value, size, read.sum)) {
        throw damaged(`record ${number} repeats ${formatName(value)}`);
      }
    } else if ('call' in value) {
      if (!cassette.take(value, size, read.sum)) {
        throw damaged(`line ${number + 1} notes a call for an answered question`);
      }
    } else if ('end' in value && isEndOf(cassette, value.end)) cassette.ended = true;
    else throw damaged(`unexpected start or end in line ${number + 1}`);
    sum = read.sum;
    number += 1;
  }
  if (!cassette) throw damaged('empty file');
  return cassette;
}

/** The end line contains the record count. A complete cassette has no calls without a record. */
const isEndOf = ({ records, openCalls }: Cassette, end: number): boolean =>
  end === records && openCalls === 0;

function added(a: Recorded['unusable'] = {}, b: NonNullable<Recorded['unusable']>) {
  const { input_tokens: read = 0, output_tokens: wrote = 0 } = a;
  return {
    input_tokens: read + (b.input_tokens ?? 0),
    output_tokens: wrote + (b.output_tokens ?? 0),
  };
}

interface RawLine {
  bytes: Buffer;
  /** True if the line ends with a newline. */
  whole: boolean;
}

function* linesOf(path: string, fd: number): Generator<RawLine> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest: Buffer[] = [];
  let restBytes = 0;
  for (let offset = 0; ; ) {
    const bytes = readSync(fd, chunk, 0, chunk.length, offset);
    if (bytes === 0) break;
    offset += bytes;
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0 && at < bytes; at = chunk.indexOf(10, from)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(from, at)]), whole: true };
      rest = [];
      restBytes = 0;
      from = at + 1;
    }
    // Copy the remainder, because the next read overwrites the chunk.
    rest.push(Buffer.from(chunk.subarray(from, bytes)));
    restBytes += bytes - from;
    if (restBytes > LONGEST_LINE_BYTES) {
      const reason = `line longer than ${LONGEST_LINE_BYTES} bytes`;
      throw cassetteError('CASSETTE_DAMAGED', { path, reason });
    }
  }
  if (restBytes > 0) yield { bytes: Buffer.concat(rest), whole: false };
}

/** Version 2 added call lines and the member `unusable`. */
export const FORMAT = 'folkmoot-cassette-2';
const EARLIER_FORMAT = 'folkmoot-cassette-1';

const strictly = { additionalProperties: false } as const;
const Digest = Type.String({ pattern: digestPattern });
const Count = Type.Integer({ minimum: 0 });

const Header = Type.Object(
  {
    format: Type.Enum([FORMAT, EARLIER_FORMAT]),
    /** SHA-256 of the scenario's canonical JSON, without the seed and call options. */
    scenario: Digest,
    seed: Type.String(),
  },
  strictly,
);
export type Header = Static<typeof Header>;

/** Members of the lookup key. */
const key = {
  agent: Count,
  kind: Type.Enum(occasions),
  number: Count,
  /** SHA-256 of the strategy and prompts. */
  decider: Digest,
  /** SHA-256 of the canonical JSON of `view`. */
  saw: Digest,
};

/** Tokens used by failed calls. */
const Unusable = Type.Optional(Type.Object(Answer.properties.usage.properties, strictly));

const Recorded = Type.Object(
  {
    ...key,
    view: Type.Unknown(),
    /** All calls for the question, including calls by earlier processes. */
    calls: Count,
    unusable: Unusable,
    /** Present if the answer came from a cache, so that it cost nothing. */
    cached: Type.Optional(Type.Literal(true)),
    answer: Type.Optional(Type.Object(Answer.properties, strictly)),
    failure: Type.Optional(
      Type.Object(
        { reason: Type.Enum([...failureReasons] as FailureReason[]), detail: Type.String() },
        strictly,
      ),
    ),
  },
  strictly,
);
export type Recorded = Static<typeof Recorded>;

/**
 * Call line in the cassette of an unfinished run. The line is written before the call, and again
 * with `unusable` if the call used tokens but gave no usable answer.
 */
const CallNote = Type.Object({ call: Type.Object(key, strictly), unusable: Unusable }, strictly);
type CallNote = Static<typeof CallNote>;

const End = Type.Object({ end: Count }, strictly);

type Line = Header | Recorded | CallNote | Static<typeof End>;

const checkRecord = validator('cassette_record', Recorded);
const otherChecks = [
  validator('cassette_header', Header),
  validator('cassette_note', CallNote),
  validator('cassette_end', End),
];

/** Computes a checksum over the previous checksum and the line without its own checksum. */
const sumOf = (before: string, body: string): string => sha256Hex(before + body).slice(0, 32);

/** Formats a line and returns its checksum, on which the next line's checksum builds. */
export function formatLine(before: string, value: Line) {
  const body = canonical(value);
  const sum = sumOf(before, body);
  return { line: `${body.slice(0, -1)},"sum":"${sum}"}\n`, sum };
}

/** Parses a line. Returns null if the line's checksum or shape is wrong. */
function readLine(before: string, text: string): { value: Line; sum: string } | null {
  const [, open, sum] = /^(\{.*),"sum":"([0-9a-f]{32})"\}$/s.exec(text) ?? [];
  if (open === undefined || sum !== sumOf(before, `${open}}`)) return null;
  const value = lineIn(`${open}}`);
  return value && { value, sum: sum! };
}

function lineIn(body: string): Line | null {
  let value: unknown;
  try {
    value = parseUnique(body);
  } catch {
    return null;
  }
  if (otherChecks.some((check) => !check(value))) return value as Line;
  if (checkRecord(value)) return null;
  const record = value as Recorded;
  const isWhole = sha256Hex(canonical(record.view)) === record.saw;
  return isWhole && (record.answer === undefined) !== (record.failure === undefined)
    ? record
    : null;
}
