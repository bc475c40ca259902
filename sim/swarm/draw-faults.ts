/** Draws the faults of a swarm's scenario. */
import type { Stream } from '../rng.js';
import type { Fault } from '../scenario/schema/faults.js';
import { between, type Raw, share } from './terms.js';

/** What each kind has beside when, how long and whom. */
const kinds: Record<Fault['kind'], (rng: Stream) => Raw> = {
  partition: (rng) => ({ direction: rng.pick(['both', 'in', 'out']) }),
  crash: () => ({}),
  pause: () => ({}),
  slow_link: (rng) => ({ factor: between(rng, 2, 50) }),
  clock_skew: (rng) => ({ skew_ms: between(rng, -3_600_000, 3_600_000) }),
  churn: (rng) => ({
    stay_ms: between(rng, 1_000, 30_000),
    away_ms: between(rng, 1_000, 30_000),
  }),
};

/** In voting periods: so early do faults begin and so soon are they over in a calm scenario. */
const CALM = { start: 2, length: 3 };

export function drawFaults(
  rng: Stream,
  groups: readonly Raw[],
  period: number,
  calm: boolean,
): Raw[] {
  return Array.from({ length: rng.pick([0, 0, 1, 1, 2, 4]) }, () => {
    const kind = rng.pick(Object.keys(kinds) as Fault['kind'][]);
    return {
      kind,
      start_ms: rng.int((calm ? CALM.start : 20) * period),
      length_ms: between(rng, 1, (calm ? CALM.length : 60) * period),
      whom: [drawSelector(rng, groups)],
      ...kinds[kind](rng),
    };
  });
}

/** All of a group or of the network, or so many of them, or a share that is not nobody. */
function drawSelector(rng: Stream, groups: readonly Raw[]): Raw {
  const group = rng.chance(0.6) ? rng.pick(groups) : null;
  const all = group ? [group] : groups;
  const count = all.reduce((sum, one) => sum + (one.count as number), 0);
  const whom = group ? { group: group.group } : {};
  const how = rng.int(3);
  if (how === 0) return whom;
  if (how === 1) return { ...whom, count: between(rng, 1, count) };
  return { ...whom, share: Math.min(1, (1 + Math.ceil(100 * share(rng))) / 100 + 1 / count) };
}
