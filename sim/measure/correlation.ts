/**
 * Correlation of agents' errors, and the number of independent agents that they are worth. Errors
 * on one block are correlated if the same blocks mislead several agents. The estimate compares the
 * pairs of errors on one block with those of independent agents, who err with the same rate. The
 * interval leaves out one block at a time (jackknife), because blocks are independent and agents
 * are not.
 */
import { studentQuantile } from '../numbers.js';

/** Number of agents that decided on one block, and how many of them were wrong. */
export interface BlockErrors {
  agents: number;
  errors: number;
}

export interface Correlation {
  blocks: number;
  /** Mean number of agents on a block. */
  agents: number;
  error_rate: number;
  /** Correlation of the errors of two agents, with a 95 % interval. */
  correlation: number;
  correlation_low: number;
  correlation_high: number;
  /** n / (1 + (n - 1) correlation), with a 95 % interval. */
  effective: number;
  effective_low: number;
  effective_high: number;
}

/** Smallest number of blocks for an interval. */
const LEAST_BLOCKS = 20;

/** Returns null if there are too few blocks with two agents, or no error, or nothing but errors. */
export function estimateCorrelation(given: readonly BlockErrors[]): Correlation | null {
  const blocks = given.filter(({ agents }) => agents > 1);
  if (blocks.length < LEAST_BLOCKS) return null;
  const sums = sumOf(blocks);
  const whole = correlationOf(sums);
  if (whole === null) return null;
  const n = blocks.length;
  const pseudo = blocks.map((block) => {
    const part = correlationOf(without(sums, block)) ?? whole;
    return n * whole - (n - 1) * part;
  });
  const mean = pseudo.reduce((sum, value) => sum + value, 0) / n;
  const squares = pseudo.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
  const half = studentQuantile(n - 1) * Math.sqrt(squares / (n - 1) / n);
  const agents = sums.agents / n;
  const least = -1 / (agents - 1);
  const clip = (value: number) => Math.max(least, Math.min(1, value));
  // The jackknife corrects the estimate's bias too, which is of the order 1 / n.
  const [correlation, low, high] = [0, -half, half].map((by) => clip(mean + by));
  const worth = (value: number) => agents / (1 + (agents - 1) * Math.max(0, value));
  return {
    ...{ blocks: n, agents, error_rate: sums.errors / sums.agents },
    ...{ correlation: correlation!, correlation_low: low!, correlation_high: high! },
    ...{ effective: worth(correlation!), effective_low: worth(high!), effective_high: worth(low!) },
  };
}

interface Sums {
  agents: number;
  errors: number;
  /** Ordered pairs of agents on one block, and those in which both were wrong. */
  pairs: number;
  both: number;
}

const pairsOf = ({ agents, errors }: BlockErrors): Sums => ({
  ...{ agents, errors },
  ...{ pairs: agents * (agents - 1), both: errors * (errors - 1) },
});

function sumOf(blocks: readonly BlockErrors[]): Sums {
  const sums = { agents: 0, errors: 0, pairs: 0, both: 0 };
  for (const block of blocks) add(sums, pairsOf(block), 1);
  return sums;
}

function without(sums: Sums, block: BlockErrors): Sums {
  const left = { ...sums };
  add(left, pairsOf(block), -1);
  return left;
}

function add(sums: Sums, more: Sums, times: 1 | -1): void {
  sums.agents += times * more.agents;
  sums.errors += times * more.errors;
  sums.pairs += times * more.pairs;
  sums.both += times * more.both;
}

function correlationOf({ agents, errors, pairs, both }: Sums): number | null {
  const rate = errors / agents;
  const variance = rate * (1 - rate);
  return variance === 0 ? null : (both / pairs - rate * rate) / variance;
}

/** Errors by group and statement, of a run. */
export class SharedErrors {
  readonly #blocks = new Map<string, BlockErrors[]>();

  /** Adds the answers to one block: true for a right one. */
  add(name: string, answers: readonly boolean[]): void {
    const blocks = this.#blocks.get(name) ?? [];
    this.#blocks.set(name, blocks);
    blocks.push({ agents: answers.length, errors: answers.filter((isRight) => !isRight).length });
  }

  /** Returns the measures for a name such as `first` or `first@judges`; none if unknown. */
  figures(name: string, as: string): Record<string, number> {
    const found = estimateCorrelation(this.#blocks.get(name) ?? []);
    if (!found) return {};
    const { correlation, effective, effective_low, effective_high } = found;
    const rounded = Object.entries({
      [`error_correlation_${as}`]: correlation,
      [`effective_${as}`]: effective,
      [`effective_${as}_low`]: effective_low,
      [`effective_${as}_high`]: effective_high,
    }).map(([key, value]) => [key, Math.round(value * 1e6) / 1e6] as const);
    return Object.fromEntries(rounded);
  }
}
