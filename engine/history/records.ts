/**
 * A network's records after a log entry: the records at an earlier entry (the base) plus later
 * changes. Tables whose records change are held in memory. Write-once records are read from the
 * live store, limited to records that existed at the base.
 */
import {
  type Head,
  type RecordKey,
  type RecordOf,
  type Table,
  tables,
} from '../protocol/schema/record.js';
import type { KeptRecords } from '../replay/recompute.js';
import {
  compareKeys,
  keyId,
  type RangeOptions,
  type RecordChange,
  rowsWithin,
  type Store,
  withChanges,
} from '../store/store.js';

/** Tables whose records can be changed or deleted at any time. */
const whole = ['network', 'agent_states', 'standings', 'open', 'state'] as const;
/** Tables whose records change only for a while. Only records that can still change are held. */
const partly = ['alliances', 'requests'] as const;
const kept: ReadonlySet<string> = new Set([...whole, ...partly]);

interface Row {
  key: RecordKey;
  json: string;
}

/** Position whose records the live store or memory contains. */
export interface Base {
  seq: number;
  at: number;
}

export class RecordsAt implements KeptRecords {
  readonly #live: Store;
  readonly #tables = new Map<string, Map<string, Row>>();
  #base: Base & { head: Head | null };

  /** `rows` come from {@link keptRows} at this entry, and are empty before entry 0. */
  constructor(live: Store, base: Base | null, rows: Iterable<RecordChange> = []) {
    this.#live = live;
    for (const table of tables) this.#tables.set(table, new Map());
    this.#base = { seq: -1, at: -1, head: null };
    this.write(-1, rows);
    if (base) this.#base = { ...base, head: this.#head() };
  }

  get(table: string, key: RecordKey): string | undefined {
    const row = this.#rows(table).get(keyId(key));
    if (row) return row.json;
    const json = this.#before(table) ? this.#live.get(table, key) : undefined;
    return json === undefined ? undefined : this.#asOfBase(table, key, json);
  }

  *range(table: string, options: RangeOptions = {}): Generator<Row, void> {
    const own = rowsWithin(this.#rows(table).values(), options);
    const older = this.#before(table) ? this.#live.range(table, this.#clamped(table, options)) : [];
    yield* withChanges(this.#older(table, older), own, options);
  }

  /** Stores the changes made by entry `seq`. */
  write(_seq: number, changes: Iterable<RecordChange>): void {
    for (const { table, key, json } of changes) {
      const id = keyId(key);
      if (json === null) this.#rows(table).delete(id);
      else this.#rows(table).set(id, { key, json });
    }
  }

  /** Moves the base to an entry, and drops records that the live store contains. */
  rebase({ seq, at }: Base): void {
    this.#base = { seq, at, head: this.#head() };
    for (const [table, rows] of this.#tables) {
      if (!kept.has(table)) rows.clear();
      else if (table === 'alliances') this.#dropAlliances(rows);
      else if (table === 'requests') this.#dropRequests(rows);
    }
  }

  /** Yields the records for a checkpoint: those that the live store will not contain later. */
  *keptRows(): Iterable<RecordChange & { json: string }> {
    for (const table of kept) {
      for (const { key, json } of this.#rows(table).values()) yield { table, key, json };
    }
  }

  /** Drops closed alliances. Keeps those from this instant, because a later entry can share it. */
  #dropAlliances(rows: Map<string, Row>): void {
    for (const [id, { key, json }] of rows) {
      const { context } = JSON.parse(json) as RecordOf['alliances'];
      const isOpen = this.#rows('open').has(keyId(['alliance', key as string]));
      if (!isOpen && context.proposed_at < this.#base.at) rows.delete(id);
    }
  }

  /** Drops requests. Keeps those from this instant, because a later entry can share it. */
  #dropRequests(rows: Map<string, Row>): void {
    for (const [id, { json }] of rows) {
      const { at } = JSON.parse(json) as RecordOf['requests'];
      if (at < this.#base.at) rows.delete(id);
    }
  }

  #head(): Head | null {
    const json = this.#rows('network').get(keyId('head'))?.json;
    return json === undefined ? null : (JSON.parse(json) as Head);
  }

  #rows(table: string): Map<string, Row> {
    const rows = this.#tables.get(table);
    if (!rows) throw new TypeError(`there is no table ${table}`);
    return rows;
  }

  /** Returns true if a table's records are read from the live store. */
  #before(table: string): boolean {
    return this.#base.head !== null && !(whole as readonly string[]).includes(table);
  }

  /** Limits a range to keys up to the base. */
  #clamped(table: string, { from, to, reverse }: RangeOptions): RangeOptions {
    const end = this.#end(table);
    const most = end === null ? to : to === undefined || compareKeys(end, to) < 0 ? end : to;
    return {
      ...(from === undefined ? {} : { from }),
      ...(most === undefined ? {} : { to: most }),
      ...(reverse === undefined ? {} : { reverse }),
    };
  }

  /** Returns the first number beyond the base, for tables with numbers as keys. */
  #end(table: string): number | null {
    const { agents, electorates, blocks, height } = this.#base.head!;
    if (table === 'agent_numbers') return agents;
    if (table === 'electorates') return electorates;
    if (table === 'block_numbers') return blocks;
    return table === 'heights' ? height + 1 : null;
  }

  *#older(table: string, rows: Iterable<Row>): Generator<Row, void> {
    for (const { key, json } of rows) {
      const then = this.#asOfBase(table, key, json);
      if (then !== undefined) yield { key, json: then };
    }
  }

  /** Converts a live record to its state at the base. Returns undefined for a newer record. */
  #asOfBase(table: string, key: RecordKey, json: string): string | undefined {
    const end = this.#end(table);
    if (end !== null) return (key as number) < end ? json : undefined;
    return this.#isOfBase(table as Table, JSON.parse(json))
      ? this.#unclosed(table, key, json)
      : undefined;
  }

  #isOfBase(table: Table, value: unknown): boolean {
    const { seq, at, head } = this.#base;
    const of = <T extends Table>(_: T) => value as RecordOf[T];
    if (table === 'agents') return of(table).ordinal < head!.agents;
    if (table === 'blocks') return of(table).context.ordinal < head!.blocks;
    if (table === 'transactions') return of(table).height <= head!.height;
    if (table === 'alliances') return of(table).context.proposed_at < at;
    if (table === 'requests') return of(table).at < at;
    return of(table as 'votes' | 'equivocations' | 'memes').entry <= seq;
  }

  /** Restores the record of a block that was open at the base. */
  #unclosed(table: string, key: RecordKey, json: string): string {
    if (table !== 'blocks' || !this.#rows('open').has(keyId(['block', key as string]))) return json;
    const { context } = JSON.parse(json) as RecordOf['blocks'];
    const counts = { closed_at: 0, approve: 0, reject: 0, voted: 0, vetoed: false };
    // The order of members does not change, so the text is canonical.
    return JSON.stringify({ context: { ...context, ...counts }, state: 'voting' });
  }
}
