/** The search for the highest rate that holds: by doubling, then by halving what is in between. */

export interface Rates {
  /** The highest rate that held; 0 when none did. */
  holds: number;
  /** The lowest above it that failed; null when none did. */
  fails: number | null;
}

export interface Start {
  rate: number;
  /** How far the second step goes; each further one goes twice as far, up to doubling. */
  step: number;
}

/** A bracket is found when what fails is at most a tenth above what holds. */
export const RESOLUTION = 1.1;
const DOUBLING = 2;
const LEAST_RATE = 1;
const MOST_RATE = 1_000_000;

/**
 * @param holdsAt asks the server; null ends the search with what is known by then.
 */
export async function findBracket(
  { rate: first, step: firstStep }: Start,
  holdsAt: (rate: number) => Promise<boolean | null>,
): Promise<Rates> {
  let holds = 0;
  let fails: number | null = null;
  let step = firstStep;
  let rate = first;
  for (;;) {
    const held = await holdsAt(rate);
    if (held === null) return { holds, fails };
    if (held) holds = rate;
    else fails = rate;
    if (fails !== null && fails <= Math.max(holds * RESOLUTION, LEAST_RATE)) break;
    if (holds >= MOST_RATE) break;
    if (fails === null) rate = Math.min(MOST_RATE, holds * step);
    else if (holds === 0) rate = Math.max(LEAST_RATE, fails / step);
    else rate = Math.sqrt(holds * fails);
    step = Math.min(DOUBLING, step * step);
  }
  return { holds, fails };
}

/** The next bracket is sought around the last one. */
export function startNear({ holds, fails }: Rates): Start {
  return { rate: holds > 0 ? holds : (fails ?? LEAST_RATE), step: RESOLUTION };
}

/** Whether there is a rate that all of them have between what holds and what fails. */
export function overlap(brackets: readonly Rates[]): boolean {
  const highest = Math.max(...brackets.map(({ holds }) => holds));
  const lowest = Math.min(...brackets.map(({ fails }) => fails ?? Number.POSITIVE_INFINITY));
  return highest <= lowest;
}
