/** The search for the highest rate, on servers with a known capacity. */
import { assert, asyncProperty, double } from 'fast-check';
import { expect, test } from 'vitest';
import {
  findBracket,
  overlap,
  RESOLUTION,
  startNear,
} from '../../../../dist/bench/load/saturation.js';

/** Returns a server that sustains any rate up to its capacity and counts the probes. */
function server(capacity: number) {
  const asked: number[] = [];
  return {
    asked,
    async holdsAt(rate: number) {
      asked.push(rate);
      return rate <= capacity;
    },
  };
}

const rates = double({ min: 1, max: 1_000_000, noNaN: true });

test('bracket: contains the capacity, within a tenth, from any start', async () => {
  const property = asyncProperty(rates, rates, async (capacity, rate) => {
    const { holdsAt, asked } = server(capacity);
    const { holds, fails } = await findBracket({ rate, step: 2 }, holdsAt);
    expect(holds).toBeLessThanOrEqual(capacity);
    if (fails !== null) {
      expect(fails).toBeGreaterThan(capacity);
      expect(fails).toBeLessThanOrEqual(Math.max(1, holds * RESOLUTION) * (1 + 1e-9));
    } else expect(holds).toBe(1_000_000);
    expect(asked.length).toBeLessThan(40);
  });
  await assert(property);
});

test('bracket: two probes confirm the previous bracket', async () => {
  const { holdsAt, asked } = server(1_234);
  const first = await findBracket({ rate: 100, step: 2 }, holdsAt);
  const before = asked.length;
  const second = await findBracket(startNear(first), holdsAt);
  expect(asked.length - before).toBe(2);
  expect(overlap([first, second])).toBe(true);
});

test('bracket: does not overlap the earlier one once the server is half as fast', async () => {
  const first = await findBracket({ rate: 100, step: 2 }, server(1_000).holdsAt);
  const second = await findBracket(startNear(first), server(500).holdsAt);
  expect(second.holds).toBeLessThanOrEqual(500);
  expect(second.fails).toBeGreaterThan(500);
  expect(overlap([first, second])).toBe(false);
});

test('bracket: ranges from 0 to 1 if no rate holds', async () => {
  const found = await findBracket({ rate: 50, step: 2 }, async () => false);
  expect(found).toEqual({ holds: 0, fails: 1 });
});

test('bracket: an aborted search returns the rates so far', async () => {
  const answers = [true, false, null];
  const found = await findBracket({ rate: 100, step: 2 }, async () => answers.shift()!);
  expect(found).toEqual({ holds: 100, fails: 200 });
});
