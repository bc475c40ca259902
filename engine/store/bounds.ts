/** The bounds of a range as lmdb takes them. */
import type { RangeOptions } from './store.js';

/** lmdb's ranges start inclusive and end exclusive in both directions; ours are from, below to. */
export function bounds({ from, to, reverse = false, limit }: RangeOptions): object {
  const start = reverse ? to : from;
  const end = reverse ? from : to;
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    ...(reverse && { reverse, exclusiveStart: to !== undefined, inclusiveEnd: true }),
    ...(limit !== undefined && { limit }),
  };
}
