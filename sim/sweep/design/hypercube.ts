/**
 * A Latin hypercube: the range of each factor is cut into as many strata as there are samples, and
 * each stratum is sampled once, in an order of its own (McKay, Beckman and Conover 1979).
 */
import { Streams, shuffled } from '../../rng.js';
import type { Factor } from '../../scenario/schema/sweep.js';
import { type FactorValue, valueAt } from './place.js';

/** Gives the values of a sample by its index; what it draws follows from the seed alone. */
export function hypercube(
  factors: readonly Factor[],
  samples: number,
  seed: string,
): (index: number) => FactorValue[] {
  const streams = new Streams(seed);
  const columns = factors.map((factor) => {
    const rng = streams.of('world', `lhs/${factor.path}`);
    const strata = shuffled(samples, rng);
    // Choices come equally often from the middles of the strata, and not from places by chance.
    const within = () => (isEven(factor, samples) ? 0.5 : rng.real());
    const places = Float64Array.from(strata, (stratum) => (stratum + within()) / samples);
    return { factor, places };
  });
  return (index) => columns.map(({ factor, places }) => valueAt(factor, places[index]!));
}

function isEven({ values, from = 0, to = 0, whole = false }: Factor, samples: number): boolean {
  return values !== undefined || (whole && to - from < samples);
}
