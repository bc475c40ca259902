/** Page data for a load run is consistent with the result and limited in size. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LoadView } from '../../../../dist/api/contract/load.js';
import { wholeSeconds } from '../../../../dist/bench/load/figures.js';
import { Steps, toLoadState } from '../../../../dist/bench/load/page-data.js';
import { loadReport } from '../../../../dist/bench/load/report.js';
import type { LoadResult, Operation, Second } from '../../../../dist/bench/load/result.js';
import { Value } from '../../../../dist/engine/protocol/bundled/typebox.js';
import { loadResult, noise, saturation } from '../fixture.js';

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
const most = (numbers: readonly (number | null)[]) =>
  Math.max(...numbers.map((one) => one ?? Number.NEGATIVE_INFINITY));

function secondsOf(count: number, seed = 1): Second[] {
  const chance = noise(seed);
  const ms = () => (chance() < 0.1 ? null : Math.round(chance() * 1e6) / 1e3);
  return Array.from({ length: count }, (_, second) => ({
    ...{ second, intended: Math.floor(chance() * 1_000), sent: 0 },
    ...{ accepted: Math.floor(chance() * 1_000), failed: Math.floor(chance() * 10) },
    finalized_transactions: Math.floor(chance() * 100),
    ...{ response_p50: ms(), response_p95: ms(), response_p99: ms(), lag_max: ms() },
  }));
}

test('steps: are equal whether computed incrementally or at once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000 }), fc.array(fc.nat(2_000)), (count, looks) => {
      const all = secondsOf(count);
      const steps = new Steps();
      for (const until of looks.filter((one) => one < count).sort((a, b) => a - b)) {
        steps.of(all.slice(0, until));
      }
      expect(steps.of(all)).toEqual(new Steps().of(all));
    }),
    { numRuns: 40 },
  );
});

test('steps: are at most a few hundred, and keep all counts and maxima', () => {
  for (const count of [1, 399, 400, 401, 3_600, 86_400]) {
    const all = secondsOf(count);
    const { width, ...columns } = new Steps().of(all);
    const lengths = new Set(Object.values(columns).map(({ length }) => length));
    expect([count, [...lengths]]).toEqual([count, [Math.ceil(count / width)]]);
    expect([...lengths][0]).toBeLessThanOrEqual(400);
    const last = count - width * (Math.ceil(count / width) - 1);
    const counted = columns.accepted.map((mean, index, { length }) =>
      Math.round(mean * (index === length - 1 ? last : width)),
    );
    expect(sum(counted)).toBe(sum(all.map(({ accepted }) => accepted)));
    expect(most(columns.response_p99)).toBe(most(all.map(({ response_p99 }) => response_p99)));
    expect(most(columns.lag_max)).toBe(most(all.map(({ lag_max }) => lag_max)));
  }
});

test('steps: include late counts of a finished second', () => {
  const all = secondsOf(10);
  const steps = new Steps();
  steps.of(all.slice(0, 9));
  all[8] = { ...all[8]!, intended: 5_000 };
  expect(steps.of(all).intended[8]).toBe(5_000);
});

const shape = fc.record({
  seed: fc.nat(1_000),
  workload: fc.constantFrom('votes', 'transactions', 'mixed', 'reads', 'subscribers'),
  operations: fc.subarray(['vote', 'propose', 'read', 'vote (beside)']),
  rate: fc.integer({ min: 1, max: 300 }),
  seconds: fc.integer({ min: 1, max: 20 }),
  failing: fc.constantFrom(0, 0.1, 1),
  stall: fc.boolean(),
} as const);

test('page data: follows its schema, with the figures of the result', () => {
  fc.assert(
    fc.property(shape, fc.boolean(), (drawn, sought) => {
      const result = loadResult(drawn, sought ? { saturation: saturation() } : {});
      const load = toLoadState(result);
      expect([...Value.Errors(LoadView, { version: 1, load })]).toEqual([]);
      const { figures, verdict } = load;
      expect(verdict).toEqual({
        ...{ verdict: result.verdict, reasons: result.reasons, ended: result.ended },
      });
      expect(figures!.arrivals.accepted).toBe(result.arrivals.accepted);
      expect(figures!.seconds.accepted).toEqual(
        wholeSeconds(result).map(({ accepted }) => accepted),
      );
      for (const [index, one] of result.operations.entries()) {
        const of = figures!.operations[index]!;
        expect(of.accepted + of.failed).toBe(one.sent);
        const response = figures!.times.find(
          ({ operation, time }) => operation === one.operation && time === 'response',
        );
        expect(response?.p99 ?? null).toBe(one.response.p99);
        const failures = figures!.failures.filter(({ operation }) => operation === one.operation);
        expect(sum(failures.map(({ count }) => count))).toBe(of.failed);
      }
      expect(load.search?.probes.length ?? 0).toBe(
        sum((result.saturation?.brackets ?? []).map(({ probes }) => probes.length)),
      );
    }),
    { numRuns: 60 },
  );
});

test('page data: pairs the times of the slowest operation at each percentile', () => {
  const [vote, propose] = loadResult({ operations: ['vote', 'propose'] }).operations;
  const timed = (one: Operation, response: number, service: number): Operation => ({
    ...one,
    response: { ...one.response, p99: response },
    service: { ...one.service, p99: service },
  });
  const operations = [timed(vote!, 315, 90), timed(propose!, 270, 266)];
  const base = loadResult({}, { operations });
  const generator = { ...base.generator, attributed: ['propose.p99'] };
  const p99 = (result: LoadResult) => toLoadState(result).figures!.response.p99;
  const slowest = { operation: 'vote', response: 315, service: 90 };
  expect(p99(base)).toEqual({ ...slowest, attributed: true });
  expect(p99({ ...base, generator })).toEqual({ ...slowest, attributed: false });
  expect(loadReport(base)).toMatch(/p99 response, vote<\/dt>\s*<dd[^>]*>315 ms \(service 90 ms\)/);
  expect(loadReport({ ...base, generator })).toContain('(service 90 ms, not attributed');
});

/** Returns a result as from an untrusted file, valid by the schema. */
function hostile(): LoadResult {
  const text = `<img src=x onerror=alert(1)>\u202e${'\u{1f600}x'.repeat(5_000)}`;
  const base = loadResult({ workload: 'transactions', operations: ['propose'] });
  const refused = Array.from({ length: 3_000 }, (_, count) => ({
    ...{ status: 500, code: text, reason: text, count },
  }));
  const operation: Operation = { ...base.operations[0]!, operation: text, refused };
  const found = saturation();
  const probes = found.brackets.flatMap((bracket) => bracket.probes);
  const bracket = {
    ...found.brackets[0]!,
    probes: Array.from({ length: 500 }, () => probes).flat(),
  };
  return {
    ...base,
    reasons: Array.from({ length: 500 }, () => text),
    operations: Array.from({ length: 500 }, () => operation),
    server: { ...base.server, url: text, version: text, network_id: text, limits_profile: text },
    seconds: secondsOf(86_400),
    measured_s: 86_400,
    saturation: { ...found, brackets: Array.from({ length: 20 }, () => bracket) },
  };
}

test('page data: limits a day of seconds, long texts and long lists', () => {
  const load = toLoadState(hostile());
  expect([...Value.Errors(LoadView, { version: 1, load })]).toEqual([]);
  const texts: string[] = [];
  const text = JSON.stringify(load, (_, value) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  expect(text.length).toBeLessThan(500_000);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(800);
  // No character was split.
  expect(texts.filter((one) => /\p{Surrogate}/u.test(one))).toEqual([]);
  expect(load.figures!.failures_omitted).toBeGreaterThan(2_900);
  expect(load.search!.probes_omitted).toBeGreaterThan(1_000);
});
