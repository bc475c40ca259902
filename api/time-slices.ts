/**
 * Long reads in slices: a read that takes longer than a slice goes on in later turns of the event
 * loop, of which each has one slice of all reads. Other requests are answered in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 1;

/** Work that may pause wherever it yields; what it reads after a pause must not have changed. */
export type SlicedWork<T> = Generator<undefined, T>;

/** Ends when the slices that were asked for so far have had their turns. */
let last: Promise<unknown> = Promise.resolve();

/** The result of the work: immediate when one slice is enough. */
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
    // The caller makes a text of it, which takes as long as a slice or longer.
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
