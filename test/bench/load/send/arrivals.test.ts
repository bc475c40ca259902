/** Tests the intended times of requests, and their sending. */

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import {
  closedLoop,
  openLoop,
  Schedule,
  type ScheduleOptions,
} from '../../../../dist/bench/load/schedule.js';
import { Ticker } from '../../../../dist/bench/load/ticker.js';
import type { Call } from '../../../../dist/bench/load/workload.js';

const call = { operation: 'read' } as Call;

/** Runs a schedule of one second on a test clock. */
function scheduled(change: Partial<ScheduleOptions>) {
  const sent: number[] = [];
  const due: number[] = [];
  const schedule = new Schedule({
    arrivals: openLoop(10, 0, 1_000),
    measureMs: 0,
    endMs: 1_000,
    now: () => Date.now(),
    next: () => call,
    waitsFor: () => 'answers',
    hasRoom: () => true,
    isDown: () => false,
    drop: () => {},
    send: (_, intendedMs) => sent.push(intendedMs),
    due: (intendedMs) => due.push(intendedMs),
    ...change,
  });
  vi.useFakeTimers({ now: 0 });
  const ended = schedule.run().finally(() => vi.useRealTimers());
  return { schedule, sent, due, ended };
}

const every100 = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900];

test('open loop: arrivals are evenly spaced, with none at the end', () => {
  const arrivals = openLoop(3, 1_000, 2_000);
  const due: number[] = [];
  arrivals.advance(5_000, (intendedMs) => due.push(intendedMs));
  expect(due).toEqual([1_000, 1_000 + 1_000 / 3, 1_000 + 2_000 / 3]);
  expect(arrivals.nextMs()).toBe(Number.POSITIVE_INFINITY);
});

test('schedule: sends due arrivals with their intended times', async () => {
  const { sent, ended } = scheduled({});
  vi.advanceTimersByTime(1_000);
  await ended;
  expect(sent).toEqual(every100);
});

test('schedule: queued arrivals keep their intended times', async () => {
  let open = false;
  const { schedule, sent, due, ended } = scheduled({ next: () => (open ? call : null) });
  vi.advanceTimersByTime(550);
  expect([sent, due]).toEqual([[], every100.slice(0, 6)]);
  open = true;
  schedule.pump();
  expect(sent).toEqual(every100.slice(0, 6));
  // The wait lasts from the first due arrival to the time at which that arrival could be sent.
  expect(schedule.waitTimes).toEqual({ connections: 0, answers: 550, signatures: 0 });
  vi.advanceTimersByTime(500);
  await ended;
  expect([sent, schedule.waitTimes.answers]).toEqual([every100, 550]);
});

test('schedule: a workload that wakes it from `next` gets no arrival twice', async () => {
  let wake = () => {};
  const next = () => {
    wake();
    return call;
  };
  const { schedule, sent, ended } = scheduled({ next });
  wake = () => schedule.pump();
  vi.advanceTimersByTime(1_000);
  await ended;
  expect(sent).toEqual(every100);
});

test('schedule: drops arrivals that wait for a connection after the end', async () => {
  const { schedule, sent, due, ended } = scheduled({ hasRoom: () => false });
  vi.advanceTimersByTime(1_200);
  await ended;
  schedule.pump();
  expect([due, sent]).toEqual([every100, []]);
});

test('schedule: drops queued warm-up arrivals at the start of the measured time', async () => {
  let room = false;
  const { schedule, sent, ended } = scheduled({ measureMs: 500, hasRoom: () => room });
  vi.advanceTimersByTime(500);
  room = true;
  schedule.pump();
  vi.advanceTimersByTime(500);
  await ended;
  expect(sent).toEqual(every100.slice(5));
});

test('closed loop: keeps its concurrency; each request waits for an earlier one', async () => {
  const arrivals = closedLoop(3, 0, 1_000);
  const { schedule, sent, ended } = scheduled({ arrivals });
  expect(sent).toEqual([0, 0, 0]);
  vi.advanceTimersByTime(250);
  expect(sent).toHaveLength(3);
  arrivals.completed();
  schedule.pump();
  expect(sent).toEqual([0, 0, 0, 250]);
  vi.advanceTimersByTime(800);
  await ended;
  arrivals.completed();
  schedule.pump();
  expect(sent).toHaveLength(4);
});

// ---- The thread that wakes the load generator between two ticks of its timers.

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
  expect([await ended, wakes()]).toEqual([[0], 1]);
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
