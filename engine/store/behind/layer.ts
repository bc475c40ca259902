/** Batches that are shown and not written yet: what they hold, and the one that writes all. */
import { compareKeys, keyId } from '../keys.js';
import type { Batch, RangeOptions, RecordChange, RecordKey, StoreMeta } from '../store.js';

export type Change = RecordChange;

/** A row of the index from entries to events. */
export type IndexRow = { seq: number; bytes: Uint8Array };

export class Layer {
  readonly entries: Batch['entries'] = [];
  readonly events: Batch['events'] = [];
  readonly index: IndexRow[] = [];
  readonly #blobs = new Map<string, Uint8Array>();
  /** By table and key, each as it was changed last. */
  readonly #changes = new Map<string, Map<string, Change>>();
  /** What the last batch ends in; null before the first. */
  meta: StoreMeta | null = null;
  /** Of entries and files. */
  bytes = 0;

  take({ entries, events, changes, blobs, index = [], meta }: Batch): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.bytes += entry.bytes.length;
    }
    for (const event of events) this.events.push(event);
    for (const row of index) this.index.push(row);
    for (const change of changes) this.#changesOf(change.table).set(keyId(change.key), change);
    for (const { hash, bytes } of blobs) {
      this.#blobs.set(hash, bytes);
      this.bytes += bytes.length;
    }
    this.meta = { ...meta };
  }

  /** One batch of all that it took. */
  batch(): Batch {
    const { entries, events, index } = this;
    const changes = [...this.#changes.values()].flatMap((ofTable) => [...ofTable.values()]);
    const blobs = [...this.#blobs].map(([hash, bytes]) => ({ hash, bytes }));
    return { entries, events, changes, blobs, index, meta: this.meta! };
  }

  blob(hash: string): Uint8Array | undefined {
    return this.#blobs.get(hash);
  }

  /** The last change of a record; undefined where there was none. */
  change(table: string, key: RecordKey): Change | undefined {
    return this.#changes.get(table)?.get(keyId(key));
  }

  /** The last change of each record of a range, in any order. */
  changed(table: string, { from, to }: RangeOptions): Change[] {
    const all = [...(this.#changes.get(table)?.values() ?? [])];
    return all.filter(
      ({ key }) =>
        (from === undefined || compareKeys(key, from) >= 0) &&
        (to === undefined || compareKeys(key, to) < 0),
    );
  }

  #changesOf(table: string): Map<string, Change> {
    const known = this.#changes.get(table);
    if (known) return known;
    const made = new Map<string, Change>();
    this.#changes.set(table, made);
    return made;
  }
}
