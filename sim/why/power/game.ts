/**
 * The game behind a rule: which coalitions of approving electors finalize a block, when everybody
 * else rejects it. Its indices say what power the weights give, whoever decides how.
 */
import type { QuorumRule } from '../../../engine/internal.js';

/** Weights are whole numbers, of 2^53 - 1 in all at most. */
export interface Game {
  weights: readonly number[];
  /** A coalition wins with this weight. */
  quota: number;
  /** Positions; a coalition wins only with a member of each of these groups. */
  veto: readonly (readonly number[])[];
}

/** Electors of one personality that can veto together: docs/protocol.md, policies. */
const SMALLEST_VETO = 3;

export const sumOf = (weights: readonly number[]): number =>
  weights.reduce((sum, weight) => sum + weight, 0);

/** Who finalizes, when all electors vote. */
export function decisionGame(
  { policy }: QuorumRule,
  weights: readonly number[],
  personalities: readonly string[],
): Game {
  const total = sumOf(weights);
  if (policy === 'majority') return { weights, quota: Math.floor(total / 2) + 1, veto: [] };
  const quota = Math.floor((2 * total) / 3) + 1;
  return { weights, quota, veto: policy === 'veto' ? vetoGroups(personalities) : [] };
}

/** Who makes the turnout that `majority` asks for; null where there is none to make. */
export function turnoutGame(
  { policy, participation_bps }: QuorumRule,
  weights: readonly number[],
): Game | null {
  if (policy !== 'majority' || participation_bps === 0) return null;
  const quota = Math.ceil((participation_bps * sumOf(weights)) / 10_000);
  return { weights, quota, veto: [] };
}

function vetoGroups(personalities: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [position, personality] of personalities.entries()) {
    const group = groups.get(personality);
    if (group) group.push(position);
    else groups.set(personality, [position]);
  }
  return [...groups.values()].filter(({ length }) => length >= SMALLEST_VETO);
}

/**
 * The same game with smaller numbers: divided by what all weights have in common; and where a
 * coalition that blocks is lighter than one that wins, by blocking, for whoever swings the one
 * swings the other.
 */
export function reduced({ weights, quota, veto }: Game): Game {
  const common = weights.reduce(divisor, 0) || 1;
  const small = weights.map((weight) => weight / common);
  const needed = Math.ceil(quota / common);
  const blocking = sumOf(small) - needed + 1;
  const dual = veto.length === 0 && blocking > 0 && blocking < needed;
  return { weights: small, quota: dual ? blocking : needed, veto };
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
