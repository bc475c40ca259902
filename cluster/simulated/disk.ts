/**
 * A disk in virtual time. It outlives the processes that open it, and holds only committed data.
 * A commit that is under way when its process is killed is then either complete or absent. At power
 * loss it is torn, which the store's transactions turn into absent.
 */

import { deserialize, serialize } from 'node:v8';
import { tables } from '../../engine/protocol/schema/record.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { storedLines } from '../../engine/replay/lines.js';
import { type HostClock, sleep } from '../../engine/store/host-clock.js';
import { createMemoryStore } from '../../engine/store/memory.js';
import { storeError } from '../../engine/store/messages.js';
import type { Batch, RecordChange, Store } from '../../engine/store/store.js';

/** Duration of a commit on a disk without faults. */
const COMMIT_MS = { least: 0.2, most: 4 } as const;

export interface SimulatedDiskOptions {
  time: HostClock;
  /** Draws a number from 0 (inclusive) to 1 (exclusive). */
  random: () => number;
}

export class SimulatedDisk {
  readonly #time: HostClock;
  readonly #random: () => number;
  #durable = createMemoryStore();
  #underWay: Batch | null = null;
  /** Last complete commit. */
  #last: Batch | null = null;
  /** Counts the processes that have opened the disk. */
  #opened = 0;
  /** Since when the disk refuses every commit for lack of space; null while it has space. */
  #fullSince: number | null = null;
  /** Additional time for a commit, up to this value. */
  slowMs = 0;

  constructor({ time, random }: SimulatedDiskOptions) {
    this.#time = time;
    this.#random = random;
  }

  /** Milliseconds for which the disk has been full; 0 if it has space. */
  get fullMs(): number {
    return this.#fullSince === null ? 0 : this.#time.monotonic() - this.#fullSince;
  }

  fill(): void {
    this.#fullSince ??= this.#time.monotonic();
  }

  empty(): void {
    this.#fullSince = null;
  }

  /** Content that a process finds when it opens the disk now. */
  get content(): Store {
    return this.#durable;
  }

  /** Opens the disk for a process with this clock. */
  open(clock: HostClock): Store {
    this.#opened += 1;
    const life = this.#opened;
    const durable = this.#durable;
    return Object.assign(Object.create(durable) as Store, {
      kind: 'lmdb' as const,
      hasRoom: () => this.#fullSince === null,
      commit: (batch: Batch) => this.#commit(batch, life, clock),
    });
  }

  /** Ends the process that has the disk open. */
  async kill(): Promise<void> {
    if (this.#underWay && this.#random() < 0.5) await this.#durable.commit(this.#underWay);
    this.loseCommit();
  }

  /** Loses the commit under way: power loss. */
  loseCommit(): void {
    this.#underWay = null;
    this.#opened += 1;
  }

  /** Replaces the content, with nothing by default. */
  replace(content: Store = createMemoryStore()): void {
    this.#durable = content;
    this.#last = null;
    this.loseCommit();
  }

  /** Flips a bit in a random record or log entry. See `#damage`. */
  flip(): Promise<string | null> {
    const table = tables[this.#below(tables.length + 1)];
    const rows = table === undefined ? [] : [...this.#durable.range(table)];
    const row = rows[this.#below(rows.length)];
    const seq = this.#below((this.#durable.meta()?.seq ?? 0) + 1);
    return this.#damage(seq, table && row && { table, key: row.key }, (bytes) => {
      bytes[this.#below(bytes.length)]! ^= 1 << this.#below(7);
    });
  }

  /**
   * Tears a page of the last commit, as a disk does that loses power and has not honoured a sync:
   * the end of a record or log entry is zeros. See `#damage`.
   */
  tear(): Promise<string | null> {
    const { changes = [], meta } = this.#last ?? {};
    const change = changes[this.#below(changes.length + 1)];
    return this.#damage(meta?.seq ?? 0, change, (bytes) =>
      bytes.fill(0, this.#below(bytes.length)),
    );
  }

  /**
   * Changes the bytes of a record, or of a log entry without one. No process has the disk open.
   * @returns what was damaged, or null if the disk is empty.
   */
  async #damage(
    seq: number,
    row: Pick<RecordChange, 'table' | 'key'> | undefined,
    change: (bytes: Uint8Array) => void,
  ): Promise<string | null> {
    const meta = this.#durable.meta();
    if (!meta) return null;
    const json = row && this.#durable.get(row.table, row.key);
    if (!row || json === undefined) {
      change(this.#durable.entry(seq)!);
      return `entry ${seq}`;
    }
    const bytes = Buffer.from(json);
    change(bytes);
    const changes = [{ ...row, json: bytes.toString() }];
    await this.#durable.commit({ entries: [], events: [], changes, blobs: [], meta });
    return `${row.table} ${JSON.stringify(row.key)}`;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  async #commit(batch: Batch, life: number, clock: HostClock): Promise<void> {
    if (this.#fullSince !== null) {
      const path = 'the simulated disk';
      throw storeError('NO_ROOM_FOR_BATCH', { path, free: 0, needed: batch.entries.length });
    }
    this.#underWay = batch;
    const { least, most } = COMMIT_MS;
    const ms = least + (most - least + this.slowMs) * this.#random();
    await sleep(this.#time, ms);
    // The process has ended meanwhile, so no caller waits.
    if (life !== this.#opened) return new Promise(() => {});
    this.#underWay = null;
    this.#last = batch;
    await this.#durable.commit(batch);
    // A stalled process learns of the commit when it continues.
    await sleep(clock, 0);
  }
}

/** Returns a store's content as bytes. */
export function bytesOf(store: Store): Buffer {
  const meta = store.meta()!;
  const content: Batch = {
    entries: [...store.entries(0, meta.seq)],
    events: [...store.events(0, meta.event_seq)],
    changes: tables.flatMap((table) =>
      [...store.range(table)].map(({ key, json }) => ({ table, key, json })),
    ),
    blobs: [...storedLines(store, 0, meta.seq)].flatMap(({ file }) =>
      file ? [{ hash: sha256Hex(file), bytes: file }] : [],
    ),
    index: [...store.index()],
    meta,
  };
  return serialize(content);
}

/** Returns the store whose content is in these bytes. */
export async function storeFrom(bytes: Buffer): Promise<Store> {
  const store = createMemoryStore();
  await store.commit(deserialize(bytes) as Batch);
  return store;
}
