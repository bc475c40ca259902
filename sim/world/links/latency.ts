/** Latency distributions, drawn from a 32-bit hash in integers: the same on every machine. */
import type { Scenario } from '../../scenario/schema/scenario.js';

type Latency = Scenario['links']['latency'];

/** Less would make the world's windows so short that a run takes for ever. */
const LEAST_MS = 10;

/**
 * Quantiles (i + 0.5) / 64 of the exponential distribution, scaled to a mean of 1,000: a table,
 * since logarithms may differ in their last digit between machines.
 */
// biome-ignore format: a table
const exponential = [
  8, 24, 40, 56, 73, 90, 108, 126, 144, 162, 180, 199, 218, 238, 258, 279, 300, 321, 343, 365, 388,
  411, 435, 460, 486, 511, 538, 565, 592, 621, 651, 682, 713, 745, 778, 813, 850, 887, 925, 965,
  1007, 1051, 1097, 1144, 1194, 1248, 1304, 1363, 1426, 1493, 1564, 1642, 1726, 1818, 1918, 2030,
  2156, 2299, 2467, 2669, 2922, 3261, 3773, 4878,
];

/** From a hash to milliseconds. */
export function latencyOf(latency: Latency): (hash: number) => number {
  const draw = draws[latency.distribution](latency);
  return (hash) => Math.max(LEAST_MS, draw(hash));
}

const draws: Record<Latency['distribution'], (latency: Latency) => (hash: number) => number> = {
  constant:
    ({ mean_ms }) =>
    () =>
      mean_ms,
  uniform: ({ mean_ms, spread_ms }) => {
    const least = mean_ms - spread_ms;
    const width = Math.max(1, 2 * spread_ms);
    return (hash) => least + (hash % width);
  },
  // The sum of the hash's eight digits of base 16 is near normal: mean 60, deviation 13.04.
  normal: ({ mean_ms, spread_ms }) => {
    return (hash) => {
      let sum = 0;
      for (let rest = hash; rest > 0; rest = Math.floor(rest / 16)) sum += rest % 16;
      return mean_ms + Math.trunc(((sum - 60) * spread_ms * 100) / 1304);
    };
  },
  exponential: ({ mean_ms, spread_ms }) => {
    const least = mean_ms - spread_ms;
    return (hash) => least + Math.trunc((exponential[hash % 64]! * spread_ms) / 1000);
  },
};

/** The least that a message can need. */
export function shortestMs({ distribution, mean_ms, spread_ms }: Latency): number {
  const nearest = {
    constant: mean_ms,
    uniform: mean_ms - spread_ms,
    normal: mean_ms - Math.trunc((60 * spread_ms * 100) / 1304),
    exponential: mean_ms - spread_ms,
  };
  return Math.max(LEAST_MS, nearest[distribution]);
}
