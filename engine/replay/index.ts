/**
 * Replay: a fresh engine over genesis and entries alone recomputes everything else, and what was
 * stored beside the entries is compared with it. The first difference is named.
 */
import type { Step } from '../core/index.js';
import type { Verifier } from '../crypto/index.js';
import { indexed } from '../node/entry-index/writer.js';
import { splitStored } from '../protocol/log.js';
import type { Entry } from '../protocol/schema/index.js';
import { type Store, StoreError, type StoreMeta } from '../store/index.js';
import type { Checked } from './check.js';
import { compareRecords } from './compare.js';
import { IndexComparison } from './compare-index.js';
import { Computed } from './computed.js';
import type { Divergence } from './divergence.js';
import type { LogLine } from './line.js';
import { chunksOf } from './lines.js';
import { Recompute, type ReplayedStep, type StoredEvents } from './recompute.js';

/**
 * What a replay found: whether all that was stored follows from the log, and the first place where
 * it does not.
 */
export interface ReplayResult {
  match: boolean;
  /** Entries that were replayed, genesis included. */
  entries: number;
  digest: string;
  log_digest: string;
  /** False when a writer went on meanwhile: then records are of a later time and say nothing. */
  records_compared: boolean;
  first_divergence: Divergence | null;
}

/** What to replay and what to compare it with. */
export interface ReplayOptions {
  /** Ascending from entry 0. */
  lines: Iterable<LogLine> | AsyncIterable<LogLine>;
  /** The store that the lines are from: its events and records are compared too. */
  stored?: Store;
  /** Where its log ended when the lines were taken; default: where it ends now. */
  end?: StoreMeta;
  /** Checks every signature again. */
  verifier?: Verifier;
  /** Stop after this entry: then only what the entries up to it did is compared. */
  to?: number;
  onProgress?: (seq: number) => void;
  /** Told what each entry did, in order. */
  onStep?: (done: ReplayedStep) => void;
}

/**
 * Recomputes a network from its log alone and compares what follows with what was stored.
 *
 * @throws {StoreError} when the log cannot be read.
 *
 * @example
 * ```ts
 * import { openLmdbStore, replay, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * const { digest } = await simulate(scenario, { out: 'run' });
 * const folder = { path: 'run/network', tables, schemaVersion: SCHEMA_VERSION };
 * const stored = openLmdbStore({ ...folder, readOnly: true });
 * const lines = storedLines(stored, 0, stored.meta()?.seq ?? 0);
 * const result = await replay({ lines, stored });
 * console.log(result.match, result.digest === digest); // true true
 * await stored.close();
 * ```
 */
export async function replay(options: ReplayOptions): Promise<ReplayResult> {
  const run = new Replay(options);
  try {
    return await replayAll(run, options);
  } finally {
    await run.close();
  }
}

async function replayAll(run: Replay, options: ReplayOptions): Promise<ReplayResult> {
  const chunks = chunksOf(options.lines, options.to);
  try {
    // One chunk is verified while the one before it is applied.
    for (let ahead: Promise<Checked[]> = Promise.resolve([]); ; ) {
      const reading = chunks.next();
      // What cannot be read is told after the differences that come before it.
      const chunk = await reading.then(
        ({ value }) => value,
        () => undefined,
      );
      const checked = chunk && run.check(chunk);
      // Where applying throws, nobody waits for it.
      checked?.catch(() => undefined);
      const divergence = run.apply(await ahead);
      if (divergence) {
        await checked?.catch(() => undefined);
        return run.result(divergence);
      }
      if (run.entries > 0) options.onProgress?.(run.entries - 1);
      if (!checked) {
        await reading;
        if (options.to !== undefined) return run.result(null);
        const difference = run.compareEnd();
        if (!difference) await assertArchive(options.stored);
        return run.result(difference);
      }
      ahead = checked;
    }
  } finally {
    await chunks.return(undefined);
  }
}

function comparingIndex(stored: Store) {
  const index = new IndexComparison(stored);
  return (entry: Entry, step: Step) => index.take(entry.kind, indexed(entry, step));
}

/**
 * Compares all bytes of all segments with what the folder records of them, and that with the log:
 * reads of entries need neither the whole file nor the whole record.
 */
async function assertArchive(stored: Store | undefined): Promise<void> {
  if (!stored?.archive) return;
  for await (const damage of stored.archive.damage()) throw new StoreError('ARCHIVE', damage);
  for (const segment of stored.archive.segments) {
    const { file, first, last, log_digest_before, digest_before, log_digest, digest } = segment;
    const ends = [
      [first - 1, log_digest_before, digest_before],
      [last, log_digest, digest],
    ] as const;
    for (const [seq, ...recorded] of ends) {
      const entry = stored.entry(seq);
      const found = entry && splitStored(entry);
      if (found?.logDigest === recorded[0] && found.digest === recorded[1]) continue;
      throw new StoreError('ARCHIVE', `${file}: its record has other digests after entry ${seq}`);
    }
  }
}

function* eventsFrom(stored: Store, first: number): StoredEvents {
  yield* stored.events(first, Number.MAX_SAFE_INTEGER);
}

class Replay {
  /** What follows from the entries. */
  readonly #computed = new Computed();
  readonly #recompute: Recompute;
  readonly #stored: Store | undefined;
  readonly #end: StoreMeta | null;
  #recordsCompared = false;

  constructor({ stored, end, verifier, onStep }: ReplayOptions) {
    this.#stored = stored;
    this.#end = end ?? stored?.meta() ?? null;
    this.#recompute = new Recompute({
      records: this.#computed,
      verifier,
      storedEvents: stored && ((first) => eventsFrom(stored, first)),
      compareStep: stored && comparingIndex(stored),
      onStep,
    });
  }

  /** How many have been applied, and match. */
  get entries(): number {
    return this.#recompute.entries;
  }

  close(): Promise<void> {
    return this.#computed.close();
  }

  check(lines: readonly LogLine[]): Promise<Checked[]> {
    return this.#recompute.check(lines);
  }

  apply(checked: readonly Checked[]): Divergence | null {
    return this.#recompute.apply(checked);
  }

  result(divergence: Divergence | null): ReplayResult {
    return {
      match: divergence === null,
      entries: this.#recompute.entries,
      digest: this.#recompute.digest,
      log_digest: this.#recompute.logDigest,
      records_compared: this.#recordsCompared,
      first_divergence: divergence,
    };
  }

  /** Whether everything that was stored has been recomputed, and nothing else was stored. */
  compareEnd(): Divergence | null {
    const { engine, genesis, entries, digest, logDigest } = this.#recompute;
    const seq = Math.max(0, entries - 1);
    const at = { seq, kind: this.#recompute.last?.entry.kind ?? 'genesis' };
    if (!engine) {
      return { ...at, what: 'entry', expected: 'an entry 0 (genesis)', found: 'no entries' };
    }
    const stored = this.#stored;
    const meta = this.#end;
    if (!stored || !meta) return null;
    const ends = [
      ['end', `entry ${meta.seq}`, `entry ${seq}`],
      ['log_digest', logDigest, meta.log_digest],
      ['digest', digest, meta.digest],
      ['end', `time ${engine.position.at}`, `time ${meta.at}`],
      ['end', `event ${engine.position.event_seq}`, `event ${meta.event_seq}`],
      ['end', `network ${genesis?.network_id}`, `network ${meta.network_id}`],
    ] as const;
    for (const [what, expected, found] of ends) {
      if (expected !== found) return { ...at, what, expected, found };
    }
    const grown = () => stored.meta()?.seq !== meta.seq;
    if (grown()) return null;
    const divergence = this.#beyond(stored, at) ?? compareRecords(this.#computed, stored);
    // A commit in between moved what was read: then it was another time's state.
    this.#recordsCompared = !grown();
    return this.#recordsCompared ? divergence : null;
  }

  /** What is stored after the end of the log. */
  #beyond(stored: Store, at: { seq: number; kind: string }): Divergence | null {
    for (const { seq } of stored.entries(at.seq + 1, Number.MAX_SAFE_INTEGER)) {
      const expected = `entry ${at.seq} as the last`;
      return { ...at, what: 'entry', expected, found: `entry ${seq}` };
    }
    for (const { seq } of stored.index({ from: at.seq + 1, limit: 1 })) {
      const which = `index ${seq}`;
      return { ...at, what: 'record', which, expected: 'no record', found: `entries to ${seq}` };
    }
    const next = this.#recompute.engine!.position.event_seq + 1;
    for (const { seq, json } of stored.events(next, Number.MAX_SAFE_INTEGER)) {
      return { ...at, what: 'event', which: `event ${seq}`, expected: 'no event', found: json };
    }
    return null;
  }
}

export { type LogLine, type PrintedLine, printLine } from './line.js';
export { fileLines, storedLines } from './lines.js';
export type { Divergence, ReplayedStep };
