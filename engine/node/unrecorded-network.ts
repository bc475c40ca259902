/**
 * A network without a log, for simulations. Applies commands in order and keeps only the state:
 * there are no entries, digests, encoded events or files. Outcomes, events and reads equal those of
 * `Network`.
 */
import { type Admitted, checked } from '../admit/admit.js';
import { refuseUnknownKey } from '../admit/credentials.js';
import { completeGenesis, type GenesisOptions } from '../admit/genesis.js';
import type { Verified } from '../admit/verify.js';
import { firstContext } from '../core/agents.js';
import { Changes, type NewVote, type Reader } from '../core/changes.js';
import { Engine, type Input, type Step } from '../core/engine.js';
import type { Outcome } from '../core/state.js';
import type { Command } from '../protocol/schema/command.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import type { Decision } from '../protocol/schema/primitives.js';
import type { Refusal } from '../protocol/schema/reason.js';
import {
  type RecordKey,
  type RecordOf,
  SCHEMA_VERSION,
  type Table,
} from '../protocol/schema/record.js';
import { prepareRule } from '../rules/sandbox.js';
import { type RangeOptions, rowsWithin } from '../store/store.js';
import type { Clock } from './clock.js';
import type { Applied } from './open-store.js';
import { type CommittedView, StateViews } from './state-views.js';

interface UnrecordedOptions {
  genesis: GenesisOptions;
  clock: Clock;
  /** True to take requests in rounds, like a verifying network. No signature is verified. */
  inRounds: boolean;
  /** False if nothing reads the responses to votes. */
  answered: boolean;
}

type UnrecordedStep = Step & Pick<Applied, 'outcome'>;

const settled = Promise.resolve();

export class UnrecordedNetwork {
  readonly genesis: Genesis;
  readonly #clock: Clock;
  readonly #engine: Engine;
  readonly #views: LiveViews;
  /** Accepts requests without verification. `enabled` makes the caller take them in rounds. */
  readonly verification: {
    readonly enabled: boolean;
    defer(admitted: Admitted): Verified | { refusal: Refusal };
  };
  /** Position of the state that the views show. */
  #viewed = 0;
  /** Last input of the engine, which is used again for the next. */
  readonly #input: Input = { seq: 0, at: 0, command: null };
  /** No entry waits for a disk. */
  readonly backlog = 0;
  readonly durable = settled;

  private constructor(genesis: Genesis, { clock, inRounds, answered }: UnrecordedOptions) {
    const tables = new LiveTables(answered);
    this.genesis = genesis;
    this.#clock = clock;
    this.verification = { enabled: inRounds, defer: (admitted) => this.#accept(admitted) };
    this.#engine = Engine.create(genesis, clock.now(), tables, tables).engine;
    this.#views = new LiveViews(tables, genesis, clock, this.#view());
  }

  /** @throws {TypeError} if a parameter is out of range. */
  static async open(options: UnrecordedOptions): Promise<UnrecordedNetwork> {
    await prepareRule(options.genesis);
    return new UnrecordedNetwork(completeGenesis(options.genesis), options);
  }

  /** Accepts a request at once. */
  verifyAdmitted = async (admitted: Admitted): Promise<Verified | { refusal: Refusal }> =>
    this.#accept(admitted);

  /** Accepts a request from a registered key. */
  #accept(admitted: Admitted): Verified | { refusal: Refusal } {
    const refusal = refuseUnknownKey(admitted.command, this.knows);
    if (refusal) return { refusal };
    admitted[checked] = true;
    return admitted as Verified;
  }

  /** Returns true for a registered key (hex, lower case). */
  knows = (publicKey: string): boolean => this.#engine.hasKey(publicKey);

  /** Returns the outcome if the request would change nothing, or null. */
  precheck({ command }: Admitted): Outcome | null {
    return this.#engine.precheck(command, this.#now);
  }

  apply({ command }: Verified): UnrecordedStep {
    const at = this.#now;
    const ticked = this.#fireUntil(at);
    const step = this.#step(at, command) as UnrecordedStep;
    if (ticked.length > 0) step.events = [...ticked, ...step.events];
    return step;
  }

  #step(at: number, command: Command | null): Step {
    const input = this.#input;
    input.seq = this.#engine.position.seq + 1;
    input.at = at;
    input.command = command;
    return this.#engine.apply(input);
  }

  /** Fires all deadlines before now. Returns the events that the deadlines emit. */
  fireDeadlines(): readonly Event[] {
    return this.#fireUntil(this.#now);
  }

  nextDeadline = (): number | null => this.#engine.nextDeadline();
  reputationOf = (publicKey: string): number => this.#engine.reputationOf(publicKey);
  votesUntilClose = (blockHash: string): number => this.#engine.votesUntilClose(blockHash);

  /** Number of the last applied entry, as if a log existed. */
  get applied(): number {
    return this.#engine.position.seq;
  }

  /** Reads of the state as of the last applied entry. */
  get read(): StateViews {
    const { seq } = this.#engine.position;
    if (seq !== this.#viewed) this.#views.swap(this.#view());
    this.#viewed = seq;
    return this.#views;
  }

  get #now(): number {
    return Math.max(this.#clock.now(), this.#engine.position.at);
  }

  /** Applies a tick for each deadline, one millisecond after it. */
  #fireUntil(at: number): readonly Event[] {
    let events: Event[] | null = null;
    for (;;) {
      const due = this.#engine.nextDeadline();
      if (due === null || due >= at) return events ?? noEvents;
      events ??= [];
      events.push(...this.#step(due + 1, null).events);
    }
  }

  #view(): CommittedView {
    const { seq, at, event_seq } = this.#engine.position;
    const none = { epoch: '', log_digest: '', digest: '' };
    const { network_id } = this.genesis;
    return {
      meta: { schema_version: SCHEMA_VERSION, network_id, ...none, seq, at, event_seq },
      summary: this.#engine.summary(),
    };
  }
}

const noEvents: readonly Event[] = [];

/** Reads of records in memory. */
class LiveViews extends StateViews {
  readonly #tables: LiveTables;

  constructor(tables: LiveTables, genesis: Genesis, clock: Clock, view: CommittedView) {
    super(genesis, clock, view);
    this.#tables = tables;
  }

  override record<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    return this.#tables.read(table, key);
  }

  override records<T extends Table>(table: T, options: RangeOptions = {}) {
    return this.#tables.range(table, options);
  }
}

interface Row {
  key: RecordKey;
  value: RecordOf[Table];
}

/** Tables that only a restart or a read of the log needs, or that follow from the profiles. */
const unread: ReadonlySet<Table> = new Set([
  ...(['network', 'heights', 'open', 'state', 'agent_numbers'] as const),
]);

/**
 * The records of a network without a log. They hold the engine's values, without any encoding. A
 * vote takes a few bytes in typed columns, and an agent its profile.
 */
class LiveTables extends Changes implements Reader {
  override readonly logged = false;
  override readonly answered: boolean;
  /** Records by table and key. Those with keys of several parts keep their keys. */
  readonly #tables = new Map<Table, Map<string | number, RecordOf[Table]>>();
  readonly #tupled = new Map<Table, Map<string, Row>>();
  /** Profiles by agent ordinal. */
  readonly #profiles: RecordOf['agents'][] = [];
  /** Votes by block ordinal. */
  readonly #votes: VoteColumns[] = [];
  readonly #standings = new StandingRows();
  /** Changes of the entry that the engine applies. Its reads show the state before the entry. */
  readonly #pending: { table: Table; key: RecordKey; value: RecordOf[Table] | null }[] = [];

  constructor(answered: boolean) {
    super();
    this.answered = answered;
  }

  override put<T extends Table>(table: T, key: RecordKey, value: RecordOf[T]): void {
    if (!unread.has(table)) this.#pending.push({ table, key, value });
  }

  override drop(table: Table, key: RecordKey): void {
    if (!unread.has(table)) this.#pending.push({ table, key, value: null });
  }

  /** Stores a vote at once, because the engine reads votes only before it makes any changes. */
  override putVote(block: number, agent: number, vote: NewVote, at: number, entry: number): void {
    this.#votes[block] ??= new VoteColumns();
    this.#votes[block].add(agent, vote, at, entry);
  }

  override putStanding(ordinal: number, values: Int32Array, width: number): void {
    this.#standings.put(ordinal, values, width);
  }

  /** Stores the changes of an entry. Returns no changes, because no log needs them. */
  override take(): [] {
    if (this.#pending.length === 0) return none;
    for (const { table, key, value } of this.#pending) this.#store(table, key, value);
    this.#pending.length = 0;
    return none;
  }

  #store(table: Table, key: RecordKey, value: RecordOf[Table] | null): void {
    if (table === 'agents') this.#profiles.push(value as RecordOf['agents']);
    if (typeof key === 'object') {
      const rows = this.#tupled.get(table) ?? new Map<string, Row>();
      this.#tupled.set(table, rows);
      if (value === null) rows.delete(key.join(' '));
      else rows.set(key.join(' '), { key, value });
      return;
    }
    const values = this.#tables.get(table) ?? new Map<string | number, RecordOf[Table]>();
    this.#tables.set(table, values);
    if (value === null) values.delete(key);
    else values.set(key, value);
  }

  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    return this.#read(table, key) as RecordOf[T] | undefined;
  }

  #read(table: Table, key: RecordKey): RecordOf[Table] | undefined {
    if (table === 'votes') {
      const [block, agent] = key as readonly [number, number];
      return this.#votes[block]?.get(agent);
    }
    if (table === 'standings') return this.#standings.get(key as number);
    if (table === 'agent_numbers') return numberOf(this.#profiles[key as number]);
    if (typeof key === 'object') return this.#tupled.get(table)?.get(key.join(' '))?.value;
    const value = this.#tables.get(table)?.get(key);
    if (value !== undefined || table !== 'agent_states') return value;
    const profile = this.read('agents', key);
    return profile && { context: firstContext(profile), state: 'active' };
  }

  *range<T extends Table>(
    table: T,
    options: RangeOptions = {},
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }> {
    const rows = rowsWithin(this.#rowsOf(table, options.from, options.to), options);
    for (const { key, value } of rows.slice(0, options.limit)) {
      yield { key, value: value as RecordOf[T] };
    }
  }

  #rowsOf(table: Table, from?: RecordKey, to?: RecordKey): Row[] {
    if (table === 'standings') return this.#standings.rows();
    if (table === 'votes') return this.#voteRows(from, to);
    if (table === 'agent_numbers') {
      return this.#profiles.map((profile, key) => ({ key, value: numberOf(profile)! }));
    }
    if (table === 'agent_states') {
      return this.#profiles.map(({ agent_id: key }) => ({ key, value: this.#read(table, key)! }));
    }
    const values = this.#tables.get(table) ?? [];
    const rows = Array.from(values, ([key, value]): Row => ({ key, value }));
    return [...rows, ...(this.#tupled.get(table)?.values() ?? [])];
  }

  #voteRows(from?: RecordKey, to?: RecordKey): Row[] {
    const rows: Row[] = [];
    // Most reads want the votes on one block.
    const last = Math.min(this.#votes.length - 1, Number(firstOf(to) ?? Number.POSITIVE_INFINITY));
    for (let block = Number(firstOf(from) ?? 0); block <= last; block += 1) {
      for (const [agent, value] of this.#votes[block]?.rows() ?? []) {
        rows.push({ key: [block, agent], value });
      }
    }
    return rows;
  }

  proposal(entry: number): never {
    throw new Error(`no log contains the proposal of entry ${entry}`);
  }
}

const none: [] = [];
const numberOf = (profile: RecordOf['agents'] | undefined) =>
  profile && { agent_id: profile.agent_id };
const firstOf = (key?: RecordKey) => (typeof key === 'object' ? key[0] : key);

const codes = { approve: 1, reject: 2 } as const;

/** The votes on one block, by agent ordinal. */
class VoteColumns {
  #decisions = new Uint8Array(64);
  #times = new Float64Array(64);
  #entries = new Float64Array(64);
  readonly #references = new Map<number, RecordOf['votes']['meme_references']>();
  readonly #ballots = new Map<number, unknown>();

  add(agent: number, vote: NewVote, at: number, entry: number): void {
    const { decision, meme_references, ballot } = vote;
    if (agent >= this.#decisions.length) this.#grow(agent + 1);
    this.#decisions[agent] = codes[decision];
    this.#times[agent] = at;
    this.#entries[agent] = entry;
    if (meme_references.length > 0) this.#references.set(agent, meme_references);
    if (ballot !== undefined) this.#ballots.set(agent, ballot);
  }

  get(agent: number): RecordOf['votes'] | undefined {
    const code = this.#decisions[agent] ?? 0;
    if (code === 0) return undefined;
    const decision: Decision = code === codes.approve ? 'approve' : 'reject';
    const ballot = this.#ballots.get(agent);
    return {
      entry: this.#entries[agent]!,
      at: this.#times[agent]!,
      decision,
      meme_references: this.#references.get(agent) ?? [],
      ...(ballot === undefined ? {} : { ballot }),
    };
  }

  *rows(): Iterable<[agent: number, vote: RecordOf['votes']]> {
    for (let agent = 0; agent < this.#decisions.length; agent += 1) {
      const vote = this.get(agent);
      if (vote) yield [agent, vote];
    }
  }

  #grow(least: number): void {
    const length = Math.max(least, 2 * this.#decisions.length);
    const decisions = new Uint8Array(length);
    const times = new Float64Array(length);
    const entries = new Float64Array(length);
    decisions.set(this.#decisions);
    times.set(this.#times);
    entries.set(this.#entries);
    this.#decisions = decisions;
    this.#times = times;
    this.#entries = entries;
  }
}

/** Standings by agent ordinal, in rows of equal length. */
class StandingRows {
  #values = new Int32Array(0);
  #width = 0;
  #count = 0;

  /**
   * Copies a row. The engine changes `values` while it applies an entry, and reads must still show
   * the state before that entry.
   */
  put(ordinal: number, values: Int32Array, width: number): void {
    const start = ordinal * width;
    if (start + width > this.#values.length) {
      const grown = new Int32Array(Math.max(values.length, 2 * this.#values.length));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#width = width;
    this.#count = Math.max(this.#count, ordinal + 1);
    for (let place = start; place < start + width; place += 1) this.#values[place] = values[place]!;
  }

  get(ordinal: number): number[] | undefined {
    if (ordinal >= this.#count) return undefined;
    const start = ordinal * this.#width;
    return [...this.#values.subarray(start, start + this.#width)];
  }

  rows(): Row[] {
    return Array.from({ length: this.#count }, (_, key) => ({ key, value: this.get(key)! }));
  }
}
