/**
 * Replay: a fresh engine over genesis and entries alone recomputes everything else, and what was
 * stored beside the entries is compared with it. The first difference is named.
 */
import { type Admitted, admit } from '../admit/index.js';
import { allJobs } from '../admit/verify.js';
import { Engine, emptyReader, type Step } from '../core/index.js';
import type { Verifier } from '../crypto/index.js';
import { type EncodedStep, encodeStep } from '../node/encode.js';
import { genesisIn } from '../node/open-store.js';
import { Overlay } from '../node/overlay.js';
import { Digests } from '../protocol/log.js';
import { carriage, type Entry, type Genesis } from '../protocol/schema/index.js';
import type { Store, StoreMeta } from '../store/index.js';
import { compareRecords, type Divergence } from './compare.js';
import { Computed } from './computed.js';
import type { LogLine } from './lines.js';

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

/** What one entry did, as it was recomputed. */
export interface ReplayedStep extends Pick<EncodedStep, 'events' | 'changes' | 'results'> {
  entry: Entry;
  digest: string;
  log_digest: string;
}

/** Entries, and bytes of them, that are verified together: fewer than a queue holds. */
const CHUNK = 1_024;
const CHUNK_BYTES = 4 * 1024 * 1024;

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
  let chunk: LogLine[] = [];
  let bytes = 0;
  for await (const line of options.lines) {
    if (options.to !== undefined && line.entry.seq > options.to) break;
    chunk.push(line);
    bytes += line.entry.body.length;
    if (chunk.length < CHUNK && bytes < CHUNK_BYTES) continue;
    const divergence = await run.take(chunk);
    if (divergence) return run.result(divergence);
    options.onProgress?.(line.entry.seq);
    chunk = [];
    bytes = 0;
  }
  const divergence =
    (await run.take(chunk)) ?? (options.to === undefined ? run.compareEnd() : null);
  return run.result(divergence);
}

/** One entry after admission, and its verification where that was asked for. */
interface Checked {
  line: LogLine;
  admitted?: Admitted;
  divergence?: Divergence;
}

class Replay {
  readonly #options: ReplayOptions;
  readonly #digests = new Digests();
  /** What follows from the entries. */
  readonly #computed = new Computed();
  readonly #overlay = new Overlay(this.#computed, emptyReader.proposal);
  #genesis: Genesis | null = null;
  #engine: Engine | null = null;
  #entries = 0;
  #lastKind: string = 'genesis';
  #recordsCompared = false;
  readonly #end: StoreMeta | null;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#end = options.end ?? options.stored?.meta() ?? null;
  }

  close(): Promise<void> {
    return this.#computed.close();
  }

  result(divergence: Divergence | null): ReplayResult {
    return {
      match: divergence === null,
      entries: this.#entries,
      digest: this.#digests.digest,
      log_digest: this.#digests.logDigest,
      records_compared: this.#recordsCompared,
      first_divergence: divergence,
    };
  }

  async take(lines: LogLine[]): Promise<Divergence | null> {
    const first = lines[0]?.entry;
    if (!this.#genesis && first?.kind === 'genesis') this.#genesis = genesisIn(first);
    for (const checked of await Promise.all(lines.map((line) => this.#check(line)))) {
      const divergence = checked.divergence ?? (await this.#step(checked));
      if (divergence) return divergence;
    }
    return null;
  }

  /** Whether everything that was stored has been recomputed, and nothing else was stored. */
  compareEnd(): Divergence | null {
    const seq = Math.max(0, this.#entries - 1);
    const at = { seq, kind: this.#lastKind };
    if (!this.#engine) {
      return { ...at, what: 'entry', expected: 'an entry 0 (genesis)', found: 'no entries' };
    }
    const { stored } = this.#options;
    const meta = this.#end;
    if (!stored || !meta) return null;
    const { digest, logDigest } = this.#digests;
    const ends = [
      ['end', `entry ${meta.seq}`, `entry ${seq}`],
      ['log_digest', logDigest, meta.log_digest],
      ['digest', digest, meta.digest],
      ['end', `time ${this.#engine.position.at}`, `time ${meta.at}`],
      ['end', `event ${this.#engine.position.event_seq}`, `event ${meta.event_seq}`],
      ['end', `network ${this.#genesis?.network_id}`, `network ${meta.network_id}`],
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
    const next = this.#engine!.position.event_seq + 1;
    for (const { seq, json } of stored.events(next, Number.MAX_SAFE_INTEGER)) {
      return { ...at, what: 'event', which: `event ${seq}`, expected: 'no event', found: json };
    }
    return null;
  }

  async #check(line: LogLine): Promise<Checked> {
    const { entry, file } = line;
    const { seq, kind } = entry;
    if (kind === 'genesis' || kind === 'tick' || !this.#genesis) return { line };
    if (!Object.hasOwn(carriage, kind)) {
      const difference = { expected: 'a known kind', found: kind };
      return { line, divergence: { seq, kind, what: 'entry', ...difference } };
    }
    const request = { ...entry, kind, ...(file ? { file } : {}) };
    const admitted = admit(request, this.#genesis.network_id);
    if ('refusal' in admitted) {
      const found = `${admitted.refusal.reason}: ${admitted.refusal.message}`;
      return { line, divergence: { seq, kind, what: 'entry', expected: 'a good request', found } };
    }
    const verdicts = (await this.#options.verifier?.verify(allJobs(admitted))) ?? [];
    const failed = verdicts.indexOf(false);
    if (failed < 0) return { line, admitted };
    const which = failed === 0 ? 'of the request' : `of transaction ${failed - 1}`;
    const difference = { expected: 'a valid signature', found: 'one that fails' };
    return { line, divergence: { seq, kind, what: 'signature', which, ...difference } };
  }

  /** Applies the entry and compares what follows from it with what was stored. */
  async #step({ line, admitted }: Checked): Promise<Divergence | null> {
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
      return this.#compare(line, step);
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

  async #compare(line: LogLine, step: Step): Promise<Divergence | null> {
    const { seq, kind } = line.entry;
    const { events, changes, results } = encodeStep(step);
    const { stored } = this.#options;
    this.#digests.advance(line.entry, results);
    const { digest, logDigest } = this.#digests;
    if (line.logDigest !== undefined && line.logDigest !== logDigest) {
      const difference = { expected: logDigest, found: line.logDigest };
      return { seq, kind, what: 'log_digest', ...difference };
    }
    for (const event of stored ? events : []) {
      const found = stored!.event(event.seq) ?? 'no event';
      if (found === event.json) continue;
      const which = `event ${event.seq}`;
      return { seq, kind, what: 'event', which, expected: event.json, found };
    }
    if (line.digest !== undefined && line.digest !== digest) {
      return { seq, kind, what: 'digest', expected: digest, found: line.digest };
    }
    this.#options.onStep?.({
      ...{ entry: line.entry, events, changes, results, digest, log_digest: logDigest },
    });
    this.#entries += 1;
    this.#lastKind = kind;
    this.#computed.write(seq, changes);
    return null;
  }
}

export { fileLines, type LogLine, type PrintedLine, printLine, storedLines } from './lines.js';
export type { Divergence };
