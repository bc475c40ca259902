/** When requests are meant to be sent, and that they are. */
import { expect, test, vi } from 'vitest';
import {
  closedLoop,
  openLoop,
  Schedule,
  type ScheduleOptions,
} from '../../../../dist/bench/load/schedule.js';
import type { Call } from '../../../../dist/bench/load/workload.js';

const call = { operation: 'read' } as Call;

/** A schedule of one second, on a clock that the test turns. */
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
    send: (_, intendedMs) => sent.push(intendedMs),
    due: (intendedMs) => due.push(intendedMs),
    ...change,
  });
  vi.useFakeTimers({ now: 0 });
  const ended = schedule.run().finally(() => vi.useRealTimers());
  return { schedule, sent, due, ended };
}

const every100 = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900];

test('open loop: arrivals are evenly spaced, and none is at the end', () => {
  const arrivals = openLoop(3, 1_000, 2_000);
  const due: number[] = [];
  arrivals.advance(5_000, (intendedMs) => due.push(intendedMs));
  expect(due).toEqual([1_000, 1_000 + 1_000 / 3, 1_000 + 2_000 / 3]);
  expect(arrivals.nextMs()).toBe(Number.POSITIVE_INFINITY);
});

test('schedule: what is due is sent, at its intended times', async () => {
  const { sent, ended } = scheduled({});
  vi.advanceTimersByTime(1_000);
  await ended;
  expect(sent).toEqual(every100);
});

test('schedule: arrivals wait in line for the workload, and keep their times', async () => {
  let open = false;
  const { schedule, sent, due, ended } = scheduled({ next: () => (open ? call : null) });
  vi.advanceTimersByTime(550);
  expect(sent).toEqual([]);
  expect(due).toEqual(every100.slice(0, 6));
  open = true;
  schedule.pump();
  expect(sent).toEqual(every100.slice(0, 6));
  // From the first that was due to the moment at which it could be sent.
  expect(schedule.waitTimes).toEqual({ connections: 0, answers: 550, signatures: 0 });
  vi.advanceTimersByTime(500);
  await ended;
  expect(sent).toEqual(every100);
  expect(schedule.waitTimes.answers).toBe(550);
});

test('schedule: a workload that wakes it while it is asked gets no arrival twice', async () => {
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

test('schedule: what waits for a connection at the end is not sent long after it', async () => {
  const { schedule, sent, due, ended } = scheduled({ hasRoom: () => false });
  vi.advanceTimersByTime(1_200);
  await ended;
  schedule.pump();
  expect([due, sent]).toEqual([every100, []]);
});

test('schedule: what waited in the warm-up is dropped when the measured time begins', async () => {
  let room = false;
  const { schedule, sent, ended } = scheduled({ measureMs: 500, hasRoom: () => room });
  vi.advanceTimersByTime(500);
  room = true;
  schedule.pump();
  vi.advanceTimersByTime(500);
  await ended;
  expect(sent).toEqual(every100.slice(5));
});

test('closed loop: so many at a time, each when one before it is settled', async () => {
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
