/**
 * Mock models: rules of published models of opinion, as deciders without a server. Each rule is a
 * row of a table. All arithmetic has equal bits on every machine.
 */
import { exp } from '../../numbers.js';
import type { Stream } from '../../rng.js';
import type { Topic } from '../../scenario/deliberation.js';
import type { MockName } from '../../scenario/schema/deliberation.js';
import type { StrategyOf } from '../../scenario/schema/strategies.js';
import { mostFrequent, type Stated } from './statements.js';

export interface MockTurn {
  topic: Topic;
  round: number;
  /** Value that the agent stated last; null before its first statement. */
  own: Stated | null;
  /** Initial value that the deliberation gave the agent; null without one. */
  start: Stated | null;
  /** Latest value of each agent that it sees. */
  seen: readonly Stated[];
  /** Options in the order in which the agent is shown them. */
  shown: readonly string[];
  /** Draws of this agent in this round. */
  rng: Stream;
  /** Draws of a block, equal for all agents. */
  common(): Stream;
  /** Belief of the agent, kept between rounds; empty at first. */
  belief: number[];
}

type Parameters = StrategyOf<'mock'>;
type Rule = (turn: MockTurn, parameters: Parameters) => Stated;

const ROUND_ONE = 0;

/** Right with probability p, else one of the other values with equal probability. */
function signal({ topic, start }: MockTurn, p: number, rng: Stream): Stated {
  if (start !== null) return start;
  const { kind, options, truth } = topic;
  if (kind === 'number') return drawNumber(topic, rng);
  if (kind === 'text') return rng.chance(p) ? (truth ?? 'yes') : 'no';
  const best = drawOption(options, truth, p, rng);
  if (kind === 'decision' || kind === 'option') return best;
  const others = rng.shuffle(options.filter((name) => name !== best));
  const ranking = [best, ...others];
  if (kind === 'ranking') return ranking;
  const { least, most } = topic;
  const points = (place: number) => Math.max(least, most - place);
  return Object.fromEntries(ranking.map((name, place) => [name, points(place)]));
}

function drawOption(options: readonly string[], truth: Stated, p: number, rng: Stream): string {
  if (!options.includes(truth as string)) return rng.pick(options);
  if (rng.chance(p)) return truth as string;
  return rng.pick(options.filter((name) => name !== truth));
}

/** Draws a number with equal probability within the bounds. */
export function drawNumber({ least, most, whole }: Topic, rng: Stream): number {
  if (!whole) return least + (most - least) * rng.real();
  const low = Math.ceil(least);
  return low + rng.int(Math.floor(most) - low + 1);
}

const numbersOf = ({ own, seen }: MockTurn): number[] =>
  [own, ...seen].filter((value): value is number => typeof value === 'number');

function meanOf(values: readonly number[], { whole }: Topic): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return whole ? Math.round(mean) : mean;
}

/** Hyperbolic tangent from the portable exponential. */
function tanh(x: number): number {
  const grown = exp(-2 * Math.abs(x));
  const size = (1 - grown) / (1 + grown);
  return x < 0 ? -size : size;
}

/** Lead of the first of two values: +1 if all state it, -1 if all state the other. */
function leadOf({ topic, own, seen }: MockTurn): number {
  const values = [own, ...seen];
  const first = values.filter((value) => value === topic.options[0]).length;
  return (2 * first - values.length) / values.length;
}

/** Starts with a signal. Later rounds follow `then`. */
const after =
  (then: Rule): Rule =>
  (turn, parameters) =>
    turn.own === null || turn.round === ROUND_ONE
      ? signal(turn, parameters.p, turn.rng)
      : then(turn, parameters);

const keeps: Rule = ({ own }) => own;

const rules: Record<MockName, Rule> = {
  independent: after(keeps),
  /** Copies a common draw with probability sqrt(rho), so that two answers have correlation rho. */
  correlated: (turn, { p, rho }) => {
    if (turn.own !== null && turn.round > ROUND_ONE) return turn.own;
    const copies = turn.rng.chance(Math.sqrt(rho));
    return signal(turn, p, copies ? turn.common() : turn.rng);
  },
  conformist: after((turn, { beta }) => {
    const [first, second] = turn.topic.options;
    return turn.rng.chance((1 + tanh(beta * leadOf(turn))) / 2) ? first : second;
  }),
  /** Dirichlet-multinomial: the mean belief of all agents is a martingale on a complete graph. */
  martingale: (turn, { p, weight }) => {
    const { topic, belief, seen, rng } = turn;
    const { options, truth } = topic;
    if (belief.length === 0) {
      const rest = (1 - p) / (options.length - 1);
      belief.push(...options.map((name) => (name === truth ? p : rest)));
    }
    for (const value of seen) {
      const at = options.indexOf(value as string);
      if (at >= 0) belief[at]! += weight;
    }
    return rng.choice(options, belief);
  },
  majority: after(({ own, seen }) => mostFrequent([own, ...seen])?.value ?? own),
  averaging: after((turn) => meanOf(numbersOf(turn), turn.topic)),
  /** W-MSR (LeBlanc and others 2013): ignores at most trim values on each side of the own value. */
  msr: after((turn, { trim }) => meanOf(trimmed(numbersOf(turn), trim), turn.topic)),
  smallest: after((turn) => Math.min(...numbersOf(turn))),
  stubborn: (turn, { p, value }) =>
    value === undefined ? (turn.own ?? signal(turn, p, turn.rng)) : value,
};

/** Removes at most `trim` values above the first value, and as many below it: the most distant. */
export function trimmed([own, ...seen]: readonly number[], trim: number): number[] {
  const sorted = [...seen].sort((a, b) => a - b);
  const below = Math.min(trim, sorted.filter((value) => value < own!).length);
  const above = Math.min(trim, sorted.filter((value) => value > own!).length);
  return [own!, ...sorted.slice(below, sorted.length - above)];
}

export function answerOf(parameters: Parameters, turn: MockTurn): Stated {
  const answer = rules[parameters.model](turn, parameters);
  const { bias } = parameters;
  if (bias === 0 || turn.shown.length === 0 || !turn.rng.chance(bias)) return answer;
  const [first] = turn.shown;
  const { kind } = turn.topic;
  return kind === 'decision' || kind === 'option' ? first! : answer;
}
