/** Charts do not mislead: they hide nothing, join no separate points, and use sensible axes. */
import fc from 'fast-check';
import { measures as dictionary } from 'folkmoot/sim';
import { parseHTML } from 'linkedom';
import { type Chart, figure } from '../../dist/report/figure.js';
import { timeScale } from '../../dist/report/shared/format.js';
import { getBounds, isShare, measureTitle } from '../../dist/report/shared/measures.js';
import { finalityChart, outcomesChart } from '../../dist/sim/report/block-charts.js';
import { clipToRange, computeRange, responseChart } from '../../dist/sim/report/sweep-charts.js';
import { type ClosedBlock, findOutages, type Shade } from '../../dist/sim/report/timeline.js';
import { clampInterval, computeStatistics, Sample } from '../../dist/sim/sweep/statistics.js';

type Measures = Parameters<typeof finalityChart>[1];
const measures = { finality_p50_ms: 2_000, finality_p95_ms: 2_400 } as Measures;

const drawn = (chart: Chart | null) => {
  const { document } = parseHTML(`<html><body>${figure(chart!).text}</body></html>`);
  return document.querySelector('svg.wide')!;
};

/** Returns the horizontal positions of a path's points, from left to right. */
const acrossOf = (path: Element): number[] =>
  [...path.getAttribute('d')!.matchAll(/[MLHC]?(-?[\d.]+)[,HV]/g)].map(([, x]) => Number(x));

const named = { height: 1, hash: '' };
const final = (closedMs: number): ClosedBlock => ({
  ...named,
  status: 'finalized',
  closedMs,
  finalityMs: 2_000,
});
const other = (status: ClosedBlock['status'], closedMs: number): ClosedBlock => {
  return { ...named, status, closedMs, finalityMs: null };
};

/** One block every four seconds. Between 60 and 150 seconds, blocks expire instead. */
const cut: ClosedBlock[] = Array.from({ length: 60 }, (_, index) => 4_000 * (index + 1)).map(
  (ms) => (ms > 60_000 && ms < 150_000 ? other('expired', ms) : final(ms)),
);

test('finality: interrupts the median line at an outage', () => {
  const chart = finalityChart(cut, measures, [], 240_000)!;
  const lines = [...drawn(chart).querySelectorAll('[stroke="var(--ink)"] path, path')]
    .filter((path) => path.parentElement!.getAttribute('stroke-width') === '1.6')
    .map((path) => path.getAttribute('d')!);
  expect(lines).toHaveLength(2);
  const [left, right] = lines.map((d) => [...d.matchAll(/[ML](-?[\d.]+),/g)].map(([, x]) => +x!));
  // The axis margins are 52 pixels on the left and 20 pixels on the right.
  const at = (ms: number) => 52 + (ms / 240_000) * (880 - 72);
  expect(Math.max(...left!)).toBeLessThanOrEqual(at(60_000) + 1);
  expect(Math.min(...right!)).toBeGreaterThanOrEqual(at(150_000) - 1);
  expect(chart.caption).toContain('from 1 min to 2.53 min');
});

test('finality: marks blocks that were not finalized with the symbol of their outcome', () => {
  const blocks = [...cut, other('orphaned', 200_000), other('rejected', 201_000)];
  const chart = finalityChart(blocks, measures, [], 240_000)!;
  const expired = cut.filter(({ status }) => status === 'expired').length;
  expect(expired).toBeGreaterThan(10);
  const texts = chart.legend!.map(({ text }) => text);
  expect(texts).toEqual([
    ...[`finalized (${60 - expired})`, 'running median', `expired (${expired})`, 'rejected (1)'],
    ...['orphaned (1)', 'no finalization'],
  ]);
  const signs = chart.legend!.flatMap(({ sign }) => sign ?? []);
  expect(new Set(signs).size).toBe(signs.length);
  const marks = drawn(chart).querySelectorAll('[fill="var(--c5)"] path, path[fill="var(--c5)"]');
  expect(marks.length).toBe(expired);
});

test('outages: finds outages at the start and at the end, and none in a steady run', () => {
  const steady = Array.from({ length: 50 }, (_, index) => 2_000 * (index + 1));
  expect(findOutages(steady, 100_000)).toEqual([]);
  const late = steady.map((ms) => ms + 60_000);
  expect(findOutages(late, 300_000)).toEqual([
    { fromMs: 0, toMs: 62_000 },
    { fromMs: 160_000, toMs: 300_000 },
  ]);
});

test('outcomes: shows blocks that closed at the last instant', () => {
  const blocks = [final(1_000), final(5_000), other('rejected', 10_000), other('rejected', 10_000)];
  const chart = outcomesChart(blocks, [], 10_000)!;
  const rejected = drawn(chart).querySelector('path[fill="var(--c2)"]')!;
  const edges = acrossOf(rejected);
  expect(Math.max(...edges)).toBeGreaterThan(850);
  const heights = [...rejected.getAttribute('d')!.matchAll(/[VL]?(?:-?[\d.]+),(-?[\d.]+)/g)];
  expect(heights.length).toBeGreaterThan(1);
  // The width runs from the rise to the right end.
  const rises = [...rejected.getAttribute('d')!.matchAll(/[\d.]+/g)].map(([x]) => Number(x));
  const near = rises.filter((x) => x > 820 && x < 859);
  expect(Math.max(...edges) - Math.min(...near)).toBeGreaterThan(4);
  expect(chart.caption).toContain('n = 4: 2 finalized, 2 rejected');
});

test('shades: marks faults and interventions in every chart over time and in its caption', () => {
  const shades: Shade[] = [
    { kind: 'fault', label: 'partition', fromMs: 60_000, toMs: 150_000 },
    { kind: 'intervention', label: 'silence town', fromMs: 30_000, toMs: 240_000 },
  ];
  for (const chart of [
    finalityChart(cut, measures, shades, 240_000)!,
    outcomesChart(cut, shades, 240_000)!,
  ]) {
    expect(chart.caption).toContain('partition from 1 min to 2.5 min; silence town from');
    const texts = [...drawn(chart).querySelectorAll('text')].map(({ textContent }) => textContent);
    expect(texts).toEqual(expect.arrayContaining(['partition', 'silence town']));
    expect(drawn(chart).querySelectorAll('rect[fill="var(--c4)"]').length).toBe(1);
    expect(drawn(chart).querySelectorAll('rect[fill="var(--c8)"]').length).toBe(1);
  }
});

const names = Object.keys(dictionary);

test('titles: gives each measure a distinct title', () => {
  const titles = names.map(measureTitle);
  expect(titles.filter((title) => /_|^[a-z]/.test(title))).toEqual([]);
  expect(new Set(titles).size).toBe(titles.length);
});

const estimate = fc
  .tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.double({ min: -3, max: 4, noNaN: true }),
    fc.double({ min: -3, max: 4, noNaN: true }),
  )
  .map(([mean, a, b]) => ({
    ...{ x: 1, line: 0, panel: '', mean },
    low: Math.min(a, b, mean),
    high: Math.max(a, b, mean),
  }));

test('intervals: keeps the axis of a share between 0 and 1', () => {
  fc.assert(
    fc.property(fc.array(estimate, { minLength: 1 }), (rows) => {
      const range = computeRange('finalized_share', rows);
      expect(range).toEqual({ least: 0, most: 1 });
      for (const { low, high } of clipToRange(rows, range)) {
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('intervals: clips an interval that is far wider than the means', () => {
  const rows = [6.5, 1, 2, 4].map((mean) => ({
    ...{ x: mean, line: 0, panel: '', mean, low: mean, high: mean },
  }));
  const wide = [{ ...rows[0]!, low: 0, high: 122 }, ...rows.slice(1)];
  const range = computeRange('expired', wide);
  expect(range.most).toBeLessThan(30);
  expect(clipToRange(wide, range).map((c) => c.cutHigh)).toEqual([true, false, false, false]);
});

test('intervals: clips intervals and differences to the bounds of a measure', () => {
  const value = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 2, maxLength: 8 }), (values) => {
      const share = computeStatistics(Sample.of(values), 'share');
      const means = computeStatistics(Sample.of(values.map((one) => 100 * one)), 't_log');
      const kept = clampInterval(means, 0, getBounds('reputation_mean').most!);
      for (const [{ low, high, mean }, most] of [
        [share, 1],
        [kept, 100],
      ] as const) {
        if (low === null) continue;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(most);
        expect(mean).toBeGreaterThanOrEqual(low - 1e-6);
        expect(mean).toBeLessThanOrEqual(high! + 1e-6);
      }
    }),
  );
  expect(names.filter(isShare).length).toBeGreaterThan(8);
});

test('sweeps: separates overlapping lines by offset, dashes and symbols', () => {
  const factor = (column: string, levels: string[]) => ({
    ...{ column, path: column, levels, numeric: true },
  });
  const [x, lines] = [factor('loss', ['0', '1', '2']), factor('degree', ['4', '8'])];
  const cells = x.levels.flatMap((loss) =>
    lines.levels.map((degree, cell) => ({
      cell,
      levels: { loss, degree },
      estimates: new Map([['participation', { n: 5, mean: 0.5, low: 0.4, high: 0.6 }]]),
      missing: new Map(),
    })),
  );
  const chart = responseChart('participation', { x, lines, panels: null, rest: [] }, cells)!;
  expect(chart.title).toBe('Participation, by loss');
  expect(new Set(chart.legend!.map(({ dash }) => dash)).size).toBe(2);
  expect(new Set(chart.legend!.map(({ sign }) => sign)).size).toBe(2);
  const svg = drawn(chart);
  const moved = [...svg.querySelectorAll('g[transform]')].map((group) =>
    group.getAttribute('transform'),
  );
  expect(new Set(moved.filter((text) => /translate\(-?2/.test(text!))).size).toBeGreaterThan(1);
});

test('times: puts a tick at the lower end of an axis, also below 1', () => {
  const some = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(some, (times) => {
      const { wide, unit, least, axis } = timeScale(times);
      if (!wide) return;
      const ticks = axis.ticks as number[];
      const [floor, top] = axis.domain;
      expect(ticks[0]! / floor).toBeCloseTo(1, 4);
      expect(ticks.length).toBeGreaterThan(1);
      expect(least).toBeCloseTo(floor * unit.ms, 6);
      for (const tick of ticks) expect(tick).toBeLessThanOrEqual(top * 1.0001);
    }),
  );
  const lag = timeScale([0.3, 0.6, 7, 200]);
  expect(lag.axis.ticks).toEqual([0.2, 1, 10, 100]);
});
