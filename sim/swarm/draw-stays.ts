/** Draws when the groups of a swarm's scenario join and leave. */
import type { Stream } from '../rng.js';
import { between, type Raw, sometimes } from './terms.js';

/** All have joined by then. */
const LEAST_LEAVE_MS = 40_000;

/** Late, in waves, or not to the end; most groups are there throughout. */
export function withStays(rng: Stream, groups: readonly Raw[]): Raw[] {
  const waves = () => ({
    over_ms: between(rng, 0, 5_000),
    waves: between(rng, 1, 4),
    every_ms: between(rng, 1, 5_000),
  });
  return groups.map((group) => {
    const join = sometimes(rng, 0.15, () => ({ start_ms: between(rng, 0, 20_000), ...waves() }));
    const at = () => between(rng, LEAST_LEAVE_MS, 70_000);
    const leave = sometimes(rng, 0.15, () => ({ at_ms: at(), ...waves() }));
    return { ...group, ...(join ? { join } : {}), ...(leave ? { leave } : {}) };
  });
}
