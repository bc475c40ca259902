/**
 * The workload `votes`: every agent is a validator, and each vote that a block needs is an arrival.
 * The proposal between two blocks is sent beside them, and they wait for it meanwhile.
 */
import type { LoadOptions } from '../options.js';
import type { Workload } from '../workload.js';
import { chained } from './chained.js';

/** Votes signed ahead for each second of a closed loop. */
const GUESS_PER_S = 10_000;

export function votes({ rate, batch }: LoadOptions): Workload {
  const votesPerS = rate ?? GUESS_PER_S;
  return chained({ arrivals: 'votes', batch, blocksPerS: (needed) => votesPerS / needed });
}
