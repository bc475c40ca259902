/** The estimated time left of parallel runs, on an injected clock. */
import { TimeLeft } from '../../../dist/cli/output/progress.js';

interface Estimate {
  done: number;
  leftMs: number | null;
  /** Time that was really left. */
  trueMs: number;
}

/** Runs items of the given durations on workers. Returns the estimate at each result. */
function estimates(durations: readonly number[], jobs: number, before = 0): Estimate[] {
  const free = new Array<number>(Math.min(jobs, durations.length)).fill(0);
  const ends = durations.map((duration) => {
    const worker = free.indexOf(Math.min(...free));
    free[worker]! += duration;
    return free[worker]!;
  });
  ends.sort((a, b) => a - b);
  let now = 0;
  const left = new TimeLeft(jobs, () => now);
  const of = before + ends.length;
  expect(left.update(before, of)).toBe(null);
  return ends.map((end, index) => {
    now = end;
    const done = before + index + 1;
    return { done, leftMs: left.update(done, of), trueMs: ends.at(-1)! - end };
  });
}

test.each([
  [1, 20],
  [2, 20],
  [16, 100],
  [16, 64],
  [64, 100],
  [64, 1_000],
  [100, 30],
])('time left: exact with equal runs: %i jobs, %i runs', (jobs, runs) => {
  const found = estimates(new Array<number>(runs).fill(60_000), jobs);
  for (const { done, leftMs, trueMs } of found) {
    if (done === runs) expect(leftMs).toBe(null);
    else expect(leftMs, `${done} of ${runs}`).toBeCloseTo(trueMs);
  }
});

test('time left: exact although results of a wave arrive a little apart', () => {
  const durations = Array.from({ length: 200 }, (_, index) => 60_000 + (index % 16) * 10);
  for (const { done, leftMs, trueMs } of estimates(durations, 16).slice(0, -1)) {
    expect(Math.abs(leftMs! - trueMs), `${done}`).toBeLessThan(2_000);
  }
});

test('time left: runs that were done before take no time', () => {
  const [first] = estimates(new Array<number>(40).fill(60_000), 4, 1_000);
  expect(first).toMatchObject({ done: 1_001, leftMs: 540_000 });
});

test('time left: close with runs of unequal duration, once some long runs have ended', () => {
  let state = 7;
  const draw = () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const durations = Array.from({ length: 800 }, () => (draw() < 0.2 ? 60_000 : 20_000 * draw()));
  for (const { done, leftMs, trueMs } of estimates(durations, 16)) {
    if (done < 100 || done > 736) continue;
    expect(leftMs! / trueMs, `${done}`).toBeGreaterThan(0.6);
    expect(leftMs! / trueMs, `${done}`).toBeLessThan(1.7);
  }
});

test('time left: follows durations that rise along the design', () => {
  const durations = Array.from({ length: 1_000 }, (_, index) => (index < 500 ? 1_000 : 30_000));
  const late = estimates(durations, 8).filter(({ done }) => done >= 700 && done < 990);
  for (const { done, leftMs, trueMs } of late) {
    expect(leftMs! / trueMs, `${done}`).toBeGreaterThan(0.6);
    expect(leftMs! / trueMs, `${done}`).toBeLessThan(1.2);
  }
});

test('time left: counts items that end in groups, and a total that grows', () => {
  let now = 0;
  const left = new TimeLeft(1, () => now);
  left.update(0, 10_000);
  now = 5_000;
  expect(left.update(1_000, 10_000)).toBeCloseTo(45_000);
  now = 10_000;
  expect(left.update(2_000, 20_000)).toBeCloseTo(90_000);
});
