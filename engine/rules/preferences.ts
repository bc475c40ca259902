/**
 * Ranked ballots: `{ "ranking": ["b", ["a", "c"]] }` prefers b to a and c, and all three to every
 * option that it does not name. It has no preference between the options of a tier, or between
 * options that it does not name.
 */
import type { BallotSchema } from './ballots.js';
import { createElection, type Elected, OPTIONS, optionName, type Preference } from './election.js';
import type { Parameter, Values, VoteRule } from './rule.js';

interface RankedBallot {
  ranking: readonly (string | readonly string[])[];
}

/** Ranking with the weight of its voter: tiers of equal options by position, best tier first. */
export interface Ranking {
  weight: number;
  tiers: readonly (readonly number[])[];
}

const equalNames = {
  type: 'array',
  items: optionName,
  minItems: 2,
  maxItems: OPTIONS,
  uniqueItems: true,
} as const;

const rankedBallot = (items: BallotSchema): BallotSchema => ({
  type: 'object',
  properties: {
    ranking: { type: 'array', items, minItems: 1, maxItems: OPTIONS, uniqueItems: true },
  },
  required: ['ranking'],
  additionalProperties: false,
});

/** Creates the rule for a method of counting rankings. */
export function createRankedElection(method: {
  title: string;
  source: string;
  parameters?: Readonly<Record<string, Parameter>>;
  /** True if rankings may have tiers of several options; otherwise ballots with one are refused. */
  takesTies: boolean;
  elect(rankings: readonly Ranking[], options: readonly string[], values: Values): Elected;
}): VoteRule {
  const { title, source, parameters = {}, takesTies, elect } = method;
  return createElection<RankedBallot>({
    title,
    source,
    parameters,
    ballot: rankedBallot(takesTies ? { anyOf: [optionName, equalNames] } : optionName),
    accepts({ ranking }, _, { options }) {
      const names = ranking.flat();
      const isKnown = names.every((name) => options.includes(name));
      return isKnown && new Set(names).size === names.length;
    },
    elect: (preferences, options, values) =>
      elect(toRankings(preferences, options), options, values),
  });
}

function toRankings(
  preferences: readonly Preference<RankedBallot>[],
  options: readonly string[],
): Ranking[] {
  const positions = new Map(options.map((name, position) => [name, position]));
  // Rankings share the tiers of one option, because an election can have very many rankings.
  const singles = new Map(options.map((name, position) => [name, [position]]));
  const toTier = (tier: string | readonly string[]) =>
    typeof tier === 'string' ? singles.get(tier)! : tier.map((name) => positions.get(name)!);
  return preferences.map(({ weight, ballot }) => ({ weight, tiers: ballot.ranking.map(toTier) }));
}

/** Weights by pairs of options: `pairs[a][b]` is the weight that prefers option a to option b. */
export type Pairs = readonly (readonly number[])[];

/** Compares the options in pairs. */
export function comparePairs(rankings: readonly Ranking[], count: number): Pairs {
  const pairs = createSquare(count);
  for (const { weight, tiers } of rankings) {
    const below = new Set(pairs.keys());
    for (const tier of tiers) {
      for (const option of tier) below.delete(option);
      for (const better of tier) {
        for (const worse of below) pairs[better]![worse]! += weight;
      }
    }
  }
  return pairs;
}

/** Measure of the strength of won pairs. */
export const marginsParameter = {
  margins: {
    about:
      '0: a won pair is as strong as the weight for it; 1: as its lead over the weight against',
    default: 0,
    minimum: 0,
    maximum: 1,
  },
} as const;

/**
 * Returns the strength of the strongest path between any two options, which is the largest strength
 * such that every step of some path wins its pair with at least that strength (Schulze 2011,
 * section 2.3). The strength of a pair is the weight for it, or with `byMargin` its lead.
 */
export function findStrongestPaths(pairs: Pairs, byMargin = false): Pairs {
  const paths = createSquare(pairs.length);
  for (const [a, row] of pairs.entries()) {
    for (const [b, weight] of row.entries()) {
      const against = pairs[b]![a]!;
      if (weight > against) paths[a]![b] = byMargin ? weight - against : weight;
    }
  }
  for (const via of paths.keys()) {
    for (const row of paths) {
      for (const b of row.keys()) {
        row[b] = Math.max(row[b]!, Math.min(row[via]!, paths[via]![b]!));
      }
    }
  }
  return paths;
}

const createSquare = (count: number): number[][] =>
  Array.from({ length: count }, () => Array.from({ length: count }, () => 0));
