/**
 * Long reads in slices. Event-loop turns pass in between, and all reads share one slice per turn.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runInSlices, type SlicedWork } from '../../dist/api/time-slices.js';

/** Keeps the processor busy for `ms` milliseconds, in steps of 0.1 ms. */
function* work(ms: number, steps: string[], name: string): SlicedWork<string> {
  for (let step = 0; step < 10 * ms; step += 1) {
    const until = performance.now() + 0.1;
    while (performance.now() < until);
    steps.push(name);
    yield;
  }
  return name;
}

test('slices: answer a short read synchronously', () => {
  expect(runInSlices(work(0, [], 'short'))).toBe('short');
});

test('slices: yield to the event loop in a long read, without delaying a short one', async () => {
  const steps: string[] = [];
  const long = runInSlices(work(60, steps, 'long'));
  expect(long).toBeInstanceOf(Promise);
  let turns = 0;
  let isOver = false;
  const counted = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const short = await runInSlices(work(4, steps, 'short'));
  const before = steps.filter((name) => name === 'long').length;
  expect([short, before < 300]).toEqual(['short', true]);
  expect(await long).toBe('long');
  isOver = true;
  await counted;
  expect(turns).toBeGreaterThan(10);
});

test('slices: pass an exception to its read, and continue others', async () => {
  function* failing(): SlicedWork<never> {
    yield* work(5, [], 'failing');
    throw new RangeError('no such entry');
  }
  const [failed, long] = await Promise.allSettled([
    runInSlices(failing()),
    runInSlices(work(10, [], 'long')),
  ]);
  expect([failed.status, long]).toEqual(['rejected', { status: 'fulfilled', value: 'long' }]);
  expect(await runInSlices(work(5, [], 'next'))).toBe('next');
});
