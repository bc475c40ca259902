/**
 * Recomputes each entry's effects with a fresh engine, from genesis and entries only, and compares
 * these with the stored effects. Runs in browsers, because the caller provides the storage for
 * records.
 */

import { type Admitted, admitLogged } from '../admit/admit.js';
import { parseGenesis } from '../admit/genesis.js';
import { emptyReader, type Reader } from '../core/changes.js';
import { Engine, type Position, type Step } from '../core/engine.js';
import type { Verifier } from '../crypto/verifier.js';
import { type EncodedStep, encodeStep } from '../node/encode.js';
import { Overlay } from '../node/views.js';
import { Digests } from '../protocol/log.js';
import { parseUnique } from '../protocol/repeated-members.js';
import { carriage, type Entry, type EntryKind } from '../protocol/schema/entry.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { RecordKey } from '../protocol/schema/record.js';
import { excerpt } from '../protocol/text.js';
import { RuleUnavailable } from '../rules/network-rule.js';
import { defineStoreErrors } from '../store/messages.js';
import type { RangeOptions, RecordChange } from '../store/store.js';

/** Errors of a log that is read or recomputed. */
export const replayError = defineStoreErrors({
  CORRUPT: {
    ENTRY_UNDECODABLE: 'cannot decode entry {seq}: {reason}',
    LINE_TOO_LONG: 'line too long: more than {most} characters (expected one entry per line)',
    LINE_NOT_JSON: 'not a JSON object: {where} ({reason}); pass the output of folkmoot log',
    LINE_MEMBER: 'invalid member {name} in {where} (expected {expected})',
    LOG_DIVERGES: 'replay diverges at entry {seq} ({kind}, {what}): {found} instead of {expected}',
  },
  ARCHIVE: {
    SEGMENT_NOT_OF_LOG:
      'digests recorded for segment {file} do not match the log after entry {seq}',
  },
});

/** An entry's recomputed effects. */
export interface ReplayedStep extends Pick<EncodedStep, 'events' | 'changes' | 'results'> {
  entry: Entry;
  digest: string;
  log_digest: string;
}

/** Storage for recomputed records. */
export interface KeptRecords {
  get(table: string, key: RecordKey): string | undefined;
  range(table: string, options?: RangeOptions): Iterable<{ key: RecordKey; json: string }>;
  /** Stores the changes made by entry `seq`. */
  write(seq: number, changes: readonly RecordChange[]): void;
}

/** Stored events, ascending. */
export type StoredEvents = Generator<{ seq: number; json: string }, undefined>;

/** A position in the log, with both digests. */
export interface RecomputedHead extends Position {
  log_digest: string;
  digest: string;
}

interface RecomputeOptions {
  records: KeptRecords;
  /** Continues after this entry, whose records `records` contains, instead of before entry 0. */
  after?: { head: RecomputedHead; genesis: Genesis } | null;
  /** Returns the command of a proposal that is not recomputed. */
  proposal?: Reader['proposal'];
  /** Verifies every signature again. */
  verifier?: Verifying | undefined;
  /** Reads stored events, compared before the digest, since a differing event says more. */
  storedEvents?: ((first: number) => StoredEvents) | undefined;
  /** Compares an entry's other stored data. */
  compareStep?: ((entry: Entry, step: Step) => Divergence | null) | undefined;
  /** Called for each entry, in order. */
  onStep?: ((done: ReplayedStep) => void) | undefined;
  /** Called with genesis before the first entry. Loads what its rule needs. */
  prepareRule?: ((genesis: Genesis) => Promise<void>) | undefined;
}

/** A running recomputation. Takes log lines, ascending from entry 0. */
export class Recompute {
  readonly #options: RecomputeOptions;
  readonly #digests: Digests;
  readonly #overlay: Overlay;
  #genesis: Genesis | null = null;
  #engine: Engine | null = null;
  #entries = 0;
  #last: { entry: Entry; done: EncodedStep } | null = null;

  constructor(options: RecomputeOptions) {
    const { records, after, proposal = emptyReader.proposal } = options;
    this.#options = options;
    this.#overlay = new Overlay(records, proposal);
    this.#digests = new Digests(after?.head.log_digest, after?.head.digest);
    if (!after) return;
    const { seq, at, event_seq } = after.head;
    this.#genesis = after.genesis;
    this.#engine = Engine.restore(after.genesis, this.#overlay, { seq, at, event_seq });
    this.#entries = seq + 1;
  }

  /** Number of recomputed entries, including genesis. */
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

  /** Effects of the last applied entry, even if that entry diverged. */
  get last(): ReplayedStep | null {
    if (!this.#last) return null;
    const { entry, done } = this.#last;
    const { events, changes, results } = done;
    return { entry, events, changes, results, digest: this.digest, log_digest: this.logDigest };
  }

  /** Admits entries, and verifies signatures if there is a verifier. */
  async check(lines: readonly LogLine[]): Promise<CheckedLine[]> {
    const { verifier, prepareRule } = this.#options;
    const begins = !this.#genesis;
    const admitted = this.admit(lines);
    if (begins && this.#genesis) await prepareRule?.(this.#genesis);
    return verifier ? Promise.all(admitted.map((one) => verified(one, verifier))) : admitted;
  }

  /** Admits entries without a check of their signatures. */
  admit(lines: readonly LogLine[]): CheckedLine[] {
    const first = lines[0]?.entry;
    if (!this.#genesis && first?.kind === 'genesis') this.#genesis = parseGenesis(first);
    return lines.map((line) => admitLine(line, this.#genesis));
  }

  /**
   * Applies and compares entries up to the first divergence. Must not be called after a divergence.
   *
   * @throws {RuleUnavailable} at genesis.
   */
  apply(checked: readonly CheckedLine[]): Divergence | null {
    // No read transaction stays open across event-loop turns.
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

  #step({ line, admitted }: CheckedLine, stored?: StoredEvents): Divergence | null {
    const { seq, kind } = line.entry;
    if (seq !== this.#entries) {
      const expected = `entry ${this.#entries}`;
      return { seq: this.#entries, kind, what: 'entry', expected, found: `entry ${seq}` };
    }
    let step: Step;
    try {
      step = this.#apply(line.entry, admitted);
    } catch (error) {
      if (error instanceof RuleUnavailable) throw error;
      const found = (error as Error).message;
      return { seq, kind, what: 'entry', expected: 'a valid next entry', found };
    }
    const { outcome } = step;
    if (outcome?.result !== 'refused' && outcome?.result !== 'duplicate') {
      return (
        this.#compare(line, encodeStep(step), stored) ??
        this.#options.compareStep?.(line.entry, step) ??
        null
      );
    }
    const found = outcome.result === 'refused' ? outcome.refusal.reason : 'a duplicate';
    return { seq, kind, what: 'outcome', expected: 'an accepted command', found };
  }

  /** @throws {Error} if the entry cannot follow the preceding entry. */
  #apply(entry: Entry, admitted: Admitted | undefined): Step {
    const { seq, at } = entry;
    if (entry.kind !== 'genesis') {
      if (!this.#engine) throw new Error('the log does not begin with genesis');
      return this.#engine.apply({ seq, at, command: admitted?.command ?? null });
    }
    if (this.#engine) throw new Error('a second genesis');
    // The engine reads only recomputed records.
    const { engine, step } = Engine.create(parseGenesis(entry), at, this.#overlay);
    this.#engine = engine;
    return step;
  }

  #compare(line: LogLine, done: EncodedStep, stored?: StoredEvents): Divergence | null {
    const { entry } = line;
    const bytes = this.#digests.advance(entry, done.results);
    this.#last = { entry, done };
    // Identical bytes include identical digests.
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

/** Compares the frame if both digests match, and so finds a number with a leading zero. */
function frameDivergence({ entry, stored }: LogLine, bytes: Uint8Array): Divergence | null {
  if (stored === undefined) return null;
  const { seq, kind } = entry;
  const at = bytes.findIndex((byte, index) => byte !== stored[index]);
  const first = at < 0 ? bytes.length : at;
  const byteOf = (of: Uint8Array) => (first < of.length ? `${of[first]}` : 'the end');
  const which = `stored byte ${first}`;
  return { seq, kind, what: 'entry', which, expected: byteOf(bytes), found: byteOf(stored) };
}

/** Returns the first event that differs from the stored event. */
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

/** An entry after admission and optional verification. */
export interface CheckedLine {
  line: LogLine;
  admitted?: Admitted;
  divergence?: Divergence;
}

/** The part of a verifier that a replay needs. */
export type Verifying = Pick<Verifier, 'verify'>;

function admitLine(line: LogLine, genesis: Genesis | null): CheckedLine {
  const { entry, file } = line;
  const { seq, kind } = entry;
  if (kind === 'genesis' || kind === 'tick' || !genesis) return { line };
  if (!Object.hasOwn(carriage, kind)) {
    const difference = { expected: 'a known kind', found: kind };
    return { line, divergence: { seq, kind, what: 'entry', ...difference } };
  }
  const request = { ...entry, kind, ...(file ? { file } : {}) };
  const admitted = admitLogged(request, genesis.network_id);
  if ('refusal' in admitted) {
    const found = `${admitted.refusal.reason}: ${admitted.refusal.message}`;
    return { line, divergence: { seq, kind, what: 'entry', expected: 'a valid request', found } };
  }
  return { line, admitted };
}

async function verified(checked: CheckedLine, verifier: Verifying): Promise<CheckedLine> {
  const { line, admitted } = checked;
  if (!admitted) return checked;
  const jobs = [admitted.ownJob(), ...admitted.innerJobs()];
  const failed = (await verifier.verify(jobs)).indexOf(false);
  if (failed < 0) return checked;
  const { seq, kind } = line.entry;
  const which = failed === 0 ? 'of the request' : `of transaction ${failed - 1}`;
  const difference = { expected: 'a valid signature', found: 'an invalid signature' };
  return { line, divergence: { seq, kind, what: 'signature', which, ...difference } };
}

/** An entry with its stored digests, which are absent in logs from other programs. */
export interface LogLine {
  entry: Entry;
  logDigest: string | undefined;
  digest: string | undefined;
  /** A meme's file. */
  file: Uint8Array | undefined;
  /** Stored bytes, including both digests. Allows a fast comparison. */
  stored?: Uint8Array;
}

/** A log line as JSON. `body` is text. */
export interface PrintedLine {
  seq: number;
  at: number;
  kind: EntryKind;
  public_key: string;
  target: string;
  timestamp: string;
  signature: string;
  body: string;
  log_digest?: string;
  digest?: string;
  /** base64. */
  file?: string;
}

/** Converts a log line to the JSON object that `folkmoot log` prints. */
export function printLine({ entry, logDigest, digest, file }: LogLine): PrintedLine {
  return {
    ...entry,
    body: Buffer.from(entry.body).toString(),
    ...(logDigest === undefined ? {} : { log_digest: logDigest }),
    ...(digest === undefined ? {} : { digest }),
    ...(file ? { file: Buffer.from(file).toString('base64') } : {}),
  };
}

/** @throws {StoreError} `CORRUPT` */
export function parseLine(text: string, where: string): LogLine {
  let line: PrintedLine;
  try {
    line = parseUnique(text) as PrintedLine;
  } catch (error) {
    throw replayError('LINE_NOT_JSON', { where, reason: (error as SyntaxError).message });
  }
  if (typeof line !== 'object' || line === null) {
    throw replayError('LINE_NOT_JSON', { where, reason: excerpt(line) });
  }
  const { body, file, log_digest, digest } = line;
  if (file !== undefined && typeof file !== 'string') {
    throw replayError('LINE_MEMBER', { where, name: 'file', expected: 'a string' });
  }
  for (const name of ['kind', 'public_key', 'target', 'timestamp', 'signature', 'body'] as const) {
    if (typeof line[name] === 'string') continue;
    throw replayError('LINE_MEMBER', { where, name, expected: 'a string' });
  }
  const { seq, at, kind, public_key, target, timestamp, signature } = line;
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(at)) {
    throw replayError('LINE_MEMBER', { where, name: 'seq or at', expected: 'an integer' });
  }
  return {
    entry: { seq, at, kind, public_key, target, timestamp, signature, body: Buffer.from(body) },
    logDigest: log_digest,
    digest,
    file: file === undefined ? undefined : Buffer.from(file, 'base64'),
  };
}

/** The first difference between stored and recomputed data. */
export interface Divergence {
  seq: number;
  kind: string;
  what: 'entry' | 'signature' | 'outcome' | 'event' | 'record' | 'log_digest' | 'digest' | 'end';
  /** Event number, record table and key, or a different part of the entry. */
  which?: string;
  expected: string;
  found: string;
}
