/**
 * A fresh engine over genesis and entries alone: what each entry did, compared with what was stored
 * of it. Safe in a browser: records are kept by whoever calls.
 */
import { genesisIn } from '../admit/genesis.js';
import type { Admitted } from '../admit/index.js';
import { Engine, emptyReader, type Step } from '../core/index.js';
import { type EncodedStep, encodeStep } from '../node/encode.js';
import { Overlay } from '../node/overlay.js';
import { Digests } from '../protocol/log.js';
import type { Entry, Genesis } from '../protocol/schema/index.js';
import type { RangeOptions, RecordChange, RecordKey } from '../store/store.js';
import { type Checked, checkLines, type Verifying } from './check.js';
import type { Divergence } from './divergence.js';
import type { LogLine } from './line.js';

/** What one entry did, as it was recomputed. */
export interface ReplayedStep extends Pick<EncodedStep, 'events' | 'changes' | 'results'> {
  entry: Entry;
  digest: string;
  log_digest: string;
}

/** Where the records are kept that follow from the entries. */
export interface KeptRecords {
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  /** What entry `seq` changed. */
  write(seq: number, changes: readonly RecordChange[]): void;
}

/** Stored events, ascending. */
export type StoredEvents = Generator<{ seq: number; json: string }, undefined>;

/** What is recomputed with, and compared with. */
export interface RecomputeOptions {
  records: KeptRecords;
  /** Checks every signature again. */
  verifier?: Verifying | undefined;
  /** Events from one on: compared before the digest, since they say more. */
  storedEvents?: ((first: number) => StoredEvents) | undefined;
  /** Compares what else was stored of an entry. */
  compareStep?: ((entry: Entry, step: Step) => Divergence | null) | undefined;
  /** Told what each entry did, in order. */
  onStep?: ((done: ReplayedStep) => void) | undefined;
}

/** The recomputation: takes log lines, ascending from entry 0. */
export class Recompute {
  readonly #options: RecomputeOptions;
  readonly #digests = new Digests();
  readonly #overlay: Overlay;
  #genesis: Genesis | null = null;
  #engine: Engine | null = null;
  #entries = 0;
  #last: { entry: Entry; done: EncodedStep } | null = null;

  constructor(options: RecomputeOptions) {
    this.#options = options;
    this.#overlay = new Overlay(options.records, emptyReader.proposal);
  }

  /** Entries that were recomputed, genesis included. */
  get entries(): number {
    return this.#entries;
  }

  get genesis(): Genesis | null {
    return this.#genesis;
  }

  /** Null before genesis. */
  get engine(): Engine | null {
    return this.#engine;
  }

  get digest(): string {
    return this.#digests.digest;
  }

  get logDigest(): string {
    return this.#digests.logDigest;
  }

  /** What the last entry that could be applied did, whether or not that was stored. */
  get last(): ReplayedStep | null {
    if (!this.#last) return null;
    const { entry, done } = this.#last;
    const { events, changes, results } = done;
    return { entry, events, changes, results, digest: this.digest, log_digest: this.logDigest };
  }

  /** Admits entries, and verifies their signatures where that was asked for. */
  async check(lines: readonly LogLine[]): Promise<Checked[]> {
    const first = lines[0]?.entry;
    if (!this.#genesis && first?.kind === 'genesis') this.#genesis = genesisIn(first);
    return checkLines(lines, this.#genesis, this.#options.verifier);
  }

  /** Applies them and compares, up to the first difference, after which no more may be taken. */
  apply(checked: readonly Checked[]): Divergence | null {
    // No reader stays open over turns.
    const events = this.#options.storedEvents?.((this.#engine?.position.event_seq ?? 0) + 1);
    try {
      for (const one of checked) {
        const divergence = one.divergence ?? this.#step(one, events);
        if (divergence) return divergence;
      }
      return null;
    } finally {
      events?.return(undefined);
    }
  }

  /** Applies the entry and compares what follows from it with what was stored. */
  #step({ line, admitted }: Checked, stored?: StoredEvents): Divergence | null {
    const { seq, kind } = line.entry;
    if (seq !== this.#entries) {
      const expected = `entry ${this.#entries}`;
      return { seq: this.#entries, kind, what: 'entry', expected, found: `entry ${seq}` };
    }
    let step: Step;
    try {
      step = this.#apply(line.entry, admitted);
    } catch (error) {
      const found = (error as Error).message;
      return { seq, kind, what: 'entry', expected: 'an entry that can follow', found };
    }
    const { outcome } = step;
    if (outcome?.result !== 'refused' && outcome?.result !== 'duplicate') {
      return (
        this.#compare(line, encodeStep(step), stored) ??
        this.#options.compareStep?.(line.entry, step) ??
        null
      );
    }
    const found = outcome.result === 'refused' ? outcome.refusal.reason : 'a repeat';
    return { seq, kind, what: 'outcome', expected: 'a command that is done', found };
  }

  /** @throws when the entry cannot follow the one before it. */
  #apply(entry: Entry, admitted: Admitted | undefined): Step {
    const { seq, at } = entry;
    if (entry.kind !== 'genesis') {
      if (!this.#engine) throw new Error('the log does not begin with genesis');
      return this.#engine.apply({ seq, at, command: admitted?.command ?? null });
    }
    if (this.#engine) throw new Error('genesis is entry 0 and stands once');
    // The engine reads what was computed here, and nothing of what was stored.
    const { engine, step } = Engine.create(genesisIn(entry), at, this.#overlay);
    this.#engine = engine;
    return step;
  }

  #compare(line: LogLine, done: EncodedStep, stored?: StoredEvents): Divergence | null {
    const { entry } = line;
    const bytes = this.#digests.advance(entry, done.results);
    this.#last = { entry, done };
    // What is equal as a whole has the same digests.
    const same = line.stored !== undefined && Buffer.compare(line.stored, bytes) === 0;
    const divergence =
      (same ? null : this.#logDigest(line)) ??
      eventDivergence(entry, done, stored) ??
      (same ? null : (this.#digest(line) ?? frameDivergence(line, bytes)));
    if (divergence) return divergence;
    this.#options.onStep?.(this.last!);
    this.#entries += 1;
    this.#options.records.write(entry.seq, done.changes);
    return null;
  }

  #logDigest({ entry: { seq, kind }, logDigest: found }: LogLine): Divergence | null {
    const expected = this.logDigest;
    if (found === undefined || found === expected) return null;
    return { seq, kind, what: 'log_digest', expected, found };
  }

  #digest({ entry: { seq, kind }, digest: found }: LogLine): Divergence | null {
    const expected = this.digest;
    if (found === undefined || found === expected) return null;
    return { seq, kind, what: 'digest', expected, found };
  }
}

/** The frame, where both digests hold: a number, say, that was stored with a zero before it. */
function frameDivergence({ entry, stored }: LogLine, bytes: Uint8Array): Divergence | null {
  if (stored === undefined) return null;
  const { seq, kind } = entry;
  const at = bytes.findIndex((byte, index) => byte !== stored[index]);
  const first = at < 0 ? bytes.length : at;
  const byteOf = (of: Uint8Array) => (first < of.length ? `${of[first]}` : 'its end');
  const which = `stored byte ${first}`;
  return { seq, kind, what: 'entry', which, expected: byteOf(bytes), found: byteOf(stored) };
}

/** The first event that was not stored as it follows from the entry. */
function eventDivergence(
  { seq, kind }: Entry,
  { events }: EncodedStep,
  stored: StoredEvents | undefined,
): Divergence | null {
  for (const event of stored ? events : []) {
    const next = stored!.next().value;
    if (next?.json === event.json && next.seq === event.seq) continue;
    const found = next?.seq === event.seq ? next.json : 'no event';
    const which = `event ${event.seq}`;
    return { seq, kind, what: 'event', which, expected: event.json, found };
  }
  return null;
}
