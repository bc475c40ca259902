/**
 * An information cascade (Bikhchandani, Hirshleifer and Welch 1992). Voters decide in turn. Each
 * voter gets a private signal that is right with probability `accuracy` and sees earlier votes.
 */
import type { ScriptModule } from 'folkmoot/sim';

const TURN_MS = 300;

/** Agents vote in order of ordinal. */
export const hear: ScriptModule['hear'] = ({ me, agentsOf }) => ({
  do: 'wait',
  ms: (1 + agentsOf(me.group).indexOf(me.ordinal)) * TURN_MS,
});

/** Once one side leads by two votes, the signal no longer matters. */
export const vote: ScriptModule['vote'] = ({ block, shared, parameters }, rng) => {
  const ahead = block!.votes.reduce(
    (sum, { decision }) => sum + (decision === 'approve' ? 1 : -1),
    0,
  );
  const truth = block!.soundness === 100;
  const signal = rng.chance(Number(parameters.accuracy)) === truth;
  const follows = Math.abs(ahead) >= 2;
  if (follows) shared[block!.hash] ??= { wrong: ahead > 0 !== truth };
  return { do: 'vote', decision: (follows ? ahead > 0 : signal) ? 'approve' : 'reject' };
};

/** Blocks are sound or unsound with equal probability. */
export const produce: ScriptModule['produce'] = (_, rng) => ({
  do: 'propose',
  transactions: 1,
  sound: rng.chance(0.5),
});

export const report: ScriptModule['report'] = ({ group, groups: [town], blocks }) => {
  const cascades = Object.values(town!.shared) as { wrong: boolean }[];
  const wrong = cascades.filter((one) => one.wrong).length;
  if (!group || cascades.length === 0) return null;
  return { cascades: cascades.length / blocks.length, wrong_cascades: wrong / cascades.length };
};
