/** Reads of what is committed: from the store and the committed view, never from the engine. */
import { allianceData } from '../core/alliances.js';
import type { Change, Reader } from '../core/changes.js';
import type { Summary } from '../core/engine.js';
import { neededToFinalize } from '../core/quorum.js';
import { computeTps } from '../core/throughput.js';
import { decodeEntry, splitStored } from '../protocol/log.js';
import { blockOf } from '../protocol/schema/block.js';
import type { ProposeCommand } from '../protocol/schema/command.js';
import type { Event, EventData, EventType } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type BlockStatus, formatInstant } from '../protocol/schema/primitives.js';
import {
  type AgentProfile,
  type RecordKey,
  type RecordOf,
  standingOf,
  type Table,
} from '../protocol/schema/record.js';
import type {
  AgentList,
  AgentView,
  BlockView,
  NetworkState,
  ReputationView,
} from '../protocol/schema/view.js';
import type { Batch, RangeOptions, Store, StoreMeta } from '../store/store.js';
import type { Clock } from './clock.js';
import type { EncodedEvent } from './encode.js';
import { LogReads } from './log-reads.js';

/** What a batch ends in. */
export interface CommittedView {
  meta: StoreMeta;
  summary: Summary;
}

/** Agents whose rows are kept, so that memory is bounded. */
const MOST_ROWS = 100_000;
/** Records that are read between two pauses. */
const AT_ONCE = 50;
/** The number of times that a list is read when agents change meanwhile. */
const ROUNDS = 3;

/** A score as it is shown: 0 to 100. */
const shown = (score: number) => score / 10_000;

/**
 * Reads of what is committed, from the store and the committed view. Ids and hashes are lower-case
 * hex.
 */
export class Views {
  readonly #store: Store;
  readonly #genesis: Genesis;
  readonly #clock: Clock;
  /**
   * The log itself, and what came of its entries.
   *
   * @internal
   */
  readonly log: LogReads;
  #view: CommittedView;
  /**
   * What many ask for at a time, made once: for a millisecond, and for as long as the view. All get
   * the same, so none may change it.
   */
  #state: { outside: number; value: Readonly<NetworkState> } | null = null;
  #agents: Readonly<AgentList> | null = null;
  /** Agents that were read and have not changed since, and their ids by ordinal. */
  readonly #rows = new Map<string, Readonly<AgentView>>();
  readonly #ids = new Map<number, string>();

  /** @internal */
  constructor(store: Store, genesis: Genesis, clock: Clock, view: CommittedView) {
    this.#store = store;
    this.log = new LogReads(store, () => this.position.seq);
    this.#genesis = genesis;
    this.#clock = clock;
    this.#view = view;
  }

  /**
   * What is committed now. The network's own.
   *
   * @param changes the records that changed; without them, all may have.
   * @internal
   */
  swap(view: CommittedView, changes?: Batch['changes']): void {
    this.#view = view;
    this.#state = null;
    if (!changes) {
      this.#agents = null;
      this.#rows.clear();
      return;
    }
    for (const { table, key } of changes) {
      if (table === 'agents' || table === 'agent_states') this.#forget(key as string);
      else if (table === 'standings') this.#forget(this.#ids.get(key as number));
    }
  }

  #forget(agentId: string | undefined): void {
    this.#agents = null;
    if (agentId !== undefined) this.#rows.delete(agentId);
  }

  /** The end of the committed log, with its digests. */
  get position(): StoreMeta {
    return this.#view.meta;
  }

  /**
   * The end of what is in its folder, which comes behind where others have it all.
   *
   * @internal
   */
  get stored(): StoreMeta {
    return this.#store.stored?.() ?? this.position;
  }

  /** The network as a whole, as of now. */
  networkState(): Readonly<NetworkState> {
    const { meta, summary } = this.#view;
    const outside = Math.max(this.#clock.outside?.() ?? this.#clock.now(), meta.at);
    if (this.#state?.outside === outside) return this.#state.value;
    const now = Math.max(this.#clock.now(), meta.at);
    const value: Readonly<NetworkState> = Object.freeze({
      block_height: summary.block_height,
      active_validators: summary.active_validators,
      active_producers: summary.active_producers,
      pending_transactions: summary.pending_transactions,
      network_tps: computeTps(summary.recent, now),
      head_hash: summary.head_hash,
      network_id: meta.network_id,
      server_time: formatInstant(outside),
    });
    this.#state = { outside, value };
    return value;
  }

  /** An agent, or undefined where none has this id. */
  agent(agentId: string): Readonly<AgentView> | undefined {
    const known = this.#rows.get(agentId);
    if (known) return known;
    const profile = this.record('agents', agentId);
    return profile && this.#agent(profile);
  }

  #agent(profile: AgentProfile): Readonly<AgentView> {
    const known = this.#rows.get(profile.agent_id);
    if (known) return known;
    const { state, context } = this.record('agent_states', profile.agent_id)!;
    const agent = Object.freeze({
      id: profile.agent_id,
      public_key: profile.public_key,
      personality: profile.personality,
      name: profile.name,
      description: profile.description,
      capabilities: profile.capabilities,
      status: state,
      reason: context.reason,
      expected_duration: context.expected_duration,
      registration_time: formatInstant(profile.registered_at),
      dormant: context.dormant,
      reputation_score: shown(standingOf(this.record('standings', profile.ordinal)!).overall),
      blocks_produced: context.blocks_produced,
    });
    if (this.#rows.size < MOST_ROWS) {
      this.#rows.set(agent.id, agent);
      this.#ids.set(profile.ordinal, agent.id);
    }
    return agent;
  }

  /** All registered agents, ascending by id. */
  *agents(): Iterable<Readonly<AgentView>> {
    for (const { value } of this.records('agents')) yield this.#agent(value);
  }

  /** All active agents, ascending by id. */
  activeAgents(): Readonly<AgentList> {
    this.#agents ??= activeAmong(this.agents());
    return this.#agents;
  }

  /**
   * As `activeAgents`, with a pause wherever it yields. Where many agents change meanwhile, rows
   * may be of neighbouring entries.
   *
   * @internal
   */
  *activeAgentsInSlices(): Generator<undefined, Readonly<AgentList>> {
    if (this.#agents) return this.#agents;
    let agents: Readonly<AgentView>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { seq } = this.position;
      agents = [];
      for (;;) {
        const last = agents.at(-1);
        const range = { ...(last && { from: `${last.id}0` }), limit: AT_ONCE };
        const some = [...this.records('agents', range)];
        for (const { value } of some) {
          agents.push(this.#agent(value));
          yield;
        }
        if (some.length < AT_ONCE) break;
      }
      if (seq !== this.position.seq) continue;
      this.#agents ??= activeAmong(agents);
      return this.#agents;
    }
    return activeAmong(agents);
  }

  /** An agent's scores, or undefined where none has this id. */
  reputation(agentId: string): ReputationView | undefined {
    const profile = this.record('agents', agentId);
    if (!profile) return undefined;
    const row = this.record('standings', profile.ordinal)!;
    const { overall, meme, consistency, peer, alliance } = standingOf(row);
    return {
      overall_score: shown(overall),
      meme_quality: shown(meme),
      decision_consistency: shown(consistency),
      peer_ratings: shown(peer),
      alliance_strength: shown(alliance),
    };
  }

  /** Headers, newest first; `before` is exclusive. */
  *blocks(before?: number): Iterable<BlockView & { ordinal: number }> {
    const to = before === undefined ? {} : { to: before };
    for (const { value } of this.records('block_numbers', { reverse: true, ...to })) {
      const block = this.record('blocks', value.block_hash)!;
      yield { ...this.#blockView(block), ordinal: block.context.ordinal };
    }
  }

  /** A block, or undefined where none has this hash. */
  block(hash: string): BlockView | undefined {
    const block = this.record('blocks', hash);
    return block && this.#blockView(block);
  }

  #blockView({ state, context }: RecordOf['blocks']): BlockView {
    const tally = state === 'voting' ? this.#countVotes(context) : context;
    const { approve, reject } = tally;
    return {
      ...blockOf(context),
      status: state satisfies BlockStatus,
      producer: { id: context.producer, public_key: context.producer_key },
      tally: {
        approve,
        reject,
        electorate: context.total,
        needed: neededToFinalize(this.#genesis, { ...context, approve, reject }),
      },
      transactions: context.transactions,
      voting_deadline: formatInstant(context.deadline),
      timestamp: formatInstant(context.proposed_at),
      closed_at: context.closed_at === 0 ? null : formatInstant(context.closed_at),
    };
  }

  /** While a block is in voting its record holds no tally: the votes are the truth. */
  #countVotes({ ordinal, electorate }: RecordOf['blocks']['context']) {
    const { agents, weights } = this.record('electorates', electorate)!;
    const weightOf = new Map(agents.map((agent, position) => [agent, weights[position]!]));
    const tally = { approve: 0, reject: 0 };
    for (const { key, value } of this.records('votes', { from: [ordinal], to: [ordinal + 1] })) {
      tally[value.decision] += weightOf.get((key as readonly number[])[1]!)!;
    }
    return tally;
  }

  /** Who may vote, with what weight. */
  electors(id: number): { agent_id: string; public_key: string; weight: number }[] {
    const { agents, weights } = this.record('electorates', id)!;
    return agents.map((ordinal, position) => {
      const { agent_id } = this.record('agent_numbers', ordinal)!;
      const { public_key } = this.record('agents', agent_id)!;
      return { agent_id, public_key, weight: weights[position]! };
    });
  }

  /** Alliances as they stand, ascending by id. */
  *alliances(options: RangeOptions = {}): Iterable<EventData['alliance_update']> {
    for (const { value } of this.records('alliances', options)) {
      yield allianceData(value.state, value.context);
    }
  }

  /**
   * The signed body of an entry, as received, the key that signed it, and what was read for it:
   * the body's bytes, and those of blocks of the archive that were unpacked.
   */
  signed(entry: number): { public_key: string; body: Record<string, unknown>; bytes: number } {
    const unpackedBefore = this.#store.archive?.unpackedBytes ?? 0;
    const stored = this.#store.entry(entry);
    const unpacked = (this.#store.archive?.unpackedBytes ?? 0) - unpackedBefore;
    if (!stored) throw new Error(`entry ${entry} is not in the log`);
    const { public_key, body } = decodeEntry(splitStored(stored).bytes);
    const text = Buffer.from(body).toString();
    return { public_key, body: JSON.parse(text), bytes: body.length + unpacked };
  }

  /** A meme's file. */
  memeContent(memeId: string): { bytes: Uint8Array; mediaType: string } | undefined {
    const meme = this.record('memes', memeId);
    const bytes = meme && this.#store.blob(meme.content_sha256);
    return bytes && { bytes, mediaType: meme.media_type };
  }

  /** Committed events, both ends inclusive. */
  *events(from: number, to: number): Iterable<Event> {
    for (const { json } of this.#store.events(from, to)) yield JSON.parse(json) as Event;
  }

  /** Committed events with their stored texts, both ends inclusive. */
  *eventTexts(from: number, to: number): Iterable<EncodedEvent> {
    for (const { seq, json } of this.#store.events(from, to)) {
      // Canonical JSON ends with the member `type`: no need to read the rest.
      const type = json.slice(json.lastIndexOf('"type":"') + 8, -2) as EventType;
      yield { seq, type, json };
    }
  }

  /** A committed record, decoded. */
  record<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const json = this.#store.get(table, key);
    return json === undefined ? undefined : (JSON.parse(json) as RecordOf[T]);
  }

  /** Committed records of a table, in key order. */
  *records<T extends Table>(
    table: T,
    options: RangeOptions = {},
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }> {
    for (const { key, json } of this.#store.range(table, options)) {
      yield { key, value: JSON.parse(json) as RecordOf[T] };
    }
  }
}

function activeAmong(agents: Iterable<Readonly<AgentView>>): Readonly<AgentList> {
  const list: AgentList = { validators: [], producers: [] };
  for (const agent of agents) {
    if (agent.status !== 'active') continue;
    const { id, public_key, personality, status, reputation_score, blocks_produced } = agent;
    if (agent.capabilities.includes('validator')) {
      list.validators.push({ id, public_key, personality, status, reputation_score });
    }
    if (agent.capabilities.includes('producer')) {
      list.producers.push({ id, public_key, blocks_produced, status });
    }
  }
  Object.freeze(list.validators);
  Object.freeze(list.producers);
  return Object.freeze(list);
}

/*
 * The engine's reader over a store: records that are applied but not committed yet lie over those
 * on disk, because LMDB does not show its own uncommitted writes.
 */

/** What the engine reads by key while it runs; the other tables it only writes. */
const readTables: readonly Table[] = [
  'agents',
  'alliances',
  'blocks',
  'electorates',
  'equivocations',
  'memes',
  'requests',
  'transactions',
  'votes',
];

/** What it reads of a store. */
type Records = Pick<Store, 'get' | 'range'>;

/** The same for equal keys of one table, which are all of one form. */
const idOf = (key: RecordKey): string | number => (typeof key === 'object' ? key.join(' ') : key);

/** What lies over one table, by key, in the order of entries. */
type Laid = Map<string | number, { value: unknown; seq: number }>;

export class Overlay implements Reader {
  readonly #store: Records;
  readonly #proposal: (entry: number) => ProposeCommand;
  readonly #laid = new Map<Table, Laid>(readTables.map((table) => [table, new Map()]));

  constructor(store: Records, proposal: (entry: number) => ProposeCommand) {
    this.#store = store;
    this.#proposal = proposal;
  }

  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined {
    const laid = this.#laid.get(table);
    // Mostly nothing lies there: then no text is made of a key of several parts.
    const pending = laid && laid.size > 0 ? laid.get(idOf(key)) : undefined;
    if (pending) return (pending.value ?? undefined) as RecordOf[T] | undefined;
    const json = this.#store.get(table, key);
    return json === undefined ? undefined : (JSON.parse(json) as RecordOf[T]);
  }

  *range<T extends Table>(table: T, options: RangeOptions = {}) {
    for (const { key, json } of this.#store.range(table, options)) {
      yield { key, value: JSON.parse(json) as RecordOf[T] };
    }
  }

  proposal(entry: number): ProposeCommand {
    return this.#proposal(entry);
  }

  /** Lays the changes of entry `seq` over the store. */
  add(seq: number, changes: readonly Change[]): void {
    for (const { table, key, value } of changes) {
      const laid = this.#laid.get(table);
      if (!laid) continue;
      const id = idOf(key);
      // What is laid again goes to the end.
      laid.delete(id);
      laid.set(id, { value, seq });
    }
  }

  /** Takes away what entries up to `seq` laid: the store has it now. */
  remove(seq: number): void {
    for (const laid of this.#laid.values()) {
      for (const [id, pending] of laid) {
        if (pending.seq > seq) break;
        laid.delete(id);
      }
    }
  }
}
