/**
 * Runs long reads in slices. A read that takes longer than a slice continues in later event-loop
 * turns. All reads together get one slice per turn, so other requests are answered in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 1;

/** Work that pauses at each `yield`. State that the work reads after a pause must be immutable. */
export type SlicedWork<T> = Generator<undefined, T>;

/** Resolves after the slices requested so far. */
let last: Promise<unknown> = Promise.resolve();

/** Runs work. Returns the result directly if one slice is enough. */
export function runInSlices<T>(work: SlicedWork<T>): T | Promise<T> {
  const first = slice(work);
  return first.done ? first.value : rest(work);
}

async function rest<T>(work: SlicedWork<T>): Promise<T> {
  for (;;) {
    last = last.then(() => nextTurn());
    await last;
    const next = slice(work);
    if (!next.done) continue;
    // The caller serializes the result, which takes a slice or longer.
    await nextTurn();
    return next.value;
  }
}

function slice<T>(work: SlicedWork<T>): IteratorResult<undefined, T> {
  const until = performance.now() + SLICE_MS;
  for (;;) {
    const next = work.next();
    if (next.done || performance.now() >= until) return next;
  }
}
