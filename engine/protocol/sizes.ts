/** How large batches were, by powers of two: enough to tell single ones from hundreds. */

/** Counts a batch of `size` items, 1 or more: slot k counts sizes from 2^k to 2^(k+1) - 1. */
export function countSize(sizes: number[], size: number): void {
  const slot = 31 - Math.clz32(size);
  while (sizes.length <= slot) sizes.push(0);
  sizes[slot]! += 1;
}
