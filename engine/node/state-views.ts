/**
 * Reads of a network's state that need its records, but not its log. `Views` reads them from a
 * store, and a network without a log from memory.
 */
import { allianceData } from '../core/alliances.js';
import { outcomeOf } from '../core/blocks.js';
import type { Summary } from '../core/engine.js';
import { computeTps } from '../core/state.js';
import { blockOf } from '../protocol/schema/block.js';
import type { EventData } from '../protocol/schema/event.js';
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
import { ruleOf } from '../rules/network-rule.js';
import { createElectors, PollCounter } from '../rules/poll-counter.js';
import type { Tie } from '../rules/rule.js';
import type { Batch, RangeOptions, StoreMeta } from '../store/store.js';
import type { Clock } from './clock.js';

/** State at the end of a committed batch. */
export interface CommittedView {
  meta: StoreMeta;
  summary: Summary;
}

/** Maximum number of cached agents. */
const MOST_ROWS = 100_000;
/** Number of records read at once, without a pause. */
const AT_ONCE = 50;
/** Number of attempts to read a list while entries arrive. */
const ROUNDS = 3;

/** Converts a score to the range 0 to 100. */
const shown = (score: number) => score / 10_000;

/** Reads of state. Ids and hashes are lower-case hex. */
export abstract class StateViews {
  readonly #genesis: Genesis;
  readonly #clock: Clock;
  #view: CommittedView;
  /** Cached responses, valid for one millisecond or one view. Frozen because callers share them. */
  #state: { outside: number; value: Readonly<NetworkState> } | null = null;
  #agents: Readonly<AgentList> | null = null;
  /** Cached agents, dropped when they change, and their ids by ordinal. */
  readonly #rows = new Map<string, Readonly<AgentView>>();
  readonly #ids = new Map<number, string>();

  /** @internal */
  constructor(genesis: Genesis, clock: Clock, view: CommittedView) {
    this.#genesis = genesis;
    this.#clock = clock;
    this.#view = view;
  }

  abstract record<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined;

  /** Yields a table's records, in key order. */
  abstract records<T extends Table>(
    table: T,
    options?: RangeOptions,
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }>;

  /**
   * Replaces the committed view.
   *
   * @param changes the changed records; if omitted, any record may have changed.
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

  /** End of the committed log, with its digests. */
  get position(): StoreMeta {
    return this.#view.meta;
  }

  /** Returns the network's current state. */
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

  /** Returns an agent, or undefined for an unknown id. */
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

  /** Yields all registered agents, by ascending id. */
  *agents(): Iterable<Readonly<AgentView>> {
    for (const { value } of this.records('agents')) yield this.#agent(value);
  }

  /** Returns all active agents, by ascending id. */
  activeAgents(): Readonly<AgentList> {
    this.#agents ??= activeAmong(this.agents());
    return this.#agents;
  }

  /**
   * As `activeAgents`, but yields after each agent, so that the caller can pause. If entries keep
   * arriving meanwhile, the rows can reflect different entries.
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

  /** Returns an agent's scores, or undefined for an unknown id. */
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

  /** Yields blocks, newest first. `before` is an ordinal, exclusive. */
  *blocks(before?: number): Iterable<BlockView & { ordinal: number }> {
    const to = before === undefined ? {} : { to: before };
    for (const { value } of this.records('block_numbers', { reverse: true, ...to })) {
      const block = this.record('blocks', value.block_hash)!;
      yield { ...this.#blockView(block), ordinal: block.context.ordinal };
    }
  }

  /** Returns a block, or undefined for an unknown hash. */
  block(hash: string): BlockView | undefined {
    const block = this.record('blocks', hash);
    return block && this.#blockView(block);
  }

  /** Returns the tie in a finalized block that the order of its options decided, or null. */
  findTie(hash: string): Tie | null {
    const { state, context } = this.record('blocks', hash) ?? {};
    if (state !== 'finalized' || context?.choice === undefined) return null;
    const { ordinal, height, electorate, options = [], proposed_at } = context;
    const { agents, weights } = this.record('electorates', electorate)!;
    const electors = agents.map((agent, at) => ({ agent, weight: weights[at]!, personality: '' }));
    const counter = new PollCounter(
      ruleOf(this.#genesis),
      { hash, height, options },
      createElectors(electors),
    );
    const places = new Map(agents.map((agent, at) => [agent, at]));
    for (const { key, value } of this.records('votes', { from: [ordinal], to: [ordinal + 1] })) {
      const agent = (key as readonly number[])[1]!;
      const { at, ...vote } = value;
      const by = { elector: places.get(agent)!, agent_id: '', personality: '' };
      counter.add({ ...vote, ...by, ms: at - proposed_at });
    }
    return counter.findTie();
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
        needed: ruleOf(this.#genesis).needed({ ...context, reject }),
      },
      transactions: context.transactions,
      voting_deadline: formatInstant(context.deadline),
      timestamp: formatInstant(context.proposed_at),
      closed_at: context.closed_at === 0 ? null : formatInstant(context.closed_at),
      ...(context.options ? { options: context.options } : {}),
      ...outcomeOf(context),
    };
  }

  /** Counts the votes on an open block, whose record contains no tally yet. */
  #countVotes({ ordinal, electorate }: RecordOf['blocks']['context']) {
    const { agents, weights } = this.record('electorates', electorate)!;
    const weightOf = new Map(agents.map((agent, position) => [agent, weights[position]!]));
    const tally = { approve: 0, reject: 0 };
    for (const { key, value } of this.records('votes', { from: [ordinal], to: [ordinal + 1] })) {
      tally[value.decision] += weightOf.get((key as readonly number[])[1]!)!;
    }
    return tally;
  }

  /** Returns an electorate's electors with their weights. */
  electors(id: number): { agent_id: string; public_key: string; weight: number }[] {
    const { agents, weights } = this.record('electorates', id)!;
    return agents.map((ordinal, position) => {
      const { agent_id } = this.record('agent_numbers', ordinal)!;
      const { public_key } = this.record('agents', agent_id)!;
      return { agent_id, public_key, weight: weights[position]! };
    });
  }

  /** Yields alliances in their current state, by ascending id. */
  *alliances(options: RangeOptions = {}): Iterable<EventData['alliance_update']> {
    for (const { value } of this.records('alliances', options)) {
      yield allianceData(value.state, value.context);
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
