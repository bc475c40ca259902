/**
 * Bounded confidence with simultaneous updates (Hegselmann and Krause 2002, Opinion dynamics and
 * bounded confidence): in each round, every agent takes the mean of all opinions that differ from
 * its own by at most `confidence` of the scale. First opinions are equidistant. Opinions are
 * integers. All agents read all opinions, on a board in `shared` instead of in n^2 messages.
 */
import type { ScriptFunction, ScriptModule } from 'folkmoot/sim';

/** Units between two neighbouring first opinions. */
const UNIT = 1_000_000_000;
const START_MS = 5_000;
const ROUND_MS = 200;

/** Opinions after a round, by place in the group. Two rounds are kept: last and current. */
type Board = number[][];

export const start: ScriptModule['start'] = ({ nowMs, me, agentsOf, memory }) => {
  memory.place ??= agentsOf(me.group).indexOf(me.ordinal);
  return nowMs < START_MS ? { do: 'wake', ms: START_MS - nowMs, note: 1 } : null;
};

export const wake: ScriptFunction = ({ memory, shared, me, agentsOf, note, parameters }) => {
  const round = Number(note);
  const all = agentsOf(me.group).length;
  shared.board ??= [Array.from({ length: all }, (_, place) => place * UNIT)];
  const board = shared.board as Board;
  const before = board[(round - 1) % 2]!;
  const own = before[Number(memory.place)]!;
  // The whole scale has all - 1 units.
  const bound = Math.round(Number(parameters.confidence) * (all - 1) * UNIT);
  const after = board[round % 2] ?? [...before];
  after[Number(memory.place)] = meanNear(own, bound, before);
  board[round % 2] = after;
  shared.round = round;
  return round < Number(parameters.rounds) ? { do: 'wake', ms: ROUND_MS, note: round + 1 } : null;
};

/** Rounds the mean to the nearest integer. All terms are integers below 2^53, so it is exact. */
function meanNear(own: number, bound: number, opinions: readonly number[]): number {
  let [sum, near] = [0, 0];
  for (const opinion of opinions) {
    if (Math.abs(opinion - own) > bound) continue;
    sum += opinion;
    near += 1;
  }
  const rest = sum % near;
  return (sum - rest) / near + (2 * rest >= near ? 1 : 0);
}

export const vote: ScriptModule['vote'] = () => ({ do: 'vote', decision: 'approve' });

/**
 * Counts clusters, which are separated by more than a thousandth of a unit. Groups do not hear each
 * other, so the clusters of the run are those of all groups.
 */
export const report: ScriptModule['report'] = ({ groups }) => {
  const all = groups.flatMap(({ shared }) => {
    const { board, round } = shared as { board?: Board; round?: number };
    const opinions = board?.[Number(round) % 2];
    return opinions ? [{ ...spread(opinions), rounds: Number(round) }] : [];
  });
  if (all.length === 0) return null;
  return {
    clusters: all.reduce((sum, { clusters }) => sum + clusters, 0),
    opinion_range: Math.max(...all.map(({ range }) => range)),
    rounds: Math.max(...all.map(({ rounds }) => rounds)),
  };
};

function spread(opinions: readonly number[]): { clusters: number; range: number } {
  const sorted = [...opinions].sort((a, b) => a - b);
  const gaps = sorted.filter((one, at) => at > 0 && one - sorted[at - 1]! > UNIT / 1_000);
  const scale = (sorted.length - 1) * UNIT;
  return { clusters: gaps.length + 1, range: (sorted.at(-1)! - sorted[0]!) / scale };
}
