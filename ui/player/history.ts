/**
 * A network's history: row batches, fetched once per page; keyframes, which are copies of
 * snapshots; and step targets.
 */
import type { RowKind, Snapshot } from '../../api/view/model.js';
import type { PageOverview } from '../data/messages.js';
import { RefusedError } from '../messages.js';
import { BatchCache } from './batch-cache.js';
import type { Source } from './source.js';

/** Entries per request. */
export const PAGE_ENTRIES = 50_000;
/** Initial range, in entries, when searching for a previous row. The range grows from there. */
const NEAR_ENTRIES = 1_000;
/** Rows between two keyframes. */
const KEYFRAME_ROWS = 16_384;

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
  /** Rows since the last keyframe. */
  #rows = 0;

  constructor(private readonly of: PastOf) {}

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
      throw new RefusedError('ENTRY_NOT_FOUND', { status: 404 }, { entry: from });
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
}

/** Limit on agents across all keyframes, about 200 MB. */
const KEYFRAME_AGENTS = 1_000_000;

/** Copies of snapshots, so that a seek back is a copy and a short fold. */
export class Keyframes {
  /** Ascending by entry. */
  readonly #snapshots: Snapshot[] = [];

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

export type StepBy = 'event' | 'block';

interface Step {
  by: StepBy;
  forward: boolean;
  /** Newest entry. */
  last: number;
  past: NetworkHistory;
  overview: PageOverview | null;
  /** Returns false once the reader has requested something else. */
  wanted(): boolean;
}

/**
 * Finds a step's target: the next or previous event or block, or else the end of the log.
 *
 * @throws {RefusedError} and other errors from the source
 */
export async function stepFrom(from: number, step: Step): Promise<number> {
  const { by, forward, last, past, overview, wanted } = step;
  const end = forward ? last : 0;
  const known = by === 'block' ? closingBeside(from, forward, overview) : undefined;
  if (known) return known.entry;
  const kind = by === 'block' ? 'block_status' : undefined;
  const found = forward ? past.next(from, wanted, kind) : past.previous(from, wanted, kind);
  return (await found) ?? end;
}

/** Returns the end of the next or previous block, if the overview knows it. */
function closingBeside(from: number, forward: boolean, overview: PageOverview | null) {
  const { closings = [], closings_omitted: omitted = 0 } = overview ?? {};
  if (!forward) return closings.findLast(({ entry }) => entry < from);
  const isKnown = omitted === 0 || closings.some(({ entry }) => entry <= from);
  return isKnown ? closings.find(({ entry }) => entry > from) : undefined;
}
