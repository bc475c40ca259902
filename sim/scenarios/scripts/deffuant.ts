/**
 * Bounded confidence (Deffuant, Neau, Amblard and Weisbuch 2000): two neighbours who meet, and
 * differ by less than `confidence`, each move half of the way towards the other.
 */
import type { ScriptModule } from 'folkmoot/sim';

const PACE_MS = 2_000;

export const start: ScriptModule['start'] = ({ memory }, rng) => {
  memory.opinion ??= rng.real();
  return { do: 'wake', ms: 1 + rng.int(PACE_MS) };
};

/** Meets a neighbour drawn by chance, and says what it thinks. */
export const wake: ScriptModule['wake'] = ({ memory, neighbours }, rng) => [
  { do: 'wake', ms: PACE_MS / 2 + rng.int(PACE_MS) },
  { do: 'send', to: [rng.pick(neighbours)], content: { asks: true, opinion: memory.opinion } },
];

/** Who is asked says what it thought before it moved. */
export const receive: ScriptModule['receive'] = ({ memory, message, parameters }) => {
  const { asks, opinion } = message!.content as { asks: boolean; opinion: number };
  const own = Number(memory.opinion);
  if (Math.abs(opinion - own) >= Number(parameters.confidence)) return null;
  memory.opinion = (own + opinion) / 2;
  return asks ? { do: 'send', to: [message!.from], content: { asks: false, opinion: own } } : null;
};

/** Opinions that stand apart by more than a hundredth; few people are no cluster. */
export const report: ScriptModule['report'] = ({ group, groups: [town] }) => {
  if (!group) return null;
  const sorted = Object.values(town!.memories)
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
