/**
 * Shards: a sweep dealt out to machines that know nothing of each other. Which runs are a shard's
 * follows from the sweep alone. Runs are dealt one by one, all first replicates first, so that more
 * replicates leave every run where it is; each hand begins one shard further, or the heavy value of
 * a factor might always come to the same one. Where an interval says when a cell has runs enough,
 * whole cells are dealt: to look at it takes all of the cell's runs.
 */
import type { Plan } from './plan.js';

/** One of several parts of a sweep. */
export interface Shard {
  /** From 1. */
  index: number;
  of: number;
}

/** Whether a run is among those of a shard. */
export type Share = (key: string, replicate: number) => boolean;

/** Gives the index of the shard that a run belongs to; null for one that is not of the sweep. */
export function dealtTo(
  { sweep, keys }: Pick<Plan, 'sweep' | 'keys'>,
  of: number,
): (key: string, replicate: number) => number | null {
  const places = new Map<string, number>();
  for (const key of keys) if (!places.has(key)) places.set(key, places.size);
  return (key, replicate) => {
    const place = places.get(key);
    if (place === undefined) return null;
    const card = sweep.until ? place : (replicate - 1) * places.size + place;
    return 1 + ((card + Math.floor(card / of)) % of);
  };
}

/** Without a shard, all runs. */
export function shareOf(plan: Pick<Plan, 'sweep' | 'keys'>, shard?: Shard): Share {
  if (!shard) return () => true;
  const dealt = dealtTo(plan, shard.of);
  return (key, replicate) => dealt(key, replicate) === shard.index;
}

export const shardText = ({ index, of }: Shard): string => `${index}/${of}`;
