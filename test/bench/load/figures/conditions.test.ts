/** Conditions and objectives: parsing, checks, and errors. */
import fc from 'fast-check';
import {
  assertMeasured,
  type Condition,
  findMissed,
  judge,
  parseConditions,
  slo,
} from '../../../../dist/bench/load/conditions.js';
import {
  type LoadOptions,
  loadDefaults,
  parseDuration,
  parseNumber,
  workloadOf,
} from '../../../../dist/bench/load/options.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { loadResult, nothing, outage } from '../fixture.js';

const ordinary = loadResult();
const vote = ordinary.operations[0]!;

const met = (condition: Condition, of: LoadResult, base?: LoadResult) =>
  judge(condition, of, base).met;

/** Returns a result with only these vote figures. */
function withTimes(p99: number | null, more: Partial<LoadResult> = {}): LoadResult {
  const response = { ...vote.response, p50: 5, p90: 50, p95: 75, p99, p999: 300, max: 400 };
  const service = { ...vote.service, p99: 40 };
  const operations = [{ ...vote, sent: 1_000, accepted: 990, response, service }];
  return { ...ordinary, operations, finality: nothing(), ...more };
}

const result = withTimes(200, {
  arrivals: { ...ordinary.arrivals, accepted_per_s: 950 },
  transactions: { ...ordinary.transactions, proposed: 10_000, tps: 800 },
  finality: { ...nothing(), count: 5, p99: 1_500 },
});

test.each([
  ['p99>200ms', null],
  ['p99>=200ms', 'p99>=200ms: 200 ms'],
  ['p99 > 0.1s', 'p99 > 0.1s: 200 ms'],
  ['p99>199999us', 'p99>199999us: 200 ms'],
  ['p50<10ms', 'p50<10ms: 5 ms'],
  ['p95>75ms', null],
  ['p999>299ms', 'p999>299ms: 300 ms'],
  ['p99.9>299ms', 'p99.9>299ms: 300 ms'],
  ['vote.response.p99.9>301ms', null],
  ['finality.p99>=1s500ms', 'finality.p99>=1s500ms: 1.5 s'],
  ['tps<1k', 'tps<1k: 800/s'],
  ['accepted_per_s<=950/s', 'accepted_per_s<=950/s: 950/s'],
  ['max>1s', null],
  ['response.p99>100ms', 'response.p99>100ms: 200 ms'],
  ['service.p99>39ms', 'service.p99>39ms: 40 ms'],
  ['vote.service.p99>40ms', null],
  ['errors>1%', null],
  ['errors>=1%', 'errors>=1%: 1 %'],
  ['vote.errors>0.5%', 'vote.errors>0.5%: 1 %'],
  ['p99>199.9999ms', 'p99>199.9999ms: 200 ms'],
])('condition: %s on the example result gives %j', (text, sentence) => {
  const [condition, ...more] = parseConditions([text], { relative: false });
  expect(more).toEqual([]);
  expect(met(condition!, result)).toBe(sentence);
});

test('conditions: are unmeasured without samples and arrivals', () => {
  const empty = withTimes(null, {
    arrivals: { intended: 0, accepted: 0, accepted_per_s: 0, of_target: null, halves: [] },
    operations: [],
  });
  const texts = ['p99>9s', 'errors>99%', 'tps<0', 'accepted_per_s<0', 'finality.max>9s'];
  const parsed = parseConditions([...texts, 'of_target<0%', 'p999>9s'], { relative: false });
  for (const condition of parsed) {
    const { met: sentence, unmeasured } = judge(condition, empty);
    expect(sentence).toBe(null);
    expect(unmeasured).toContain(`${condition.text}: `);
    // An unmeasured objective counts as violated.
    expect(findMissed(condition, empty)).toBe(unmeasured);
  }
});

test('conditions: the sentence shows a value that meets the condition', () => {
  const met = (text: string, of: LoadResult) =>
    judge(parseConditions([text], { relative: false })[0]!, of).met;
  expect(met('p99>200ms', withTimes(200.004))).toBe('p99>200ms: 200.004 ms');
  expect(met('p99>2s', withTimes(2_000.9))).toBe('p99>2s: 2.001 s');
  const [{ operation }] = ordinary.operations as [LoadResult['operations'][number]];
  const rare = { ...vote, operation, sent: 10_000_000, accepted: 9_999_999 };
  expect(met('errors>0%', { ...ordinary, operations: [rare] })).toBe('errors>0%: 0.00001 %');
});

test('conditions: downtime adds up, and recovery is that of the slowest outage', () => {
  const conditions = parseConditions(['downtime>4s', 'recovery>=400ms'], { relative: false });
  const judged = (outages: NonNullable<LoadResult['outages']>) =>
    conditions.map((condition) => judge(condition, { ...ordinary, outages }).met !== null);
  expect([judged([]), judged([outage()])]).toEqual([
    [false, false],
    [false, true],
  ]);
  const later = outage({ duration_ms: 2_001, recovery_ms: 100 });
  expect(judged([outage(), later])).toEqual([true, true]);
  const unrecovered = { ...ordinary, outages: [outage(), outage({ recovery_ms: null })] };
  expect(judge(conditions[1]!, unrecovered).unmeasured).toContain('recovery');
  expect(() => assertMeasured(conditions, asked({}))).toThrow(
    expect.objectContaining({ problem: 'NO_OUTAGES' }),
  );
  assertMeasured(conditions, asked({ keepGoing: true }));
});

const asked = (change: Partial<LoadOptions>): LoadOptions => {
  const workload = change.workload ?? 'votes';
  return {
    ...loadDefaults,
    ...workloadOf(workload),
    ...{ url: 'http://127.0.0.1:1', workload, concurrency: null, seed: 'x', keepAgents: false },
    ...change,
  };
};

test.each<[string, Partial<LoadOptions>, boolean]>([
  ['tps<1', {}, false],
  ['tps<1', { batch: 10 }, true],
  ['tps<1', { workload: 'reads' }, false],
  ['tps<1', { workload: 'transactions' }, true],
  ['finality.p99>1s', { workload: 'mixed' }, true],
  ['finality.p99>1s', { workload: 'mixed', batch: 0 }, false],
  ['propose.p99>1s', {}, false],
  ['propose.errors>1%', { workload: 'transactions' }, true],
  ['vote.p99>1s', { workload: 'transactions' }, false],
  ['meme.p99>1s', { workload: 'mixed' }, true],
  ['register.p99>1s', {}, false],
  ['delivery.p99>1s', { workload: 'mixed' }, false],
  ['deliveries_per_s<1', { workload: 'subscribers' }, true],
  ['of_target<99%', {}, true],
  ['of_target<99%', { rate: null, concurrency: 4 }, false],
  ['accepted_per_s<1', { rate: null, concurrency: 4 }, true],
  ['errors>1%', { workload: 'reads' }, true],
  ['p999>1s', { rate: 99, durationMs: 10_000 }, false],
  ['p999>1s', { rate: 100, durationMs: 10_000 }, true],
  ['p999>1s', { rate: null, concurrency: 1, durationMs: 100 }, true],
  ['finality.p999>1s', { workload: 'transactions', rate: 500, durationMs: 1_000 }, false],
  ['finality.p999>1s', { workload: 'transactions', rate: 9_900, durationMs: 10_000 }, false],
  ['finality.p999>1s', { workload: 'transactions', rate: 10_000, durationMs: 10_000 }, true],
  ['delivery.p999>1s', { workload: 'subscribers', rate: 99, durationMs: 10_000 }, false],
  ['delivery.p999>1s', { workload: 'subscribers', rate: 100, durationMs: 10_000 }, true],
])('conditions: %s of %o is measured: %s, known before the run', (text, change, measured) => {
  const check = () => assertMeasured(parseConditions([text], { relative: false }), asked(change));
  if (measured) return expect(check).not.toThrow();
  const message = expect.stringContaining(`--fail-on ${JSON.stringify(text)}`);
  expect(check).toThrow(expect.objectContaining({ source: 'measures', message }));
});

test.each(['interrupted', 'failed'] as const)('conditions: %s runs pass none', (ended) => {
  const cut = { ...result, ended, measured_s: 0.9 };
  const [kept, missed] = parseConditions(['p99>900ms,p99>100ms'], { relative: false });
  expect(judge(kept!, cut)).toEqual({ met: null, unmeasured: expect.stringContaining('0.9 of') });
  expect(judge(missed!, cut)).toEqual({ met: 'p99>100ms: 200 ms', unmeasured: null });
  expect(findMissed(kept!, cut)).not.toBe(null);
  const [change] = parseConditions(['p99>+10%'], { relative: true });
  for (const [base, now] of [
    [cut, result],
    [result, cut],
  ] as const) {
    expect(judge(change!, now, base)).toEqual({ met: null, unmeasured: expect.any(String) });
  }
  expect(judge(change!, result, result)).toEqual({ met: null, unmeasured: null });
});

test('conditions: latencies are of the slowest operation, and errors of all', () => {
  const slow = { ...vote, operation: 'read', sent: 1_000, accepted: 1_000 };
  const both = {
    ...result,
    operations: [...result.operations, { ...slow, response: { ...vote.response, p99: 350 } }],
  };
  const sentences = parseConditions(['p99>300ms,errors>=0.5%', 'vote.p99>300ms'], {
    relative: false,
  }).map((condition) => met(condition, both));
  expect(sentences).toEqual(['p99>300ms: 350 ms', 'errors>=0.5%: 0.5 %', null]);
});

test.each([
  ['p99>+10%', 181, 'p99>+10%: changed from 181 ms to 200 ms, +10.5 %'],
  ['p99>+10%', 182, null],
  ['p99<-10%', 250, 'p99<-10%: changed from 250 ms to 200 ms, -20.0 %'],
  ['p99>+10%', 181.81, 'p99>+10%: changed from 181.81 ms to 200 ms, +10.005 %'],
  ['p99>=+0%', 200, 'p99>=+0%: changed from 200 ms to 200 ms, 0.0 %'],
])('relative condition: %s versus %s ms', (text, before, sentence) => {
  const [condition] = parseConditions([text], { relative: true });
  expect(met(condition!, result, withTimes(before))).toBe(sentence);
});

test('relative condition: is unmeasured without the figure in the base', () => {
  const [condition] = parseConditions(['p99>+10%'], { relative: true });
  for (const base of [withTimes(null), undefined]) {
    const { met: sentence, unmeasured } = judge(condition!, result, base);
    expect([sentence, unmeasured]).toEqual([null, expect.stringContaining('p99')]);
  }
  const [tps] = parseConditions(['tps<-1%'], { relative: true });
  const none = { ...result, transactions: { ...result.transactions, tps: 0 } };
  expect(judge(tps!, result, none).unmeasured).not.toBe(null);
  expect(judge(tps!, none, none)).toEqual({ met: null, unmeasured: null });
});

test('relative conditions: compare errors in points, and by R for another machine speed', () => {
  const parse = (text: string) => parseConditions([text], { relative: true })[0]!;
  const clean = { ...result, operations: [{ ...vote, sent: 1_000, accepted: 1_000 }] };
  expect(met(parse('errors>+0.5%'), result, clean)).toBe(
    'errors>+0.5%: changed from 0 % to 1 %, +1.0 points',
  );
  expect(met(parse('errors>+1%'), result, clean)).toBe(null);
  // In a closed loop, half the rate and twice the time on a machine half as fast counts as no
  // change.
  const asked = { ...result.asked, loop: 'closed', rate: null, concurrency: 8 } as const;
  const slow = { ...result, asked };
  const faster = withTimes(100, {
    asked,
    r: 2 * result.r!,
    transactions: { ...result.transactions, tps: 2 * result.transactions.tps },
  });
  expect(met(parse('tps<-1%'), slow, faster)).toBe(null);
  expect(met(parse('p99>+1%'), slow, faster)).toBe(null);
  expect(met(parse('tps<-1%'), slow, { ...faster, r: result.r })).toContain('-50.0 %');
});

test.each([
  ['p99=200ms', 'p99<=200ms', null],
  ['p99<=199ms', 'p99<=199ms', 'p99<=199ms: 200 ms'],
  ['errors=0.5%', 'errors<=0.5%', 'errors<=0.5%: 1 %'],
  ['tps=800', 'tps>=800', null],
  ['tps>=801', 'tps>=801', 'tps>=801: 800/s'],
  ['finality.p99=2s', 'finality.p99<=2s', null],
])('objective: %s means the condition %s', (text, written, sentence) => {
  const [condition] = slo([text]);
  expect(condition!.text).toBe(written);
  expect(met(condition!, result)).toBe(sentence);
});

test.each<[string, string]>([
  ['', 'SYNTAX'],
  ['p99', 'SYNTAX'],
  ['p99>', 'SYNTAX'],
  ['p99>200 parsecs', 'SYNTAX'],
  ['p99>1e999ms', 'SYNTAX'],
  ['p99>1s1m', 'SYNTAX'],
  ['p99.99>1s', 'UNKNOWN_FIGURE'],
  ['vote.p99.9.p99>1s', 'UNKNOWN_FIGURE'],
  ['p99>100/s', 'WRONG_UNIT'],
  ['tps<1m', 'WRONG_UNIT'],
  ['p98>200ms', 'UNKNOWN_FIGURE'],
  ['vote.finality.p99>1s', 'UNKNOWN_FIGURE'],
  ['unknown.p99>1s', 'UNKNOWN_FIGURE'],
  ['vote.tps<1', 'UNKNOWN_FIGURE'],
  ['constructor<1', 'UNKNOWN_FIGURE'],
  ['p99=200ms', 'NO_COMPARISON'],
  ['p99>200', 'WRONG_UNIT'],
  ['p99>10%', 'WRONG_UNIT'],
  ['errors>1', 'WRONG_UNIT'],
  ['tps<5ms', 'WRONG_UNIT'],
  ['p99>+10%', 'NO_BASE'],
])('conditions: refuse %s with %s', (text, problem) => {
  const parse = () => parseConditions([text], { relative: false });
  const message = expect.stringContaining(`--fail-on: ${JSON.stringify(text)}`);
  expect(parse).toThrow(expect.objectContaining({ source: 'user', problem, message }));
});

test('quantities: a duration is the sum of its parts, and numbers may have a prefix', () => {
  const units = [
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ] as const;
  const parts = fc.tuple(...units.map(() => fc.option(fc.nat(9_999))));
  fc.assert(
    fc.property(parts, (counts) => {
      const known = units.flatMap(([unit, ms], index) => {
        const count = counts[index] ?? null;
        return count === null ? [] : [{ text: `${count}${unit}`, ms: count * ms }];
      });
      const sum = known.reduce((all, { ms }) => all + ms, 0);
      const texts = known.map((one) => one.text);
      expect(parseDuration(texts.join(''))).toBe(known.length > 0 ? sum : null);
      if (known.length > 1) expect(parseDuration(texts.reverse().join(''))).toBe(null);
    }),
  );
  expect(['1e3', '1k', '1.5k', '2M', '7'].map(parseNumber)).toEqual([1e3, 1e3, 1_500, 2e6, 7]);
  expect(['', 'k', '-1', '1e999', '0x10', '1 k', '1kk'].map(parseNumber)).toEqual(
    Array(7).fill(null),
  );
});

test('conditions: refuse changes that are not in percent, and invalid objectives', () => {
  const refusal = (problem: string, example: string) =>
    expect.objectContaining({ problem, message: expect.stringContaining(example) });
  const parse = () => parseConditions(['p99>+10ms'], { relative: true });
  expect(parse).toThrow(refusal('NOT_IN_PERCENT', '+10%'));
  expect(() => slo(['p99>200ms'])).toThrow(refusal('NOT_AN_OBJECTIVE', 'p99=200ms'));
  expect(() => slo(['tps<=200'])).toThrow(refusal('NOT_AN_OBJECTIVE', 'tps=1000'));
  expect(() => slo(['p99=+200ms'])).toThrow(refusal('NOT_AN_OBJECTIVE', 'p99=200ms'));
  expect(() => slo(['p99=200'])).toThrow(refusal('WRONG_UNIT', '200ms'));
  expect(() => slo(['p99>200ms'])).toThrow('--slo: "p99>200ms"');
  expect(() => slo(['p98=1ms'])).toThrow('--slo: "p98=1ms"');
});
