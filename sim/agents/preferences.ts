/**
 * Strategies whose agents have preferences over a block's options: ballots of election data, and
 * preferences drawn from a culture. A preference becomes the ballot that the network's rule takes.
 */
import { bisect, type NetworkRule } from '../../engine/rules/network-rule.js';
import type { Preference } from '../elections/election-data.js';
import { type BallotForm, findBallotForm } from '../elections/rule-ballots.js';
import type { Stream } from '../rng.js';
import type { ReadElection } from '../scenario/files.js';
import type { StrategyOf } from '../scenario/schema/strategies.js';
import { castVote, judgeBlock } from './actions.js';
import type { BlockTalk, ScriptedAgent, Strategy, World } from './port.js';
import { byPersonality } from './strategies.js';

interface BallotsOptions {
  strategy: StrategyOf<'ballots'>;
  election: ReadElection;
  /** Ordinal of the first agent of each group. */
  firstOf: ReadonlyMap<string, number>;
}

/** Casts the ballots of election data. */
export function createBallots({ strategy, election, firstOf }: BallotsOptions): Strategy {
  const { take, approves } = strategy;
  const { ballots, voters, options } = election;
  let sum = 0;
  const ends = ballots.map(({ count }) => {
    sum += count;
    return sum;
  });
  const ballotAt = (voter: number): Preference =>
    ballots[bisect(0, ballots.length - 1, (at) => ends[at]! > voter)]!.ballot;
  const own = new WeakMap<ScriptedAgent, Preference>();
  const preferenceOf = (agent: ScriptedAgent): Preference => {
    let known = own.get(agent);
    if (!known) {
      const listed = agent.ordinal - firstOf.get(agent.group.group)!;
      const voter = take === 'drawn' ? agent.rng('election').int(voters) : listed;
      known = ballotAt(voter);
      own.set(agent, known);
    }
    return known;
  };
  return {
    ...byPersonality,
    vote(agent, world, block) {
      const preference = restrict(preferenceOf(agent), options, block.options);
      castPreference(agent, world, block, preference, approves);
    },
  };
}

/** Returns the preference over the options of a block, without the alternatives that it lacks. */
function restrict(
  { tiers, points }: Preference,
  names: readonly string[],
  options: readonly string[],
): Preference {
  if (options.length === 0) return points ? { tiers, points } : { tiers };
  const positions = names.map((name) => options.indexOf(name));
  const kept = points?.filter((_, at) => positions[tiers.flat()[at]!]! >= 0);
  const rest = tiers
    .map((tier) => tier.map((one) => positions[one]!).filter((position) => position >= 0))
    .filter(({ length }) => length > 0);
  return kept ? { tiers: rest, points: kept } : { tiers: rest };
}

/** Draws preferences from a culture. */
export function createCulture(strategy: StrategyOf<'culture'>): Strategy {
  const once = new WeakMap<ScriptedAgent, readonly number[]>();
  const drawOnce = (agent: ScriptedAgent, count: number): readonly number[] => {
    const known = once.get(agent);
    if (known?.length === count) return known;
    const order = drawOrder(strategy, count, agent.rng('preferences'));
    once.set(agent, order);
    return order;
  };
  return {
    ...byPersonality,
    vote(agent, world, block) {
      if (agent.rng('abstaining', block).chance(agent.personality.abstains)) return;
      if (findBallotForm(world.rule) === 'votes') {
        castVotes(agent, world, block);
        return;
      }
      const count = block.options.length;
      const order =
        strategy.draws === 'run'
          ? drawOnce(agent, count)
          : drawOrder(strategy, count, agent.rng('preferences', block));
      const tiers = order.map((option) => [option]);
      const approves = strategy.approves ?? Math.ceil(count / 2);
      castPreference(agent, world, block, { tiers }, approves);
    },
  };
}

function drawOrder(
  { culture, dispersion }: StrategyOf<'culture'>,
  count: number,
  rng: Stream,
): readonly number[] {
  const options = Array.from({ length: count }, (_, option) => option);
  if (culture === 'impartial') return rng.shuffle(options);
  return culture === 'mallows' ? drawMallows(options, dispersion, rng) : drawLine(options, rng);
}

/**
 * Draws a ranking of the Mallows model by repeated insertion (Doignon, Pekeč and Regenwetter 2004,
 * Psychometrika 69): the options are inserted in order of the list, and each position further from
 * the end is less probable by the factor `dispersion`.
 */
function drawMallows(options: readonly number[], dispersion: number, rng: Stream): number[] {
  const order: number[] = [];
  for (const option of options) {
    const places = [order.length];
    const weights = [1];
    for (let place = order.length - 1; place >= 0; place -= 1) {
      places.push(place);
      weights.push(weights.at(-1)! * dispersion);
    }
    order.splice(rng.choice(places, weights), 0, option);
  }
  return order;
}

/**
 * Draws a position on a line on which the options are equally spaced. The nearest option is
 * preferred.
 */
function drawLine(options: readonly number[], rng: Stream): number[] {
  const position = rng.real() * options.length;
  const distance = (option: number) => Math.abs(option + 0.5 - position);
  return [...options].sort((one, other) => distance(one) - distance(other) || one - other);
}

/** Casts a vote with a drawn number of votes, of which n cost n² credits. */
function castVotes(agent: ScriptedAgent, world: World, block: BlockTalk): void {
  const { credits = 1 } = world.rule.values;
  let most = 1;
  while ((most + 1) * (most + 1) <= credits) most += 1;
  const ballot = { votes: 1 + agent.rng('preferences', block).int(most) };
  castVote(agent, world, block, { ...judgeBlock(agent, world, block), ballot });
}

const reasons = {
  approve: 'a ballot with its preferences',
  reject: 'it wants none of the options',
} as const;

/** Approves the block with a ballot, or rejects it if no option is preferred. */
function castPreference(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  preference: Preference,
  approves: number,
): void {
  const isWanted = preference.tiers.length > 0 || block.options.length === 0;
  const decision = isWanted ? 'approve' : 'reject';
  const form = findBallotForm(world.rule);
  const wanted =
    isWanted && form !== null && block.options.length > 0
      ? makers[form](preference, { options: block.options, approves, rule: world.rule })
      : undefined;
  // A module can refuse ballots for reasons of its own. A vote without a ballot is always valid.
  const isValid = wanted !== undefined && !world.rule.findBallotProblem(wanted, block);
  const ballot = isValid ? { ballot: wanted } : {};
  const reason = reasons[decision];
  castVote(agent, world, block, { decision, withoutMemes: decision, reason, ...ballot });
}

interface Making {
  options: readonly string[];
  /** Smallest number of options that an approval names, in whole tiers. */
  approves: number;
  rule: NetworkRule;
}

type Maker = (preference: Preference, making: Making) => object | undefined;

/** Ballots by form. A ballot is undefined if the preference does not distinguish the options. */
const makers: Record<BallotForm, Maker> = {
  option({ tiers }, { options }) {
    const [best] = flatten(tiers, options.length);
    return best === undefined ? undefined : { option: options[best]! };
  },
  ranking({ tiers }, { options }) {
    const order = flatten(tiers, options.length);
    return order.length === 0 ? undefined : { ranking: order.map((one) => options[one]!) };
  },
  approved({ tiers }, { options, approves }) {
    const approved: number[] = [];
    for (const tier of tiers) if (approved.length < approves) approved.push(...tier);
    return { approved: approved.sort((one, other) => one - other).map((one) => options[one]!) };
  },
  scores({ tiers, points }, { options, rule }) {
    const highest = rule.values.highest ?? options.length - 1;
    if (points) {
      const entries = tiers.flat().map((one, at) => [options[one]!, points[at]!] as const);
      return {
        scores: Object.fromEntries(entries.map(([name, one]) => [name, Math.min(one, highest)])),
      };
    }
    const scores: Record<string, number> = {};
    let above = 0;
    for (const tier of tiers) {
      above += tier.length;
      const below = options.length - above;
      // A tier at the end, and the only tier of an approval, has the score of its best place.
      const best = tier === tiers[0] ? options.length - 1 : below;
      const score = Math.floor((highest * best) / Math.max(1, options.length - 1));
      for (const one of tier) scores[options[one]!] = score;
    }
    return { scores };
  },
  votes: () => undefined,
};

/**
 * Returns the order without its last tier if this tier is tied and completes the order, because a
 * ranking has no preference between the options that it leaves out. Other ties follow the list of
 * options.
 */
function flatten(tiers: readonly (readonly number[])[], options: number): number[] {
  const last = tiers.at(-1) ?? [];
  const named = tiers.reduce((sum, { length }) => sum + length, 0);
  const rest = named === options && last.length > 1 ? tiers.slice(0, -1) : tiers;
  return rest.flatMap((tier) => [...tier].sort((one, other) => one - other));
}
