/** Fewer points where a drawing cannot show more. */

/** At most so many, evenly spaced, the last one among them. */
export function thin<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  const last = items.length - 1;
  return Array.from(
    { length: most },
    (_, index) => items[Math.floor((index * last) / (most - 1))]!,
  );
}

/** A sentence for the text under a chart; empty when everything is drawn. */
export function thinned(what: string, all: number, most: number): string {
  return all > most ? ` Drawn are ${most} of ${all} ${what}, evenly spaced.` : '';
}

/** The median of so many values around each, fewer at the ends. */
export function runningMedian(values: readonly number[], window: number): number[] {
  const half = Math.floor(window / 2);
  return values.map((_, index) => {
    const around = values.slice(Math.max(0, index - half), index + half + 1).sort((a, b) => a - b);
    const middle = around.length >> 1;
    return around.length % 2 === 1 ? around[middle]! : (around[middle - 1]! + around[middle]!) / 2;
  });
}
