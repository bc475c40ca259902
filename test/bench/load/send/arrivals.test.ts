/** Tests the intended times of requests, and their sending. */

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { arrivalTimes, planOf, valueAt } from '../../../../dist/bench/load/executors.js';
import {
  type Arrivals,
  arrivalsOf,
  type Closed,
  closedLoop,
  evenly,
  type Lane,
  openLoop,
  Schedule,
  type ScheduleOptions,
} from '../../../../dist/bench/load/schedule.js';
import { Ticker } from '../../../../dist/bench/load/ticker.js';
import type { Call } from '../../../../dist/bench/load/workload.js';

const call = { operation: 'read' } as Call;

const tenPerS = () => openLoop(evenly(100), { startMs: 0, endMs: 1_000 });

/** Runs a schedule of one lane and one second on a test clock. */
function scheduled(lane: Partial<Lane>, change: Partial<ScheduleOptions> = {}) {
  const sent: number[] = [];
  const due: number[] = [];
  const schedule = new Schedule({
    lanes: [
      {
        ...{ arrivals: tenPerS(), next: () => call, waitsFor: () => 'answers', drop: () => {} },
        send: (_, intendedMs) => void sent.push(intendedMs),
        due: (intendedMs) => void due.push(intendedMs),
        ...lane,
      },
    ],
    ...{ measureMs: 0, endMs: 1_000, now: () => Date.now() },
    ...{ hasRoom: () => true, isDown: () => false },
    ...change,
  });
  vi.useFakeTimers({ now: 0 });
  const ended = schedule.run().finally(() => vi.useRealTimers());
  return { schedule, sent, due, ended };
}

const every100 = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900];

test('open loop: arrivals are evenly spaced, with none at the end', () => {
  const arrivals = openLoop(evenly(1_000 / 3), { startMs: 1_000, endMs: 2_000 });
  const due: number[] = [];
  arrivals.advance(5_000, (intendedMs) => due.push(intendedMs));
  expect(due).toEqual([1_000, 1_000 + 1_000 / 3, 1_000 + 2_000 / 3]);
  expect(arrivals.nextMs()).toBe(Number.POSITIVE_INFINITY);
});

test('open loop: with a limit, drops arrivals that are due while all users are busy', () => {
  const arrivals = openLoop(evenly(100), { startMs: 0, endMs: 1_000, most: 3 });
  const due: number[] = [];
  arrivals.advance(450, (intendedMs) => due.push(intendedMs));
  const sent = [arrivals.first(450), arrivals.take(), arrivals.first(450)];
  expect([due.length, sent]).toEqual([5, [0, 0, 100]]);
  arrivals.advance(500, () => {});
  for (let left = 2; left > 0; left -= 1) arrivals.take();
  expect(arrivals.first(500)).toBe(null);
  arrivals.completed(0, 500);
  arrivals.advance(600, () => {});
  expect(arrivals.first(600)).toBe(600);
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
  expect(schedule.waitTimes()).toEqual({ connections: 0, answers: 550, signatures: 0 });
  vi.advanceTimersByTime(500);
  await ended;
  expect([sent, schedule.waitTimes().answers]).toEqual([every100, 550]);
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
  const { schedule, sent, due, ended } = scheduled({}, { hasRoom: () => false });
  vi.advanceTimersByTime(1_200);
  await ended;
  schedule.pump();
  expect([due, sent]).toEqual([every100, []]);
});

test('schedule: drops queued warm-up arrivals at the start of the measured time', async () => {
  let room = false;
  const { schedule, sent, ended } = scheduled({}, { measureMs: 500, hasRoom: () => room });
  vi.advanceTimersByTime(500);
  room = true;
  schedule.pump();
  vi.advanceTimersByTime(500);
  await ended;
  expect(sent).toEqual(every100.slice(5));
});

test('schedule: a lane whose workload waits does not hold up another lane', async () => {
  const sent: number[] = [];
  const lane = (next: () => Call | null): Lane => ({
    ...{ arrivals: tenPerS(), next, waitsFor: () => 'answers', drop: () => {}, due: () => {} },
    send: (_, intendedMs) => void sent.push(intendedMs),
  });
  const { schedule, ended } = scheduled({}, { lanes: [lane(() => null), lane(() => call)] });
  vi.advanceTimersByTime(1_200);
  await ended;
  expect(sent).toEqual(every100);
  expect([schedule.waitTimes(0).answers > 900, schedule.waitTimes(1).answers]).toEqual([true, 0]);
});

const users = (count: number, rest: Partial<Closed> = {}): Arrivals =>
  closedLoop({ startMs: 0, endMs: 1_000, users: () => count, ...rest });

test('closed loop: keeps its concurrency; each request waits for an earlier one', async () => {
  const arrivals = users(3);
  const { schedule, sent, ended } = scheduled({ arrivals });
  expect(sent).toEqual([0, 0, 0]);
  vi.advanceTimersByTime(250);
  expect(sent).toHaveLength(3);
  arrivals.completed(0, 250);
  schedule.pump();
  expect(sent).toEqual([0, 0, 0, 250]);
  vi.advanceTimersByTime(800);
  await ended;
  arrivals.completed(0, 1_050);
  schedule.pump();
  expect(sent).toHaveLength(4);
});

/** Runs virtual users against a server that answers after 10 ms, with the numbers of the users. */
async function answered(arrivals: Arrivals) {
  const begun: { atMs: number; user: number }[] = [];
  let pump = () => {};
  const { schedule, ended } = scheduled({
    arrivals,
    send: (_, atMs, user) => {
      begun.push({ atMs, user });
      setTimeout(() => {
        arrivals.completed(user, Date.now());
        pump();
      }, 10);
    },
  });
  pump = () => schedule.pump();
  await vi.advanceTimersByTimeAsync(1_200);
  await ended;
  return begun;
}

test.each([
  ['of all users together', false, 7],
  ['of each user', true, 21],
])('closed loop: ends after a number of iterations %s', async (_, each, count) => {
  const begun = await answered(users(3, { iterations: { count: 7, each } }));
  expect(begun).toHaveLength(count);
  const of = (user: number) => begun.filter((one) => one.user === user).length;
  if (each) expect([of(0), of(1), of(2)]).toEqual([7, 7, 7]);
});

test('closed loop: a user thinks after each iteration', async () => {
  const begun = await answered(users(1, { think: () => 90 }));
  expect(begun.map(({ atMs }) => atMs)).toEqual(every100);
});

test('closed loop: the number of users follows the stages', async () => {
  const plan = planOf('ramping-vus', {
    startVUs: 0,
    stages: [
      { duration: '500ms', target: 10 },
      { duration: '500ms', target: 0 },
    ],
  });
  const begun = await answered(users(0, { users: (atMs) => valueAt(plan, atMs) }));
  const between = (from: number, to: number) =>
    begun.filter(({ atMs }) => atMs >= from && atMs < to).length;
  // Each user has an iteration every 10 ms, so the counts are the areas below the ramp.
  for (const [from, area] of [
    [0, 10],
    [200, 50],
    [400, 90],
    [600, 70],
    [800, 30],
  ] as const) {
    expect(Math.abs(between(from, from + 100) - area), `${from} ms`).toBeLessThanOrEqual(15);
  }
});

// ---- Executors: the six blocks of k6, and the laws of arrivals.

const open = { name: 'x', executor: '', startMs: 0, stopMs: null, think: null } as const;
const blocks = [
  ['constant-arrival-rate', { rate: 90, timeUnit: '1s', duration: '20s' }],
  ['constant-arrival-rate', { rate: 6_000, timeUnit: '1m', duration: '20s', maxVUs: 100 }],
  [
    'ramping-arrival-rate',
    {
      startRate: 300,
      timeUnit: '1m',
      stages: [
        { target: 300, duration: '5s' },
        { target: 6_000, duration: '8s' },
        { target: 600, duration: '0s' },
        { target: 600, duration: '7s' },
      ],
    },
  ],
] as const;

/** Counts the arrivals of each second, and the planned ones by numerical integration. */
test.each(blocks)('executor %s: the planned arrivals of each second', (executor, members) => {
  const plan = planOf(executor, members as never);
  const times = [...arrivalTimes({ plan, law: 'uniform', seed: 's' })];
  const steps = Array.from({ length: 20_000 }, (_, ms) => valueAt(plan, ms + 0.5) / 1_000);
  for (let second = 0; second < 20; second += 1) {
    const due = times.filter((ms) => ms >= 1_000 * second && ms < 1_000 * (second + 1)).length;
    const wanted = steps.slice(1_000 * second, 1_000 * (second + 1)).reduce((a, b) => a + b, 0);
    expect(Math.abs(due - wanted), `second ${second}`).toBeLessThanOrEqual(1 + 0.01 * wanted);
  }
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('executor: the parts of several generators are the whole, each arrival once', () => {
  const whole = planOf('constant-arrival-rate', { rate: 30, duration: '2s' });
  const part = planOf('constant-arrival-rate', { rate: 10, duration: '2s' });
  const parts = [0, 1, 2].flatMap((index) => [
    ...arrivalTimes({ plan: part, law: 'uniform', seed: 's', shard: { index, count: 3 } }),
  ]);
  const times = [...arrivalTimes({ plan: whole, law: 'uniform', seed: 's' })];
  expect(parts.sort((a, b) => a - b).map(Math.round)).toEqual(times.map(Math.round));
});

test('executor: Poisson arrivals have exponential gaps and the ramp of the plan', () => {
  const stages = [{ duration: '100s', target: 200 }];
  const plan = planOf('ramping-arrival-rate', { startRate: 0, stages });
  const times = [...arrivalTimes({ plan, law: 'poisson', seed: 'p' })];
  // On a clock that runs as the rate, the gaps of a Poisson process are exponential.
  const areas = times.map((ms) => (ms * ms) / 1e6);
  const gaps = areas.map((area, index) => area - (areas[index - 1] ?? 0));
  const sorted = gaps.map((gap) => 1 - Math.exp(-gap)).sort((a, b) => a - b);
  const distance = sorted.reduce((most, p, index) => {
    return Math.max(
      most,
      Math.abs(p - index / sorted.length),
      Math.abs(p - (index + 1) / sorted.length),
    );
  }, 0);
  // Kolmogorov and Smirnov: 1.63 / sqrt(n) at a level of 1 %.
  expect(times.length).toBeGreaterThan(9_000);
  expect(distance).toBeLessThan(1.63 / Math.sqrt(sorted.length));
});

test('executor: a trace gives its times, from the start of the scenario to its end', () => {
  const plan = planOf('constant-arrival-rate', { rate: 1, duration: '1s' });
  const scenario = { ...open, plan, law: [0, 10, 400, 1_500], mix: { read: 1 }, script: null };
  const arrivals = arrivalsOf(scenario, 5_000, { seed: 's', draw: () => 0 });
  const due: number[] = [];
  arrivals.advance(9_000, (intendedMs) => due.push(intendedMs));
  expect(due).toEqual([5_000, 5_010, 5_400]);
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
    lanes: [
      {
        arrivals: openLoop(evenly(5), { startMs, endMs }),
        ...{ next: () => call, waitsFor: () => 'answers', drop: () => {}, due: () => {} },
        send: (_, intendedMs) => void intended.push(intendedMs - startMs),
      },
    ],
    ...{ measureMs: startMs, endMs, now: () => performance.now() },
    ...{ hasRoom: () => true, isDown: () => false },
  });
  await schedule.run();
  expect(intended.map(Math.round)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
});
