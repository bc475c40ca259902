/** Merging the parts of a run on several generators. */
import { deflateSync, inflateSync } from 'node:zlib';
import { mergeLoads, mergePercentiles } from '../../../../dist/bench/load/merge.js';
import { Nodes } from '../../../../dist/bench/load/nodes.js';
import { Recorder } from '../../../../dist/bench/load/recorder.js';
import { LoadResult } from '../../../../dist/bench/load/result.js';
import { Value } from '../../../../dist/engine/protocol/bundled/typebox.js';
import { loadResult, noise } from '../fixture.js';
import { sum } from '../generator.js';

interface PartChanges extends Partial<LoadResult> {
  offsetMs?: number | null;
  movedMs?: number;
}

/** Returns part `number` of `count`, as a generator writes it. */
function part(number: number, count: number, changes: PartChanges = {}): LoadResult {
  const { offsetMs = number, movedMs = 0, ...rest } = changes;
  const whole = loadResult({ seed: number, rate: 100, workload: 'transactions' });
  const shard = {
    ...{ number, count, start_at: '2025-11-21T20:50:52.000Z' },
    ...{ clock_offset_ms: offsetMs, clock_uncertainty_ms: 2, clock_moved_ms: movedMs },
  };
  // The fixture has a sample for each proposed transaction.
  const { proposed } = whole.transactions;
  const transactions = { ...whole.transactions, finalized: proposed, timed_out: 0, unfinished: 0 };
  return { ...whole, transactions, seed: 'common', verdict: 'VALID', reasons: [], shard, ...rest };
}

const parts = (...results: LoadResult[]) =>
  results.map((result, index) => ({ folder: `part-${index + 1}`, result }));
const bound = { clockBoundMs: 50 };

test('merge: counts add up, and the result follows its schema', () => {
  const all = [part(2, 3), part(1, 3), part(3, 3)];
  const merged = mergeLoads(parts(...all), bound);
  expect([...Value.Errors(LoadResult, merged)]).toEqual([]);
  const total = (of: (result: LoadResult) => number) => sum(all.map(of));
  expect(merged.arrivals.accepted).toBe(total(({ arrivals }) => arrivals.accepted));
  expect(merged.transactions.finalized).toBe(total((one) => one.transactions.finalized));
  expect(merged.transactions.finalized).toBe(merged.finality.count);
  expect(merged.operations[0]!.sent).toBe(total(({ operations }) => operations[0]!.sent));
  expect(sum(merged.seconds.map(({ accepted }) => accepted))).toBe(
    total(({ seconds }) => sum(seconds.map(({ accepted }) => accepted))),
  );
  expect([merged.asked.rate, merged.shards!.map(({ number }) => number)]).toEqual([300, [1, 2, 3]]);
  expect(merged.shard).toBe(undefined);
});

function newRecorder(): Recorder {
  const calls = { now: () => 0, onReturned() {}, onGone() {} };
  const nodes = new Nodes({ urls: ['http://127.0.0.1:1'], seed: '', keepGoing: false, ...calls });
  return new Recorder({ startMs: 0, endMs: 1_000_000 }, 1_000, nodes, 1);
}

test.each([
  [60, false],
  [999, false],
  [1_000, true],
])('samples: a p99.9 of %d blocks and of %d updates is shown: %s', (groups, shown) => {
  const recorder = newRecorder();
  for (let group = 0; group < groups; group += 1) {
    recorder.proposed(100, group);
    recorder.finalized(100, group, group + 50);
    recorder.deliveries({ expected: 20 }, group);
    for (let subscriber = 0; subscriber < 20; subscriber += 1) recorder.delivered(9, group);
  }
  const { finality, delivery } = recorder.result(10, 2_000);
  const p999 = shown ? expect.any(Number) : null;
  expect(finality).toMatchObject({ count: 100 * groups, independent: groups, p999 });
  expect(delivery.latency).toMatchObject({ count: 20 * groups, independent: groups, p999 });
  expect(recorder.soFar(10, 2_000).finality).toMatchObject({ independent: groups, p999 });
  const both = mergePercentiles([finality, finality]);
  expect(both.independent).toBe(2 * groups);
  expect(both.p999 === null).toBe(2 * groups < 1_000);
});

/** Records response times as a run does, and returns the histogram of the result. */
function recorded(timesMs: readonly number[]) {
  const recorder = newRecorder();
  const call = { operation: 'read' } as Parameters<Recorder['sent']>[0]['call'];
  for (const [index, ms] of timesMs.entries()) {
    const arrival = { scenario: 0, user: 0 };
    const exchange = { call, arrival, node: 0, intendedMs: index, sentMs: index };
    recorder.sent(exchange);
    const outcome = { kind: 'accepted', status: 200, data: {} } as const;
    recorder.completed(exchange, outcome, index + ms);
  }
  return recorder.result(1, 1_000_000).operations[0]!.response;
}

test('merge: quantiles are those of the union of all samples, within the resolution', () => {
  const chance = noise(7);
  // The generators differ: fast, slow, and few samples with a long tail.
  const samples = [
    Array.from({ length: 5_000 }, () => 1 + 4 * chance()),
    Array.from({ length: 3_000 }, () => 20 + 80 * chance() ** 3),
    Array.from({ length: 50 }, () => 500 + 29_000 * chance()),
    [],
  ];
  const merged = mergePercentiles(samples.slice(0, 3).map(recorded));
  const union = samples.flat().sort((a, b) => a - b);
  expect(merged.count).toBe(union.length);
  const names = { p50: 50, p90: 90, p95: 95, p99: 99, p999: 99.9, max: 100 } as const;
  for (const [name, percent] of Object.entries(names)) {
    const exact = union[Math.max(0, Math.ceil((percent / 100) * union.length) - 1)]!;
    const found = merged[name as keyof typeof names]!;
    // Three significant digits, and a microsecond of rounding.
    expect(Math.abs(found - exact), name).toBeLessThanOrEqual(0.001 * exact + 0.001);
  }
});

test('merge: a generator without a result is named, and the run is INVALID', () => {
  const given = [{ folder: 'runs/b', result: null }, ...parts(part(1, 3), part(3, 3))];
  const { verdict, reasons } = mergeLoads(given, bound);
  expect(verdict).toBe('INVALID');
  expect(reasons[0]).toContain('generator 2 (runs/b)');
  const absent = mergeLoads(parts(part(1, 2)), bound);
  expect([absent.verdict, absent.reasons[0]]).toEqual([
    'INVALID',
    expect.stringContaining('generator 2'),
  ]);
});

test.each([
  ['was the bottleneck', { verdict: 'CLIENT_BOUND', reasons: ['lag 80 ms'] }, 'lag 80 ms'],
  ['was interrupted', { ended: 'interrupted', reasons: ['run interrupted'] }, 'interrupted'],
  ['has a clock that moved', { movedMs: -51 }, '-51'],
  ['has an unknown clock', { offsetMs: null }, 'clock'],
] as const)('merge: a generator that %s makes the run INVALID', (_, changes, detail) => {
  const damaged = part(2, 2, changes as unknown as PartChanges);
  const { verdict, reasons } = mergeLoads(parts(part(1, 2), damaged), bound);
  expect(verdict).toBe('INVALID');
  for (const part of ['generator 2', detail]) expect(reasons[0]).toContain(part);
});

test('merge: the difference of clocks is bounded, including the uncertainty', () => {
  const apart = (offsetMs: number) =>
    mergeLoads(parts(part(1, 3), part(2, 3, { offsetMs }), part(3, 3)), bound);
  expect(apart(47).reasons.filter((reason) => reason.includes('clocks differ'))).toEqual([]);
  const { verdict, reasons } = apart(48);
  expect(verdict).toBe('INVALID');
  expect(reasons[0]).toMatch(/clocks differ by 47 ms: generators 1 and 2 \(bound 50 ms/);
});

/** Compresses bytes as a histogram: cookie, length, deflated part. */
function packed(plain: Buffer): string {
  const deflated = deflateSync(plain);
  const head = Buffer.alloc(8);
  head.writeInt32BE(0x1c849314, 0);
  head.writeInt32BE(deflated.byteLength, 4);
  return Buffer.concat([head, deflated]).toString('base64');
}

/** Returns a part whose histogram of finality has other bytes. */
function withHistogram(histogram: string): LoadResult {
  const { finality } = part(2, 2);
  return part(2, 2, { finality: { ...finality, histogram } });
}

/** Returns the histogram of a result with another number of significant digits. */
function withDigits(digits: number): string {
  const bytes = Buffer.from(part(2, 2).finality.histogram!, 'base64');
  const plain = inflateSync(bytes.subarray(8));
  plain.writeInt32BE(digits, 12);
  return packed(plain);
}

test('merge: stops decompressing a histogram at its limit', () => {
  const bomb = withHistogram(packed(Buffer.alloc(64 * 2 ** 20)));
  expect(() => mergeLoads(parts(part(1, 2), bomb), bound)).toThrow(
    expect.objectContaining({
      code: 'MISSING',
      cause: expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }),
    }),
  );
});

test.each([
  ['a histogram of five digits', withHistogram(withDigits(5))],
  ['another seed', part(2, 2, { seed: 'other' })],
  ['another start', part(2, 2, { shard: { ...part(2, 2).shard!, start_at: 'later' } })],
  ['the same number', part(1, 2)],
  ['no number', (({ shard: _, ...rest }) => rest)(part(2, 2))],
  ['a damaged histogram', part(2, 2, { finality: { ...part(2, 2).finality, histogram: 'AAAA' } })],
  ['other counts', part(2, 2, { finality: { ...part(2, 2).finality, count: 3 } })],
])('merge: refuses a part with %s', (_, other) => {
  expect(() => mergeLoads(parts(part(1, 2), other), bound)).toThrow(
    expect.objectContaining({ code: 'MISSING', name: 'StoreError' }),
  );
});
