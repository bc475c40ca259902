/**
 * Measured agents and groups: activity, producers' waiting times, reputation, and alliances. Agents
 * outside the scenario count only in totals.
 */
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { AnswerCost } from '../agents/port.js';
import { Ordinals } from '../scenario/population.js';
import type { Personality } from '../scenario/schema/personalities.js';
import type { RefusedWhy } from '../world/observer.js';
import { Mean, share } from './statistics.js';

export interface MeasuredAgent {
  /** Position in the list, from 0. */
  ordinal: number;
  id: string;
  name: string;
  group: string;
  personality: string;
  strategy: string;
  capabilities: readonly string[];
  /** Personality traits, with the group's changes. */
  traits: Personality;
}

/** Ordinal and group number for an agent outside the population. */
export const NOT_IN_POPULATION = -1;

export class Population {
  readonly agents: readonly MeasuredAgent[];
  readonly groups: readonly string[];
  readonly #ordinals: Ordinals;
  readonly #groupOf: Int32Array;

  /** @param ordinals agents' ordinals by id. */
  constructor(
    groups: readonly string[],
    agents: readonly MeasuredAgent[],
    ordinals = new Ordinals(agents),
  ) {
    this.agents = agents;
    this.groups = groups;
    this.#ordinals = ordinals;
    const numbers = new Map(groups.map((name, index) => [name, index]));
    this.#groupOf = Int32Array.from(agents, ({ ordinal, group }, index) => {
      const number = numbers.get(group);
      if (ordinal === index && number !== undefined) return number;
      throw new Error(
        `agent ${ordinal} of group ${group} at position ${index}: list and groups differ`,
      );
    });
  }

  ordinalOf(agentId: string): number {
    return this.#ordinals.get(agentId) ?? NOT_IN_POPULATION;
  }

  groupOf(ordinal: number): number {
    return ordinal === NOT_IN_POPULATION ? NOT_IN_POPULATION : this.#groupOf[ordinal]!;
  }

  sizes(): number[] {
    const sizes = this.groups.map(() => 0);
    for (const group of this.#groupOf) sizes[group]! += 1;
    return sizes;
  }
}

export const deciderDeeds = [
  'decider_questions',
  'decider_calls',
  'decider_failures',
  'decider_input_tokens',
  'decider_output_tokens',
] as const;

const kinds = [
  ...(['blocks_proposed', 'blocks_finalized', 'votes', 'approvals', 'late_votes'] as const),
  ...(['equivocations', 'memes', 'transactions'] as const),
  ...deciderDeeds,
] as const;

type Deed = (typeof kinds)[number];
type DeciderDeed = (typeof deciderDeeds)[number];

/** Returns the figures of external deciders, by name. */
export const toDeciderFigures = (figureOf: (deed: DeciderDeed) => number) =>
  Object.fromEntries(deciderDeeds.map((deed) => [deed, figureOf(deed)])) as Record<
    DeciderDeed,
    number
  >;

type Deeds = Record<Deed, number>;

/** Activity counts per agent and group. */
export class Activity {
  readonly #population: Population;
  readonly #counts: Record<Deed, Float64Array>;

  constructor(population: Population) {
    this.#population = population;
    const size = population.agents.length;
    const columns = kinds.map((kind) => [kind, new Float64Array(size)]);
    this.#counts = Object.fromEntries(columns) as Record<Deed, Float64Array>;
  }

  /** Counts an activity. Ignores agents outside the population. */
  add(deed: Deed, ordinal: number, times = 1): void {
    if (ordinal !== NOT_IN_POPULATION) this.#counts[deed][ordinal]! += times;
  }

  asked(ordinal: number, { calls, failure, inputTokens, outputTokens }: AnswerCost): void {
    this.add('decider_questions', ordinal);
    this.add('decider_calls', ordinal, calls);
    if (failure !== null) this.add('decider_failures', ordinal);
    this.add('decider_input_tokens', ordinal, inputTokens);
    this.add('decider_output_tokens', ordinal, outputTokens);
  }

  of(ordinal: number): Deeds {
    const pairs = kinds.map((kind) => [kind, this.#counts[kind][ordinal]!]);
    return Object.fromEntries(pairs) as Deeds;
  }

  byGroup(deed: Deed): number[] {
    const sums = this.#population.groups.map(() => 0);
    const counts = this.#counts[deed];
    for (let ordinal = 0; ordinal < counts.length; ordinal += 1) {
      sums[this.#population.groupOf(ordinal)]! += counts[ordinal]!;
    }
    return sums;
  }

  deciders() {
    return toDeciderFigures((deed) => this.total(deed));
  }

  total(deed: Deed): number {
    return this.byGroup(deed).reduce((sum, count) => sum + count, 0);
  }
}

/** Scale of integer scores. Scores are integers, as in the engine, so that sums are exact. */
const PARTS = 10_000;
const START = 50 * PARTS;

/** Overall reputation, computed from events as running sums by group. */
export class PublishedReputation {
  readonly #population: Population;
  /** Scores by ordinal; -1 before the agent is met. `#strangers` has those of other agents. */
  readonly #scores: Int32Array;
  readonly #strangers = new Map<string, number>();
  readonly #sums: number[];
  readonly #counts: number[];

  constructor(population: Population) {
    this.#population = population;
    this.#scores = new Int32Array(population.agents.length).fill(-1);
    this.#sums = [0, ...population.groups.map(() => 0)];
    this.#counts = [0, ...population.groups.map(() => 0)];
  }

  meet(agentId: string): void {
    this.#set(agentId, null);
  }

  publish(agentId: string, score: number): void {
    this.#set(agentId, Math.round(score * PARTS));
  }

  /** Returns a group's mean; without a group, the whole network's mean. */
  mean(group = NOT_IN_POPULATION): number | null {
    return share(this.#sums[group + 1]! / PARTS, this.#counts[group + 1]!);
  }

  /** Sets a score. Null keeps the score of a known agent, and lets another agent start. */
  #set(agentId: string, wanted: number | null): void {
    const ordinal = this.#population.ordinalOf(agentId);
    const isMember = ordinal !== NOT_IN_POPULATION;
    const known = isMember ? this.#scores[ordinal]! : (this.#strangers.get(agentId) ?? -1);
    if (known >= 0 && wanted === null) return;
    const score = wanted ?? START;
    if (isMember) this.#scores[ordinal] = score;
    else this.#strangers.set(agentId, score);
    const group = this.#population.groupOf(ordinal);
    for (const place of group === NOT_IN_POPULATION ? [0] : [0, group + 1]) {
      this.#sums[place]! += score - Math.max(0, known);
      if (known < 0) this.#counts[place]! += 1;
    }
  }
}

const noRoom = new Set<RefusedWhy>(['TOO_MANY_OPEN', 'BLOCKS_USED']);
const takers = new Set(['vote_exhauster', 'slot_holder']);

/** Producers' waiting times for a slot, without those whose strategy takes slots from others. */
export class Waits {
  /** Start of the current wait. */
  readonly #since = new Map<number, number>();
  #longest = 0;

  constructor(private readonly agents: readonly MeasuredAgent[]) {}

  refused(agent: number, why: RefusedWhy, at: number): void {
    const strategy = this.agents[agent]?.strategy;
    if (!noRoom.has(why) || strategy === undefined || takers.has(strategy)) return;
    if (!this.#since.has(agent)) this.#since.set(agent, at);
  }

  /** Called for an accepted proposal. */
  proposed(agent: number, at: number): void {
    const since = this.#since.get(agent);
    if (since === undefined) return;
    this.#longest = Math.max(this.#longest, at - since);
    this.#since.delete(agent);
  }

  /** Discards earlier waits. Current waits restart now. */
  forget(at: number): void {
    this.#longest = 0;
    for (const agent of this.#since.keys()) this.#since.set(agent, at);
  }

  /** Returns the longest wait. Waits that are unfinished at the end count up to the end. */
  longest(endMs: number): number {
    return Math.max(this.#longest, ...[...this.#since.values()].map((since) => endMs - since));
  }
}

interface Active {
  /** True if the alliance was active before the warm-up ended, and is in no measure. */
  beforeMeasuring: boolean;
  since: number;
  largest: number;
  members: readonly string[];
}

/** Alliances that became active: number, size, lifetime, and current members. */
export class Alliances {
  readonly #active = new Map<string, Active>();
  readonly #over: { largest: number; lifetimeMs: number }[] = [];

  get active(): number {
    return this.#active.size;
  }

  get ids(): string[] {
    return [...this.#active.keys()];
  }

  update({ alliance_id: id, status, members }: EventData['alliance_update'], at: number): void {
    const known = this.#active.get(id);
    if (status === 'active') {
      const joined = members.filter(({ role }) => role !== 'invited').map((member) => member.id);
      const largest = Math.max(known?.largest ?? 0, joined.length);
      const { beforeMeasuring = false, since = at } = known ?? {};
      this.#active.set(id, { beforeMeasuring, since, largest, members: joined });
    } else if (known) {
      this.#active.delete(id);
      if (!known.beforeMeasuring)
        this.#over.push({ largest: known.largest, lifetimeMs: at - known.since });
    }
  }

  /** Excludes existing alliances from all measures, but keeps their members. */
  endWarmUp(): void {
    this.#over.length = 0;
    for (const one of this.#active.values()) one.beforeMeasuring = true;
  }

  memberships(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { members } of this.#active.values()) {
      for (const id of members) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  measures(endMs: number) {
    const size = new Mean();
    const lifetime = new Mean();
    const counted = [...this.#active.values()].filter(({ beforeMeasuring }) => !beforeMeasuring);
    const still = counted.map(({ largest, since }) => ({ largest, lifetimeMs: endMs - since }));
    for (const { largest, lifetimeMs } of [...this.#over, ...still]) {
      size.add(largest);
      lifetime.add(lifetimeMs);
    }
    return {
      alliances: this.#over.length + still.length,
      alliance_size_mean: size.value,
      alliance_lifetime_mean_ms: lifetime.value,
      alliances_at_end: still.length,
    };
  }
}
