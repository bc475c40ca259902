/**
 * Bounded confidence (Deffuant, Neau, Amblard and Weisbuch 2000): two neighbours whose opinions
 * differ by less than `confidence` both move to the midpoint.
 */
import type { ScriptModule } from 'folkmoot/sim';

const PACE_MS = 2_000;

export const start: ScriptModule['start'] = ({ memory }, rng) => {
  memory.opinion ??= rng.real();
  return { do: 'wake', ms: 1 + rng.int(PACE_MS) };
};

/** Sends the opinion to a random neighbour. */
export const wake: ScriptModule['wake'] = ({ memory, neighbours }, rng) => [
  { do: 'wake', ms: PACE_MS / 2 + rng.int(PACE_MS) },
  { do: 'send', to: [rng.pick(neighbours)], content: { asks: true, opinion: memory.opinion } },
];

/** Replies with the opinion before moving. */
export const receive: ScriptModule['receive'] = ({ memory, message, parameters }) => {
  const { asks, opinion } = message!.content as { asks: boolean; opinion: number };
  const own = Number(memory.opinion);
  if (Math.abs(opinion - own) >= Number(parameters.confidence)) return null;
  memory.opinion = (own + opinion) / 2;
  return asks ? { do: 'send', to: [message!.from], content: { asks: false, opinion: own } } : null;
};

/** Counts clusters, which are separated by more than 0.01. Clusters of few agents do not count. */
export const report: ScriptModule['report'] = ({ groups }) => {
  const sorted = groups
    .flatMap(({ memories }) => Object.values(memories))
    .map(({ opinion }) => Number(opinion))
    .sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const clusters = [[] as number[]];
  for (const [at, opinion] of sorted.entries()) {
    if (at > 0 && opinion - sorted[at - 1]! > 0.01) clusters.push([]);
    clusters.at(-1)!.push(opinion);
  }
  const large = clusters.filter(({ length }) => length > sorted.length / 20);
  return { clusters: large.length, opinion_range: sorted.at(-1)! - sorted[0]! };
};
