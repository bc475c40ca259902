/**
 * Strategies whose agents have preferences over a block's options: ballots of election data, and
 * preferences drawn from a culture. A preference becomes the ballot that the network's rule takes.
 */
import { bisect } from '../../engine/rules/network-rule.js';
import type { Preference } from '../elections/election-data.js';
import { BallotMaker, findBallotForm, restrictPreference } from '../elections/rule-ballots.js';
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
  const { take } = strategy;
  const { ballots, voters, options, points } = election;
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
      const all = preferenceOf(agent);
      const positions = options.map((name) => block.options.indexOf(name));
      const preference = block.options.length > 0 ? restrictPreference(all, positions) : all;
      const maker = new BallotMaker(world.rule, { ...strategy, points });
      castPreference(agent, world, block, preference, maker);
    },
  };
}

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
      const maker = new BallotMaker(world.rule, { ties: 'refuse', approves });
      castPreference(agent, world, block, { tiers }, maker);
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

/** Draws a position on a line of equally spaced options. The nearest option is preferred. */
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
export function castPreference(
  agent: ScriptedAgent,
  world: World,
  block: BlockTalk,
  preference: Preference,
  maker = new BallotMaker(world.rule, { ties: 'list', approves: 1 }),
): void {
  const { options } = block;
  const isWanted = preference.tiers.length > 0 || options.length === 0;
  const decision = isWanted ? 'approve' : 'reject';
  const { ballot } =
    isWanted && options.length > 0 ? maker.make(preference, options, block) : { ballot: undefined };
  const reason = reasons[decision];
  const cast = ballot === undefined ? {} : { ballot };
  castVote(agent, world, block, { decision, withoutMemes: decision, reason, ...cast });
}
