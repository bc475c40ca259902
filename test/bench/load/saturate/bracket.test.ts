/** The search for the highest rate, on servers with a known capacity. */
import { assert, asyncProperty, double } from 'fast-check';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import {
  findBracket,
  judgeSearch,
  MOST_ERROR,
  overlap,
  RESOLUTION,
  startNear,
} from '../../../../dist/bench/load/saturation.js';
import { noise, saturation } from '../fixture.js';

/** Returns brackets whose failing rates have these verdicts. */
const failing = (...verdicts: LoadResult['verdict'][]) =>
  verdicts.map((verdict) => {
    const [first] = saturation().brackets;
    const probes = first!.probes.map((probe) =>
      probe.rate === first!.fails ? { ...probe, verdict } : probe,
    );
    return { ...first!, probes };
  });

test.each<[LoadResult['verdict'][], LoadResult['verdict']]>([
  [['INVALID', 'INVALID', 'CLIENT_BOUND'], 'VALID'],
  [['CLIENT_BOUND', 'INVALID', 'WORKLOAD_BOUND'], 'VALID'],
  [['CLIENT_BOUND', 'CLIENT_BOUND'], 'CLIENT_BOUND'],
  [['CLIENT_BOUND', 'WORKLOAD_BOUND'], 'WORKLOAD_BOUND'],
])('search: failing rates that were %j give %s', (verdicts, expected) => {
  const { verdict, reasons } = judgeSearch(failing(...verdicts), null, 'complete');
  expect(verdict).toBe(expected);
  // The reasons count the brackets of each limit.
  for (const [name, word] of [
    ['CLIENT_BOUND', 'generator'],
    ['WORKLOAD_BOUND', 'workload'],
  ] as const) {
    const count = verdicts.filter((one) => one === name).length;
    const found = reasons.filter((text) => text.includes(word));
    expect(found).toEqual(count > 0 ? [expect.stringContaining(`${count} of`)] : []);
  }
});

test('search: is bound by the generator although one bracket had no failing rate', () => {
  const [bound, other] = failing('CLIENT_BOUND', 'VALID');
  const open = { ...other!, fails: null };
  expect(judgeSearch([bound!, open], null, 'complete').verdict).toBe('CLIENT_BOUND');
  expect(judgeSearch([open], null, 'complete').verdict).toBe('VALID');
});

test('search: an interruption is INCOMPLETE, and a failure INVALID', () => {
  expect(judgeSearch([], 'run interrupted', 'interrupted').verdict).toBe('INCOMPLETE');
  expect(judgeSearch([], 'server unreachable', 'failed').verdict).toBe('INVALID');
});

/** Returns a server that sustains any rate up to its capacity and counts the probes. */
function server(capacity: number, misleads: () => boolean = () => false) {
  const asked: number[] = [];
  const probe = async (rate: number) => {
    asked.push(rate);
    // Other programs make a probe fail, and never make it hold.
    return { holds: rate <= capacity && !misleads(), disturbed: false };
  };
  return { asked, probe };
}

const rates = double({ min: 1, max: 1_000_000, noNaN: true });

test('bracket: contains the capacity, within a tenth, from any start', async () => {
  const property = asyncProperty(rates, rates, async (capacity, rate) => {
    const { probe, asked } = server(capacity);
    const { holds, fails, error } = await findBracket({ rate, step: 2 }, probe);
    // The chances are computed on a grid of half a percent.
    if (asked.some((one) => Math.abs(Math.log(capacity / one)) < 0.01)) return;
    expect(holds).toBeLessThanOrEqual(capacity);
    if (fails !== null) {
      expect(fails).toBeGreaterThan(capacity);
      expect(fails).toBeLessThanOrEqual(Math.max(1, holds * RESOLUTION) * (1 + 1e-9));
    } else expect(holds).toBe(1_000_000);
    if (holds > 0 && fails !== null) expect(error).toBeLessThanOrEqual(MOST_ERROR);
    expect(asked.length).toBeLessThan(40);
  });
  await assert(property, { numRuns: 50 });
});

test('bracket: its error is at least that of searches in which probes fail by chance', async () => {
  const chance = noise(5);
  let [outside, probes] = [0, 0];
  const runs = 300;
  for (let run = 0; run < runs; run += 1) {
    const capacity = 100 + 4_000 * chance();
    const { probe, asked } = server(capacity, () => chance() < 0.05);
    const { holds, fails } = await findBracket({ rate: 1_000, step: 2 }, probe);
    if (capacity < holds || capacity >= (fails ?? Number.POSITIVE_INFINITY)) outside += 1;
    probes += asked.length;
  }
  // 5 % of 300, and three standard deviations.
  expect(outside).toBeLessThanOrEqual(15 + 12);
  expect(probes / runs).toBeLessThan(12);
});

test('bracket: few probes confirm the previous bracket', async () => {
  const { probe, asked } = server(1_234);
  const first = await findBracket({ rate: 100, step: 2 }, probe);
  const before = asked.length;
  const second = await findBracket(startNear(first), probe);
  expect([before <= 12, asked.length - before <= 4]).toEqual([true, true]);
  expect(overlap([first, second])).toBe(true);
});

test('bracket: does not overlap the earlier one once the server is half as fast', async () => {
  const first = await findBracket({ rate: 100, step: 2 }, server(1_000).probe);
  const second = await findBracket(startNear(first), server(500).probe);
  expect(second.holds).toBeLessThanOrEqual(500);
  expect(second.fails).toBeGreaterThan(500);
  expect(overlap([first, second])).toBe(false);
});

test('bracket: ranges from 0 to 1 if no rate holds', async () => {
  const { probe } = server(0);
  expect(await findBracket({ rate: 50, step: 2 }, probe)).toMatchObject({ holds: 0, fails: 1 });
});

test('bracket: an aborted search returns the rates so far', async () => {
  const answers = [true, false];
  const found = await findBracket({ rate: 100, step: 2 }, async () => {
    const [holds] = answers.splice(0, 1);
    return holds === undefined ? null : { holds, disturbed: false };
  });
  expect(found).toMatchObject({ holds: 100, fails: 200 });
});
