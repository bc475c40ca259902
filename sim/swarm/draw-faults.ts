/** Draws the faults of a swarm's scenario. */

import type { Stream } from '../rng.js';
import type { Fault } from '../scenario/schema/faults.js';
import { between, type Raw, share } from './terms.js';

/** What each kind has beside when, how long and whom. */
const kinds: Record<Fault['kind'], (chance: Stream) => Raw> = {
  partition: (chance) => ({ direction: chance.pick(['both', 'in', 'out']) }),
  crash: () => ({}),
  pause: () => ({}),
  slow_link: (chance) => ({ factor: between(chance, 2, 50) }),
  clock_skew: (chance) => ({ skew_ms: between(chance, -3_600_000, 3_600_000) }),
  churn: (chance) => ({
    stay_ms: between(chance, 1_000, 30_000),
    away_ms: between(chance, 1_000, 30_000),
  }),
};

/** In voting periods: so early do faults begin and so soon are they over in a calm scenario. */
const CALM = { start: 2, length: 3 };

export function drawFaults(
  chance: Stream,
  groups: readonly Raw[],
  period: number,
  calm: boolean,
): Raw[] {
  return Array.from({ length: chance.pick([0, 0, 1, 1, 2, 4]) }, () => {
    const kind = chance.pick(Object.keys(kinds) as Fault['kind'][]);
    return {
      kind,
      start_ms: chance.int((calm ? CALM.start : 20) * period),
      length_ms: between(chance, 1, (calm ? CALM.length : 60) * period),
      whom: [drawSelector(chance, groups)],
      ...kinds[kind](chance),
    };
  });
}

/** All of a group or of the network, or so many of them, or a share that is not nobody. */
function drawSelector(chance: Stream, groups: readonly Raw[]): Raw {
  const group = chance.chance(600) ? chance.pick(groups) : null;
  const all = group ? [group] : groups;
  const count = all.reduce((sum, one) => sum + (one.count as number), 0);
  const whom = group ? { group: group.group } : {};
  const how = chance.int(3);
  if (how === 0) return whom;
  if (how === 1) return { ...whom, count: between(chance, 1, count) };
  return { ...whom, share: Math.min(1, (1 + Math.ceil(100 * share(chance))) / 100 + 1 / count) };
}
