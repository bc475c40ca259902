/**
 * Deliberations of a run. Before it votes on a block, each participant is called once a round with
 * the statements that it has received, and states a value as a remark about the block. Rounds begin
 * at fixed times after the proposal, so all participants of a round see the rounds before it, if
 * links are faster than a round. Virtual time stands still while deciders answer.
 *
 * Each agent decides from the statements it has seen when to stop. No coordinator knows more, so
 * the same code runs on a live network.
 */

import type { Preference } from '../../elections/election-data.js';
import { mix, type Stream, Streams } from '../../rng.js';
import { createTopic, findValueProblem, type Topic } from '../../scenario/deliberation.js';
import { groupSpans, ordinalsIn } from '../../scenario/population.js';
import type { Deliberation, Prompts, Role } from '../../scenario/schema/deliberation.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import {
  isExternal,
  type StrategyOf,
  type Strategy as Wanted,
} from '../../scenario/schema/strategies.js';
import { callToVote, castVote, postRemark } from '../actions.js';
import type {
  BlockTalk,
  DeliberationView,
  GivenStatement,
  ScriptedAgent,
  Strategy,
  World,
} from '../port.js';
import { castPreference } from '../preferences.js';
import { byPersonality, nameNumber } from '../strategies.js';
import { answerOf, drawNumber } from './mocks.js';
import { createDeliberationView, present, type SeenStatement } from './prompts.js';
import {
  encodeStatement,
  firstChoice,
  keyOf,
  mostFrequent,
  parseStatement,
  type Stated,
  type Statement,
  translate,
} from './statements.js';

/** Statement of a participant as it was made. */
interface MadeStatement extends SeenStatement {
  /** Time in milliseconds since 1970. */
  at: number;
  /** Private note of the decider; never sent. */
  note?: string;
  /** Ordinals of the agents whose statements the agent saw before. */
  seen: readonly number[];
}

/** End of a participant's deliberation. */
interface End {
  /** Number of rounds before it. */
  rounds: number;
  value: Stated | null;
  /** False if the rounds ran out before the condition in `until` was met. */
  agreed: boolean;
}

/** Deliberation about one block. */
export interface Sample {
  block: string;
  topic: Topic;
  statements: MadeStatement[];
  seats: Map<number, Seat>;
  /** Statements by author and message, because every agent receives each. */
  parsed: Map<string, SeenStatement | null>[];
}

interface Seat {
  role: Role;
  /** Value that the agent pursues; null without one. */
  goal: Stated | null;
  /** Initial value that the deliberation gave the agent; null without one. */
  start: Stated | null;
  last: MadeStatement | null;
  /** Round of the statement that is due; null if none is. */
  due: { round: number; seen: readonly number[] } | null;
  belief: number[];
  /** Statement whose text changed an injected agent. */
  injection: SeenStatement | null;
  end: End | null;
}

/** Hash constants for draws that are equal for all agents. */
const TRUTH = 0x7271;
const COLLUSION = 0xc011;
/** Limit on deliberations in memory. A live network forgets earlier ones. */
const MOST_SAMPLES = 20_000;
/** Limit on cached messages of an agent about a block. */
const MOST_PARSED = 1_000;
/** Remarks of an agent among which its latest statement is. Later ones may not have arrived. */
const LATEST = 4;
const LONGEST_VOTE_REASON = 200;

type Until = Deliberation['until'];

/** Strategy that answers: a mock model, or a script or an external decider. */
interface Answerer {
  inner: Strategy;
  mock: StrategyOf<'mock'> | null;
}

/** Participant that states a value about a block. */
interface Stating {
  agent: ScriptedAgent;
  world: World;
  block: BlockTalk;
  sample: Sample;
  seat: Seat;
}

/** Call of a participant about a block. */
interface Call extends Stating {
  /** Round to state a value in. */
  round: number;
  /** Statements that the agent has received and may see, and the latest of each agent. */
  history: readonly SeenStatement[];
  seen: readonly SeenStatement[];
}

export class Deliberations {
  /** Deliberations by block, in order of the first call. */
  readonly samples = new Map<string, Sample>();
  /** Ordinals of the participants, ascending. */
  readonly participants: readonly number[];
  readonly #spec: Deliberation;
  readonly #prompts: Prompts;
  readonly #streams: Streams;

  constructor(scenario: Scenario, seed: string) {
    this.#spec = scenario.deliberation!;
    this.#prompts = scenario.prompts!;
    this.#streams = new Streams(seed);
    this.participants = listParticipants(scenario);
  }

  /** Adds deliberations to a strategy that takes part in them. */
  wrap(inner: Strategy, wanted: Wanted): Strategy {
    if (!takesPart(wanted)) return inner;
    const answerer = { inner, mock: wanted.kind === 'mock' ? wanted : null };
    return {
      ...inner,
      hear: (agent, world, block) => {
        let slot = 0;
        while (slot < this.#slots && this.#startOf(slot, agent, block) < world.now) slot += 1;
        this.#schedule(slot, agent, world, block);
      },
      vote: (agent, world, block, slot) => {
        const stating = this.#stating(agent, world, block);
        if (stating.seat.end) return inner.vote(agent, world, block, slot);
        const history = this.#history(agent, world, stating.sample);
        const call = { ...stating, round: this.#roundOf(slot), history, seen: latest(history) };
        this.#turn(call, slot, answerer);
      },
      stating: (agent, world, block, given) =>
        this.#prepare(this.#stating(agent, world, block), given),
    };
  }

  #stating(agent: ScriptedAgent, world: World, block: BlockTalk): Stating {
    const sample = this.#sample(world, block);
    return { agent, world, block, sample, seat: this.#seat(sample, agent, world, block) };
  }

  #sample(world: World, block: BlockTalk): Sample {
    const known = this.samples.get(block.hash);
    if (known) return known;
    const topic = topicOf(this.#spec, world, block, () => this.#drawn(world, block, TRUTH));
    const sample = { block: block.hash, topic, statements: [], seats: new Map(), parsed: [] };
    this.samples.set(block.hash, sample);
    if (this.samples.size > MOST_SAMPLES) this.samples.delete(this.samples.keys().next().value!);
    return sample;
  }

  #seat({ topic, seats }: Sample, agent: ScriptedAgent, world: World, block: BlockTalk): Seat {
    const known = seats.get(agent.ordinal);
    if (known) return known;
    const { role = { kind: 'honest' } } = agent.group;
    const operator = () => this.#drawn(world, block, mix(COLLUSION, nameNumber(agent)));
    const isNumber = topic.kind === 'number';
    const seat: Seat = {
      role,
      goal: goalOf(role, topic, operator),
      start: isNumber ? drawNumber(topic, agent.rng('deliberation/start', block)) : null,
      ...{ last: null, due: null, belief: [], injection: null, end: null },
    };
    seats.set(agent.ordinal, seat);
    return seat;
  }

  /** Returns draws about a block that are equal for all agents. */
  #drawn(world: World, { place, number }: BlockTalk, purpose: number): Stream {
    const salt = mix(world.seedNumber, purpose);
    return this.#streams.about(salt, 'deliberation/common', { place, number });
  }

  /** Number of calls of each agent before the last. */
  get #slots(): number {
    const { turns, rounds } = this.#spec;
    return turns === 'one' ? rounds * this.participants.length : rounds;
  }

  #roundOf(slot: number): number {
    return this.#spec.turns === 'one' ? Math.floor(slot / this.participants.length) : slot;
  }

  #startOf(slot: number, agent: ScriptedAgent, block: BlockTalk): number {
    const { round_ms, timing } = this.#spec;
    const isDrawn = timing === 'asynchronous' && slot < this.#slots;
    const after = isDrawn ? agent.rng('deliberation/time', block, slot).int(round_ms) : 0;
    return block.proposedAt + (slot + 1) * round_ms + after;
  }

  #schedule(slot: number, agent: ScriptedAgent, world: World, block: BlockTalk): void {
    const after = Math.max(0, this.#startOf(slot, agent, block) - world.now);
    callToVote(agent, world, block, after, slot);
  }

  #turn(call: Call, slot: number, { inner, mock }: Answerer): void {
    const { agent, world, block, seat, round, seen } = call;
    const { turns, vote } = this.#spec;
    const agreed = this.#agreement(call);
    const isSilent = seat.role.kind === 'silent';
    if (agreed !== null || slot >= this.#slots) {
      this.#end(call, slot, agreed);
      if (isSilent) return;
      if (vote === 'strategy') inner.vote(agent, world, block, 0);
      else this.#vote(call);
      return;
    }
    this.#schedule(slot + 1, agent, world, block);
    const speaker = this.participants[slot % this.participants.length];
    if (isSilent || (turns === 'one' && speaker !== agent.ordinal)) return;
    seat.due = { round, seen: seen.map((one) => one.agent) };
    const { kind, trigger } = seat.role;
    if (kind === 'injected' && trigger !== undefined) {
      seat.injection ??= seen.find(({ reason }) => reason?.includes(trigger)) ?? null;
    }
    if (mock) this.#state(call, this.#answer(call, mock));
    else inner.deliberate?.(agent, world, block, this.#view(call));
  }

  #view(call: Call): DeliberationView {
    const { sample, seat, ...shown } = call;
    const { role, goal, start, last } = seat;
    return createDeliberationView({
      ...shown,
      ...{ spec: this.#spec, prompts: this.#prompts, topic: sample.topic },
      ...{ role, goal, start, own: last?.value ?? null, participants: this.participants.length },
    });
  }

  #answer(call: Call, mock: StrategyOf<'mock'>): GivenStatement {
    const { agent, world, block, seat, seen, sample, round } = call;
    const { role, injection } = seat;
    const stop = this.#agreement(call, 'share') !== null;
    const stops = stop ? { stop } : {};
    if (injection) return { value: injection.value, reason: injection.reason!, ...stops };
    if (role.kind === 'liar' || role.kind === 'colluding') {
      return { value: seat.goal, ...(role.says === undefined ? {} : { reason: role.says }) };
    }
    const value = answerOf(mock, {
      topic: sample.topic,
      round,
      own: seat.last?.value ?? null,
      start: seat.start,
      seen: seen.map((one) => one.value),
      shown: present(sample.topic, this.#prompts, agent, block).options,
      rng: agent.rng('deliberation', block, round),
      common: () => this.#drawn(world, block, nameNumber(agent)),
      belief: seat.belief,
    });
    return { value, ...stops };
  }

  /** @throws {TypeError} if no statement is due, or if the value is not allowed. */
  #prepare(call: Stating, given: GivenStatement) {
    const { agent, block, seat, sample } = call;
    const { topic } = sample;
    if (seat.due === null) throw new TypeError('no statement is due; use state in deliberate only');
    const { options, labels } = present(topic, this.#prompts, agent, block);
    const problem = findValueProblem(given.value, { ...topic, options: labels });
    if (problem !== null) {
      const text = (JSON.stringify(given.value) ?? 'missing').slice(0, 100);
      throw new TypeError(`invalid value: ${text}; expected ${problem}`);
    }
    const value = translate(given.value, topic.kind, labels, options);
    if (encodeStatement({ ...given, value, round: seat.due.round }) === null) {
      throw new TypeError('statement too large; use a shorter reason');
    }
    return () => this.#state(call, { ...given, value });
  }

  /** Makes the statement that is due, as a remark. Ignores a second one. */
  #state(
    { agent, world, block, sample, seat }: Stating,
    { value, reason, note, stop }: GivenStatement,
  ): void {
    if (seat.due === null) return;
    const { round, seen } = seat.due;
    seat.due = null;
    const said = { round, value, ...(reason === undefined ? {} : { reason }) };
    const statement: Statement = stop ? { ...said, stop } : said;
    const post = (one: Statement) => {
      const made = { ...one, agent: agent.ordinal, at: world.now, seen };
      sample.statements.push(note === undefined ? made : { ...made, note });
      const stance = firstChoice(one.value, sample.topic) === 'reject' ? 'reject' : 'approve';
      const { reason: _, ...bare } = one;
      postRemark(agent, world, block, stance, encodeStatement(one) ?? encodeStatement(bare)!);
    };
    const equivocates = seat.role.kind === 'equivocating' && seat.goal !== null;
    post(equivocates ? { ...statement, half: 0 } : statement);
    seat.last = sample.statements.at(-1)!;
    if (equivocates) post({ ...statement, value: seat.goal, half: 1 });
  }

  /** Returns received statements that the agent may see. Memory last needs the latest only. */
  #history({ ordinal }: ScriptedAgent, world: World, sample: Sample): SeenStatement[] {
    const most = this.#spec.memory === 'last' ? LATEST : undefined;
    const seen: SeenStatement[] = [];
    for (const { agent, message } of world.receivedRemarks(ordinal, sample.block, most)) {
      if (!this.#sees(ordinal, agent)) continue;
      const statement = parseOnce(agent, message, sample);
      // An equivocating agent addresses each of its statements to half of the agents.
      if (statement && (statement.half ?? ordinal % 2) === ordinal % 2) seen.push(statement);
    }
    return seen;
  }

  #sees(agent: number, other: number): boolean {
    const { sees, nearest } = this.#spec;
    const { participants } = this;
    if (sees === 'all') return true;
    const [to, from] = [participants.indexOf(agent), participants.indexOf(other)];
    if (sees === 'hub') return to === 0 || from === 0;
    const apart = Math.abs(to - from);
    return from >= 0 && 2 * Math.min(apart, participants.length - apart) <= nearest;
  }

  /** Returns the value on which enough participants agree in what the agent sees, or null. */
  #agreement({ seat, seen }: Call, until: Until = this.#spec.until): { value: Stated } | null {
    const { share, tolerance } = this.#spec;
    const { last } = seat;
    const statements: readonly SeenStatement[] = last ? [last, ...seen] : seen;
    if (until === 'rounds' || statements.length === 0) return null;
    const all = this.participants.length;
    const values = statements.map(({ value }) => value);
    if (until === 'votes') {
      const stops = statements.filter(({ stop }) => stop).length;
      return stops >= share * all ? { value: values[0] } : null;
    }
    const common = commonValue(values, tolerance);
    const isEnough: Record<Exclude<Until, 'rounds' | 'votes'>, (count: number) => boolean> = {
      unanimity: (count) => count === all,
      majority: (count) => 2 * count > all,
      share: (count) => count >= share * all,
    };
    return common !== null && isEnough[until](common.count) ? { value: common.value } : null;
  }

  #end({ seat, seen }: Call, slot: number, agreed: { value: Stated } | null): void {
    seat.due = null;
    // An agent that has stated nothing adopts the value of the others.
    const adopted = agreed ?? mostFrequent(seen.map(({ value }) => value));
    const isAgreed = agreed !== null || this.#spec.until === 'rounds';
    const perRound = this.#spec.turns === 'one' ? this.participants.length : 1;
    const rounds = Math.ceil(slot / perRound);
    seat.end = { rounds, value: seat.last?.value ?? adopted?.value ?? null, agreed: isAgreed };
  }

  /** Casts the vote that follows from the last value. */
  #vote(call: Call): void {
    const { agent, world, block, sample, seat } = call;
    const { topic } = sample;
    const { value } = seat.end!;
    if (value === null) return;
    const reason = `states ${keyOf(value)}`.slice(0, LONGEST_VOTE_REASON);
    if (topic.kind === 'decision') {
      const decision = value as 'approve' | 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, reason });
    } else if (block.options.length > 0 && topic.options.length > 0) {
      castPreference(agent, world, block, toPreference(value, topic, block));
    } else {
      const { until } = this.#spec;
      const isAgreed = this.#agreement(call, until === 'rounds' ? 'majority' : until) !== null;
      const decision = isAgreed ? 'approve' : 'reject';
      castVote(agent, world, block, { decision, withoutMemes: decision, reason });
    }
  }
}

function parseOnce(agent: number, message: string, { topic, parsed }: Sample) {
  parsed[agent] ??= new Map();
  const known = parsed[agent];
  const found = known.get(message);
  if (found !== undefined) return found;
  if (known.size >= MOST_PARSED) known.clear();
  const statement = parseStatement(message, topic);
  const seen = statement && { ...statement, agent };
  known.set(message, seen);
  return seen;
}

const takesPart = (strategy: Wanted): boolean =>
  strategy.kind === 'mock' || strategy.kind === 'script' || isExternal(strategy);

/** Returns the ordinals of validators that take part. */
const listParticipants = (scenario: Scenario): number[] =>
  groupSpans(scenario)
    .filter(({ group }) => takesPart(group.strategy) && group.capabilities.includes('validator'))
    .flatMap(ordinalsIn);

/** Returns the topic of a block. Blocks ask the questions in turn. */
function topicOf(spec: Deliberation, world: World, block: BlockTalk, drawn: () => Stream): Topic {
  const { questions } = spec;
  const order = block.number * world.producers.length + world.producers.indexOf(block.producer);
  const asked = questions?.[Math.max(0, order) % questions.length];
  const topic = createTopic(spec, asked, block.options);
  return topic.isDrawn ? { ...topic, truth: drawn().pick(topic.options) } : topic;
}

/** Returns the value that a role pursues; null if it pursues none. */
function goalOf({ kind, goal }: Role, topic: Topic, operator: () => Stream): Stated | null {
  if (kind === 'honest' || kind === 'silent' || kind === 'injected') return null;
  if (goal !== undefined) return goal;
  const { options, most } = topic;
  if (topic.kind === 'number') return kind === 'colluding' ? drawNumber(topic, operator()) : most;
  if (topic.kind === 'text') return 'no';
  const wanted = kind === 'colluding' ? operator().pick(options) : options.at(-1)!;
  if (topic.kind === 'ranking') return [wanted];
  return topic.kind === 'scores' ? { [wanted]: most } : wanted;
}

/** Returns the latest statement of each agent, by ordinal. Of two in a round, the first counts. */
function latest(history: readonly SeenStatement[]): SeenStatement[] {
  const byAgent = new Map<number, SeenStatement>();
  for (const one of history) {
    const known = byAgent.get(one.agent);
    if (!known || one.round > known.round) byAgent.set(one.agent, one);
  }
  return [...byAgent.values()];
}

/** Returns the most frequent value; of numbers with a tolerance, those near the first value. */
function commonValue(values: readonly Stated[], tolerance: number) {
  if (tolerance === 0) return mostFrequent(values);
  const [value] = values;
  const isNear = (one: Stated) => Math.abs(Number(one) - Number(value)) <= tolerance;
  return { value, count: values.filter(isNear).length };
}

function toPreference(value: Stated, { kind }: Topic, { options }: BlockTalk): Preference {
  const place = (name: unknown) => options.indexOf(name as string);
  const named = (names: readonly unknown[]) => names.map(place).filter((at) => at >= 0);
  if (kind === 'option') return { tiers: [named([value])] };
  if (kind === 'ranking') return { tiers: named(value as string[]).map((at) => [at]) };
  const points = value as Record<string, number>;
  const levels = [...new Set(Object.values(points))].sort((a, b) => b - a);
  const tiers = levels.map((level) => {
    return named(Object.keys(points).filter((name) => points[name] === level));
  });
  return { tiers: tiers.filter((tier) => tier.length > 0) };
}

/** Strategy of mock models. A deliberation asks them, and they do nothing else. */
export const mockStrategy: Strategy = { ...byPersonality, hear() {}, vote() {} };
