/** The thread that wakes the load generator between two ticks of its timers. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openLoop, Schedule } from '../../../../dist/bench/load/schedule.js';
import { Ticker } from '../../../../dist/bench/load/ticker.js';

/** Longer than any test takes. */
const NEVER_MS = 100_000_000;

function ticking() {
  let wakes = 0;
  let woken = () => {};
  const ticker = new Ticker(() => {
    wakes += 1;
    woken();
  });
  onTestFinished(() => ticker.close());
  const next = () => new Promise<void>((resolve) => (woken = resolve));
  return { ticker, next, wakes: () => wakes };
}

test('ticker: wakes once at each time, and not before', async () => {
  const { ticker, next, wakes } = ticking();
  for (const ms of [20, 0, 3, 0.25]) {
    const before = wakes();
    const askedMs = performance.now();
    ticker.wakeIn(ms);
    await next();
    // The thread starts to wake 0.02 ms early.
    expect(performance.now() - askedMs).toBeGreaterThan(ms - 0.05);
    expect(wakes()).toBe(before + 1);
  }
});

test('ticker: a later request replaces the earlier time', async () => {
  const { ticker, next, wakes } = ticking();
  ticker.wakeIn(NEVER_MS);
  ticker.wakeIn(5);
  await next();
  expect(wakes()).toBe(1);
});

test('ticker: its thread ends on close without another wake-up', async () => {
  const started = once(process, 'worker') as Promise<[Worker]>;
  const { ticker, next, wakes } = ticking();
  const [worker] = await started;
  ticker.wakeIn(0);
  await next();
  const ended = once(worker, 'exit');
  ticker.wakeIn(NEVER_MS);
  ticker.close();
  expect(await ended).toEqual([0]);
  expect(wakes()).toBe(1);
});

test('schedule: sends due arrivals while the timers of the event loop are blocked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const startMs = performance.now();
  const endMs = startMs + 50;
  const intended: number[] = [];
  const schedule = new Schedule({
    arrivals: openLoop(200, startMs, endMs),
    ...{ measureMs: startMs, endMs, now: () => performance.now(), hasRoom: () => true },
    next: () => ({ operation: 'read', method: 'GET', target: '/' }) as never,
    waitsFor: () => 'answers',
    isDown: () => false,
    drop: () => {},
    send: (_, intendedMs) => intended.push(intendedMs - startMs),
    due: () => {},
  });
  await schedule.run();
  expect(intended.map(Math.round)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
});
