/**
 * The workload `transactions`: each arrival is a proposal with a batch of transactions, which few
 * validators approve at once. The next one waits until it is decided.
 */
import { LoadError } from '../error.js';
import { arrivalsPerS, type LoadOptions } from '../options.js';
import type { Workload } from '../workload.js';
import { chained } from './chained.js';

/** Transactions signed ahead for each second of a closed loop. */
const GUESS_PER_S = 5_000;
/** Of one block, by the protocol. */
const MOST = 1_000;

/** @throws {LoadError} when no block holds as many. */
export function transactions(options: LoadOptions): Workload {
  const { batch } = options;
  if (batch < 1 || batch > MOST) {
    throw new LoadError(`${batch} transactions a block: expected 1 to ${MOST}`);
  }
  const blocksPerS = arrivalsPerS(options) ?? GUESS_PER_S / batch;
  return chained({ arrivals: 'proposals', batch, blocksPerS: () => blocksPerS });
}
