/**
 * The past of a network: its spans, each page of which is fetched once, the snapshots on the way,
 * the entries by which blocks closed, and where a step leads. Another network has another past.
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

/** Entries that are fetched at once. */
export const PAGE_ENTRIES = 50_000;
/** Entries in which the one before is looked for first: most have something in them. */
const NEAR_ENTRIES = 1_000;
/** Rows between two snapshots that are kept. */
const KEYFRAME_ROWS = 16_384;
/** A run of no more entries is fetched whole, once a reader begins to travel in it. */
const WHOLE_ENTRIES = 400_000;

interface PastOf {
  source: Source;
  /** The newest entry, and the one that is shown. */
  last(): number;
  here(): number;
}

export class NetworkHistory {
  readonly tape = new BatchCache();
  readonly keyframes = new Keyframes();
  readonly #of: PastOf;
  /** By their first entry. */
  readonly #coming = new Map<number, Promise<void>>();
  #walks = false;
  #left = false;
  /** Since the last snapshot that was kept. */
  #rows = 0;

  constructor(of: PastOf) {
    this.#of = of;
  }

  /** Nobody wants it any more. */
  leave(): void {
    this.#left = true;
  }

  /** A snapshot is passed, so many rows after the one before: kept now and then. */
  pass(snapshot: Snapshot, rows = KEYFRAME_ROWS): void {
    this.#rows += rows;
    if (this.#rows < KEYFRAME_ROWS) return;
    this.keyframes.add(snapshot);
    this.#rows = 0;
  }

  /** A page of spans from an entry on, or nothing where there are no more. */
  fetch(from: number): Promise<void> {
    if (from > this.#of.last()) return Promise.resolve();
    let page = this.#coming.get(from);
    if (!page) {
      page = this.#fetch(from).finally(() => this.#coming.delete(from));
      this.#coming.set(from, page);
    }
    return page;
  }

  async #fetch(from: number): Promise<void> {
    const { source, last, here } = this.#of;
    const batch = await source.columns(from, Math.min(from + PAGE_ENTRIES, last()));
    if (batch.to < from) throw new SourceRefused(404, '', `the server has no entry ${from}`);
    this.tape.add(batch, here());
  }

  /** The next entry after one in which something happened, or this kind of thing; null if none. */
  async next(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let looked = entry; wanted(); ) {
      const found = this.tape.next(looked, kind);
      looked = this.tape.reach(looked + 1);
      if (found !== null || looked >= this.#of.last()) return found;
      await this.fetch(looked + 1);
    }
    return null;
  }

  /** The one before it: looked for farther and farther away. */
  async previous(entry: number, wanted: () => boolean, kind?: RowKind): Promise<number | null> {
    for (let far = NEAR_ENTRIES; wanted(); far *= 8) {
      const from = Math.max(0, entry - far);
      for (let reach = this.tape.reach(from); reach < entry - 1 && wanted(); ) {
        await this.fetch(reach + 1);
        const before = reach;
        reach = this.tape.reach(from);
        // There is no room for all that lies between.
        if (reach === before) return null;
      }
      const found = this.tape.previous(entry, kind);
      if (found !== null || from === 0) return found;
    }
    return null;
  }

  /** All of a run that is short enough, with snapshots on the way. Only quicker with it. */
  walk(from: NetworkParameters): void {
    if (this.#walks || this.#of.last() > WHOLE_ENTRIES) return;
    this.#walks = true;
    const walk = {
      from,
      tape: this.tape,
      keyframes: this.keyframes,
      everyRows: KEYFRAME_ROWS,
      wants: (entry: number) => !this.#left && entry < this.#of.last(),
      fetch: (entry: number) => this.fetch(entry),
    };
    // Whoever seeks asks the server then, and hears what is wrong.
    walkThrough(walk).catch(() => {
      this.#walks = false;
    });
  }
}

const CLOSING = rowCode.block_status;

/** Entries by which blocks closed: those of the overview, and those that came since. */
export class BlockClosings {
  /** Ascending. */
  #entries: number[] = [];
  /** From this entry on there are no others. */
  #from = Number.POSITIVE_INFINITY;

  /** Another network has others. */
  forget(): void {
    this.#entries = [];
    this.#from = Number.POSITIVE_INFINITY;
  }

  /** It is asked for only now and then. */
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

  /** The next one, or the one before; null where there is none, undefined where it is unknown. */
  findNeighbour(entry: number, forward: boolean): number | null | undefined {
    if (forward && entry < this.#from) return undefined;
    if (forward) return this.#entries.find((one) => one > entry) ?? null;
    const found = this.#entries.findLast((one) => one < entry);
    if (found !== undefined && found >= this.#from) return found;
    return this.#from === 0 ? null : undefined;
  }
}

/** Agents of all snapshots that are kept: some two hundred megabytes at the most. */
const KEYFRAME_AGENTS = 1_000_000;

/** Pictures that were passed, so that going back is a copy and a short fold. */
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
    // Every second one goes: seeking takes longer, but anywhere alike.
    if (this.#snapshots.length > most) {
      const left = this.#snapshots.filter((_, index) => index % 2 === 0);
      this.#snapshots.splice(0, this.#snapshots.length, ...left);
    }
  }

  /** A copy of the last one that is no later than an entry. */
  before(entry: number): Snapshot | null {
    const found = this.#snapshots.findLast((one) => one.entry <= entry);
    return found ? copyOf(found) : null;
  }

  /** Where the last one before an entry stands; -1 where there is none. */
  placeBefore(entry: number): number {
    return this.#snapshots.findLast((one) => one.entry <= entry)?.entry ?? -1;
  }
}

/** Whatever a fold changes in place is copied; the ballots of closed blocks change no more. */
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
  /** The newest entry. */
  last: number;
  past: NetworkHistory;
  closings: BlockClosings;
  /** Whether the reader still wants it: looking for it may take a while. */
  wanted(): boolean;
}

/**
 * Where a step leads: to another event, entry or block, or to the end where there is none.
 *
 * @throws what fetching throws
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
  /** Of which network. */
  from: NetworkParameters;
  tape: BatchCache;
  keyframes: Keyframes;
  /** Rows between two snapshots that are kept. */
  everyRows: number;
  /** Whether to go on after an entry. */
  wants(entry: number): boolean;
  /** Brings the spans from an entry on. */
  fetch(entry: number): Promise<void>;
}

/**
 * Goes through a run from its first entry and keeps snapshots: then seeking fetches nothing.
 *
 * @throws what fetching throws
 */
async function walkThrough({ from, tape, wants, fetch, ...keeping }: Walk): Promise<void> {
  const scout = createEmptySnapshot(from);
  const walked = { ...keeping, scout, rows: 0 };
  while (wants(scout.entry)) {
    const next = scout.entry + 1;
    if (tape.reach(next) < next) await fetch(next);
    // There is no room for all of it: what is far from the reader does not stay.
    if (tape.reach(next) < next) return;
    for (const batch of tape.between(next, Number.POSITIVE_INFINITY)) {
      if (batch.from > scout.entry + 1) break;
      through(walked, batch);
    }
    // Between pages the page is served.
    await new Promise((resolve) => setTimeout(resolve));
  }
}

interface Walked extends Pick<Walk, 'keyframes' | 'everyRows'> {
  scout: Snapshot;
  rows: number;
}

/** In pieces: a span may hold a million rows. */
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
