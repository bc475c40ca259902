/**
 * Passes transactions to LMDB's write thread as bytes. The thread walks the instructions in memory
 * that this module fills, writes the rows, commits and flushes, without calling back. So the
 * calling thread only copies keys and values. A second thread of JavaScript cannot write, because
 * it would open the data file again (see `lmdb-guards.ts`).
 *
 * The layout is that of lmdb 3.5.6 (`write.js`, `writer.cpp`), whose own `put` costs three times as
 * much, since it creates objects for each row. An instruction starts at a multiple of 8 bytes:
 * flags, database and length of the key (32 bits each), the key with at least 9 zeros after it, the
 * length of the value (32 bits, the last before a multiple of 8), and its address (a double).
 * A link has the flags and the address of the next instruction. Zeros end the transaction.
 */
import * as lmdb from 'lmdb';
import type { RecordKey } from '../protocol/schema/record.js';
import type { Database, Rows } from './environment.js';

/** Members of lmdb that its types omit. */
const { getBufferAddress, lmdbError } = (lmdb as unknown as { nativeAddon: NativeAddon })
  .nativeAddon;

interface NativeAddon {
  getBufferAddress(bytes: Uint8Array): number;
  lmdbError(status: number): never;
}

/** Members of an environment that lmdb's types omit. */
export interface WriteThread {
  env: {
    /** Calls `done` with 0 after the flush, or with the status of the transaction's failure. */
    startWriting(address: number, done: (status: number) => void): void;
  };
  resetReadTxn(): void;
}

/** Members of a database that lmdb's types omit. */
interface Target {
  db: { dbi: number };
  writeKey(key: RecordKey, into: Uint8Array, start: number): number;
}

const LINK = 3;
const REMOVE = 13;
const PUT = 15;
/** The key follows all keys in the database (MDB_APPEND). */
const APPEND = 0x20000;

/** Header, longest key that LMDB accepts (1,978 bytes), zeros, value, and a link. */
const INSTRUCTION_BYTES = 12 + 1_978 + 16 + 8 + 16;
/** Instructions of about 2,000 rows. */
const INSTRUCTIONS = 128 * 1024;
/** Values of about 1,000 votes. */
const VALUES = 896 * 1024;
/** Chunks that are kept for the next transaction. */
const KEPT = 4;

/** A region of memory for instructions, then values. */
class Chunk {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  readonly address: number;
  /** Offset of the next instruction, in units of 8 bytes. */
  next = 1;
  /** Offset of the next value, in bytes. */
  valueAt = INSTRUCTIONS;

  constructor(readonly valueBytes: number) {
    // The encoder of keys reads whole words.
    this.bytes = Buffer.from(new ArrayBuffer(INSTRUCTIONS + 8 * Math.ceil(valueBytes / 8)));
    this.words = new Uint32Array(this.bytes.buffer, 0, INSTRUCTIONS / 4);
    this.doubles = new Float64Array(this.bytes.buffer, 0, INSTRUCTIONS / 8);
    this.address = getBufferAddress(this.bytes);
  }

  /** Address of the first instruction. LMDB writes into the 8 bytes before the end. */
  get start(): number {
    return this.address + 8;
  }

  hasRoom(valueBytes: number): boolean {
    const isRoom = 8 * this.next + INSTRUCTION_BYTES <= INSTRUCTIONS;
    return isRoom && this.valueAt + valueBytes <= this.bytes.length;
  }

  write(flags: number, target: Target, key: RecordKey, value: Uint8Array | string): void {
    const { bytes, words, next } = this;
    const keyAt = 8 * next + 12;
    const keyEnd = target.writeKey(key, bytes, keyAt);
    words[2 * next] = flags;
    words[2 * next + 1] = target.db.dbi;
    words[2 * next + 2] = keyEnd - keyAt;
    this.next = (keyEnd + 16) >> 3;
    if (flags === REMOVE) return;
    this.doubles[this.next] = this.address + this.valueAt;
    const length = this.#copy(value);
    words[2 * this.next - 1] = length;
    this.valueAt += length;
    this.next += 1;
  }

  #copy(value: Uint8Array | string): number {
    if (typeof value === 'string') return this.bytes.write(value, this.valueAt);
    this.bytes.set(value, this.valueAt);
    return value.length;
  }

  link({ start }: Chunk): void {
    this.words[2 * this.next] = LINK;
    this.doubles[this.next + 1] = start;
    this.next += 2;
  }

  clear(): void {
    this.words.fill(0, 0, 2 * this.next + 2);
    this.next = 1;
    this.valueAt = INSTRUCTIONS;
  }
}

/** Writes the transactions of one environment, one after another. */
export class LmdbWriter implements Rows {
  /** Chunks in use, then chunks that are kept. */
  #chunks: Chunk[] = [];
  #used = 0;
  #chunk!: Chunk;

  constructor(private readonly thread: WriteThread) {}

  /**
   * Runs one transaction with the rows that `write` passes to this object. Resolves when it is
   * durable and visible to reads of this thread; rejects with lmdb's error if its outcome is
   * unknown. Must not be called again before that.
   */
  async run(write: (rows: Rows) => void): Promise<void> {
    for (const chunk of this.#chunks) chunk.clear();
    this.#chunks = this.#chunks.filter((chunk) => chunk.valueBytes === VALUES).slice(0, KEPT);
    this.#used = 0;
    this.#chunk = this.#enter(0);
    write(this);
    const status = await new Promise<number>((done) =>
      this.thread.env.startWriting(this.#chunks[0]!.start, done),
    );
    if (status !== 0) lmdbError(status);
    this.thread.resetReadTxn();
  }

  put(database: Database<unknown>, key: RecordKey, value: Uint8Array | string): void {
    this.#write(PUT, database, key, value);
  }

  append(database: Database<unknown>, key: number, value: Uint8Array | string): void {
    this.#write(PUT | APPEND, database, key, value);
  }

  remove(database: Database<unknown>, key: RecordKey): void {
    this.#write(REMOVE, database, key, '');
  }

  #write(
    flags: number,
    database: Database<unknown>,
    key: RecordKey,
    value: Uint8Array | string,
  ): void {
    // A UTF-16 unit takes at most 3 bytes in UTF-8.
    const most = typeof value === 'string' ? 3 * value.length : value.length;
    if (!this.#chunk.hasRoom(most)) {
      const next = this.#enter(most);
      this.#chunk.link(next);
      this.#chunk = next;
    }
    this.#chunk.write(flags, database as unknown as Target, key, value);
  }

  /** Returns the next chunk, which has room for a value. */
  #enter(valueBytes: number): Chunk {
    const isUsual = valueBytes <= VALUES;
    if (!isUsual || this.#used === this.#chunks.length) {
      this.#chunks.splice(this.#used, 0, new Chunk(isUsual ? VALUES : valueBytes));
    }
    this.#used += 1;
    return this.#chunks[this.#used - 1]!;
  }
}
