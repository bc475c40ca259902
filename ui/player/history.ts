/**
 * A network's history: row batches, fetched once per page; keyframes, which are copies of
 * snapshots; the entries that closed blocks; and step targets.
 */
import {
  type Overview,
  type RowBatch,
  type RowKind,
  rowCode,
  type Snapshot,
} from '../../api/view/model.js';
import {
  applyRowBatch,
  createEmptySnapshot,
  type NetworkParameters,
} from '../../api/view/reducer.js';
import { BatchCache } from './batch-cache.js';
import { type Source, SourceRefused } from './source.js';

/** Entries per request. */
export const PAGE_ENTRIES = 50_000;
/** Initial range, in entries, when searching for a previous row. The range grows from there. */
const NEAR_ENTRIES = 1_000;
/** Rows between two keyframes. */
const KEYFRAME_ROWS = 16_384;
/** Maximum number of entries for which the page fetches the whole run after the first seek. */
const WHOLE_ENTRIES = 400_000;

interface PastOf {
  source: Source;
  /** Newest entry, and current entry. */
  last(): number;
  here(): number;
}

export class NetworkHistory {
  readonly tape = new BatchCache();
  readonly keyframes = new Keyframes();
  /** Pending requests by first entry. */
  readonly #coming = new Map<number, Promise<void>>();
  #walks = false;
  #left = false;
  /** Rows since the last keyframe. */
  #rows = 0;

  constructor(private readonly of: PastOf) {}

  /** Stops background work. */
  leave(): void {
    this.#left = true;
  }

  /**
   * Records a snapshot that is `rows` rows after the previous one. Keeps a keyframe every
   * `KEYFRAME_ROWS` rows.
   */
  pass(snapshot: Snapshot, rows = KEYFRAME_ROWS): void {
    this.#rows += rows;
    if (this.#rows < KEYFRAME_ROWS) return;
    this.keyframes.add(snapshot);
    this.#rows = 0;
  }

  /** Fetches a page of rows from an entry, unless the entry is past the newest. */
  fetch(from: number): Promise<void> {
    if (from > this.of.last()) return Promise.resolve();
    let page = this.#coming.get(from);
    if (!page) {
      page = this.#fetch(from).finally(() => this.#coming.delete(from));
      this.#coming.set(from, page);
    }
    return page;
  }

  async #fetch(from: number): Promise<void> {
    const { source, last, here } = this.of;
    const batch = await source.columns(from, Math.min(from + PAGE_ENTRIES, last()));
    if (batch.to < from) {
      throw new SourceRefused('ENTRY_NOT_FOUND', { status: 404 }, { entry: from });
    }
    this.tape.add(batch, here());
  }

  /** Finds the next entry with a row of the kind, or of any kind; null if none. */
  async next(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let looked = entry; wanted(); ) {
      const found = this.tape.next(looked, kind);
      looked = this.tape.reach(looked + 1);
      if (found !== null || looked >= this.of.last()) return found;
      await this.fetch(looked + 1);
    }
    return null;
  }

  /** Finds the previous entry with a matching row, in growing ranges; null if none. */
  async previous(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let far = NEAR_ENTRIES; wanted(); far *= 8) {
      const from = Math.max(0, entry - far);
      for (let reach = this.tape.reach(from); reach < entry - 1 && wanted(); ) {
        await this.fetch(reach + 1);
        const before = reach;
        reach = this.tape.reach(from);
        // The cache cannot hold the whole range.
        if (reach === before) return null;
      }
      const found = this.tape.previous(entry, kind);
      if (found !== null || from === 0) return found;
    }
    return null;
  }

  /** Fetches a short run in the background and keeps keyframes, so that later seeks are faster. */
  walk(from: NetworkParameters): void {
    if (this.#walks || this.of.last() > WHOLE_ENTRIES) return;
    this.#walks = true;
    const walk = {
      from,
      tape: this.tape,
      keyframes: this.keyframes,
      everyRows: KEYFRAME_ROWS,
      wants: (entry: number) => !this.#left && entry < this.of.last(),
      fetch: (entry: number) => this.fetch(entry),
    };
    // A later seek repeats the request and reports the error.
    walkThrough(walk).catch(() => {
      this.#walks = false;
    });
  }
}

const CLOSING = rowCode.block_status;

/** Entries that closed blocks: entries in the overview, and later entries. */
export class BlockClosings {
  /** Ascending. */
  #entries: number[] = [];
  /** The list is complete from this entry. */
  #from = Number.POSITIVE_INFINITY;

  /** Clears everything before a different network is loaded. */
  forget(): void {
    this.#entries = [];
    this.#from = Number.POSITIVE_INFINITY;
  }

  /** Merges an overview and keeps later entries. */
  know({ closings, closings_omitted }: Overview): void {
    const told = closings.map(({ entry }) => entry);
    const last = told.at(-1) ?? -1;
    this.#from = closings_omitted > 0 ? told[0]! : 0;
    this.#entries = [...told, ...this.#entries.filter((entry) => entry > last)];
  }

  note({ from, rows }: RowBatch): void {
    for (const [row, kind] of rows.kind.entries()) {
      const entry = from + rows.entry[row]!;
      if (kind === CLOSING && entry > (this.#entries.at(-1) ?? -1)) this.#entries.push(entry);
    }
  }

  /** Returns the next or previous entry, null if there is none, or undefined if unknown. */
  findNeighbour(entry: number, forward: boolean): number | null | undefined {
    if (forward && entry < this.#from) return undefined;
    if (forward) return this.#entries.find((one) => one > entry) ?? null;
    const found = this.#entries.findLast((one) => one < entry);
    if (found !== undefined && found >= this.#from) return found;
    return this.#from === 0 ? null : undefined;
  }
}

/** Limit on agents across all keyframes, about 200 MB. */
const KEYFRAME_AGENTS = 1_000_000;

/** Copies of snapshots, so that a seek back is a copy and a short fold. */
export class Keyframes {
  /** Ascending by entry. */
  readonly #snapshots: Snapshot[] = [];

  clear(): void {
    this.#snapshots.length = 0;
  }

  /** Keeps a copy. */
  add(snapshot: Snapshot): void {
    const place = this.#snapshots.findLastIndex(({ entry }) => entry <= snapshot.entry);
    if (this.#snapshots[place]?.entry === snapshot.entry) return;
    this.#snapshots.splice(place + 1, 0, copyOf(snapshot));
    const most = Math.max(4, Math.floor(KEYFRAME_AGENTS / Math.max(1, snapshot.agents.length)));
    // Dropping every second keyframe keeps their spacing even.
    if (this.#snapshots.length > most) {
      const left = this.#snapshots.filter((_, index) => index % 2 === 0);
      this.#snapshots.splice(0, this.#snapshots.length, ...left);
    }
  }

  /** Returns a copy of the last keyframe at or before an entry. */
  before(entry: number): Snapshot | null {
    const found = this.#snapshots.findLast((one) => one.entry <= entry);
    return found ? copyOf(found) : null;
  }

  /** Returns the entry of the last keyframe at or before an entry; -1 if there is none. */
  placeBefore(entry: number): number {
    return this.#snapshots.findLast((one) => one.entry <= entry)?.entry ?? -1;
  }
}

/** Copies everything that a fold changes in place. Ballots for closed blocks no longer change. */
const copyOf = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  agents: snapshot.agents.map((agent) => ({ ...agent })),
  blocks: snapshot.blocks.map((block) => ({
    ...block,
    ballots: block.status === 'voting' ? [...block.ballots] : block.ballots,
  })),
  alliances: [...snapshot.alliances],
  memes: [...snapshot.memes],
  said: [...snapshot.said],
  totals: { ...snapshot.totals },
});

export type StepBy = 'event' | 'entry' | 'block';

interface Step {
  by: StepBy;
  forward: boolean;
  /** Newest entry. */
  last: number;
  past: NetworkHistory;
  closings: BlockClosings;
  /** Returns false once the reader has requested something else. */
  wanted(): boolean;
}

/**
 * Finds a step's target: the next or previous event, entry or block, or else the end of the log.
 *
 * @throws {SourceRefused} and other errors from the source
 */
export async function stepFrom(from: number, step: Step): Promise<number> {
  const { by, forward, last, past, closings, wanted } = step;
  if (by === 'entry') return Math.min(last, Math.max(0, from + (forward ? 1 : -1)));
  const end = forward ? last : 0;
  const known = by === 'block' ? closings.findNeighbour(from, forward) : undefined;
  if (known !== undefined) return known ?? end;
  const kind = by === 'block' ? 'block_status' : undefined;
  const found = forward ? past.next(from, wanted, kind) : past.previous(from, wanted, kind);
  return (await found) ?? end;
}

interface Walk {
  from: NetworkParameters;
  tape: BatchCache;
  keyframes: Keyframes;
  /** Rows between two keyframes. */
  everyRows: number;
  /** Returns false to stop after an entry. */
  wants(entry: number): boolean;
  fetch(entry: number): Promise<void>;
}

/**
 * Folds a run from its first entry and keeps keyframes, so that later seeks need no requests.
 *
 * @throws {SourceRefused} and other errors from the source
 */
async function walkThrough({ from, tape, wants, fetch, ...keeping }: Walk): Promise<void> {
  const scout = createEmptySnapshot(from);
  const walked = { ...keeping, scout, rows: 0 };
  while (wants(scout.entry)) {
    const next = scout.entry + 1;
    if (tape.reach(next) < next) await fetch(next);
    // The cache cannot hold the whole run.
    if (tape.reach(next) < next) return;
    for (const batch of tape.between(next, Number.POSITIVE_INFINITY)) {
      if (batch.from > scout.entry + 1) break;
      through(walked, batch);
    }
    // Yields to messages from the page.
    await new Promise((resolve) => setTimeout(resolve));
  }
}

interface Walked extends Pick<Walk, 'keyframes' | 'everyRows'> {
  scout: Snapshot;
  rows: number;
}

/** Folds a batch in pieces, because a batch may contain a million rows. */
function through(walked: Walked, batch: RowBatch): void {
  const { scout, keyframes, everyRows } = walked;
  const rows = batch.rows.entry.length;
  const pieces = Math.max(1, Math.ceil(rows / everyRows));
  const piece = Math.ceil((batch.to - batch.from + 1) / pieces);
  while (scout.entry < batch.to) {
    applyRowBatch(scout, batch, Math.min(batch.to, scout.entry + piece));
    walked.rows += rows / pieces;
    if (walked.rows < everyRows) continue;
    keyframes.add(scout);
    walked.rows = 0;
  }
}
