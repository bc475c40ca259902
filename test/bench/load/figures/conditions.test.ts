/** Conditions and objectives: what they say, what meets them, and what cannot be meant. */
import { expect, test } from 'vitest';
import {
  assertMeasured,
  type Condition,
  ConditionError,
  findMissed,
  judge,
  parseConditions,
  slo,
  UnmeasuredError,
} from '../../../../dist/bench/load/conditions.js';
import {
  type LoadOptions,
  loadDefaults,
  workloadDefaults,
} from '../../../../dist/bench/load/options.js';
import type { LoadResult } from '../../../../dist/bench/load/result.js';
import { loadResult, nothing } from '../fixture.js';

const ordinary = loadResult();
const vote = ordinary.operations[0]!;

const met = (condition: Condition, of: LoadResult, base?: LoadResult) =>
  judge(condition, of, base).met;

/** A result with just these figures of a vote. */
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
  ['p99>=200ms', 'p99>=200ms: it is 200 ms'],
  ['p99>199.9ms', 'p99>199.9ms: it is 200 ms'],
  ['p99 > 0.1s', 'p99 > 0.1s: it is 200 ms'],
  ['p99>199999us', 'p99>199999us: it is 200 ms'],
  ['p50<10ms', 'p50<10ms: it is 5 ms'],
  ['p90<=50ms', 'p90<=50ms: it is 50 ms'],
  ['p95>75ms', null],
  ['p999>299ms', 'p999>299ms: it is 300 ms'],
  ['max>1s', null],
  ['response.p99>100ms', 'response.p99>100ms: it is 200 ms'],
  ['service.p99>39ms', 'service.p99>39ms: it is 40 ms'],
  ['vote.p99>100ms', 'vote.p99>100ms: it is 200 ms'],
  ['vote.service.p99>40ms', null],
  ['finality.p99>1s', 'finality.p99>1s: it is 1.5 s'],
  ['errors>1%', null],
  ['errors>=1%', 'errors>=1%: it is 1 %'],
  ['vote.errors>0.5%', 'vote.errors>0.5%: it is 1 %'],
  ['tps<1000', 'tps<1000: it is 800/s'],
  ['accepted_per_s<950', null],
  ['p99>199.9999ms', 'p99>199.9999ms: it is 200 ms'],
])('condition: %s', (text, sentence) => {
  const [condition, ...more] = parseConditions([text], { relative: false });
  expect(more).toEqual([]);
  expect(met(condition!, result)).toBe(sentence);
});

test('conditions: without a sample or an arrival none is met, and each is unmeasured', () => {
  const empty = withTimes(null, {
    arrivals: { intended: 0, accepted: 0, accepted_per_s: 0, of_target: null, halves: [] },
    operations: [],
  });
  const texts = ['p99>9s', 'errors>99%', 'tps<0', 'accepted_per_s<0', 'finality.max>9s'];
  const parsed = parseConditions([...texts, 'of_target<0%', 'p999>9s'], { relative: false });
  for (const condition of parsed) {
    const { met: sentence, unmeasured } = judge(condition, empty);
    expect(sentence).toBe(null);
    expect(unmeasured).toContain(`${condition.text}: nothing was measured for`);
    // An objective that nothing was measured for is not kept.
    expect(findMissed(condition, empty)).toBe(unmeasured);
  }
});

test('conditions: a sentence shows a value that meets the condition', () => {
  const met = (text: string, of: LoadResult) =>
    judge(parseConditions([text], { relative: false })[0]!, of).met;
  expect(met('p99>200ms', withTimes(200.004))).toBe('p99>200ms: it is 200.004 ms');
  expect(met('p99>2s', withTimes(2_000.9))).toBe('p99>2s: it is 2.001 s');
  const [{ operation }] = ordinary.operations as [LoadResult['operations'][number]];
  const rare = { ...vote, operation, sent: 10_000_000, accepted: 9_999_999 };
  expect(met('errors>0%', { ...ordinary, operations: [rare] })).toBe('errors>0%: it is 0.00001 %');
});

const asked = (change: Partial<LoadOptions>): LoadOptions => {
  const workload = change.workload ?? 'votes';
  return {
    ...loadDefaults,
    ...workloadDefaults[workload],
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
  ['delivery.p999>1s', { workload: 'subscribers', rate: 1, durationMs: 10_000 }, true],
])('measured: %s of %o: %s, known before the run', (text, change, measured) => {
  const check = () => assertMeasured(parseConditions([text], { relative: false }), asked(change));
  if (measured) expect(check).not.toThrow();
  else expect(check).toThrow(UnmeasuredError);
});

test('conditions: a latency of no operation is of the slowest one, and errors are of all', () => {
  const slow = { ...vote, operation: 'read', sent: 1_000, accepted: 1_000 };
  const both = {
    ...result,
    operations: [...result.operations, { ...slow, response: { ...vote.response, p99: 350 } }],
  };
  const sentences = parseConditions(['p99>300ms,errors>=0.5%', 'vote.p99>300ms'], {
    relative: false,
  }).map((condition) => met(condition, both));
  expect(sentences).toEqual(['p99>300ms: it is 350 ms', 'errors>=0.5%: it is 0.5 %', null]);
});

test.each([
  ['p99>+10%', 181, 'p99>+10%: it went from 181 ms to 200 ms, +10.5 %'],
  ['p99>+10%', 182, null],
  ['p99<-10%', 250, 'p99<-10%: it went from 250 ms to 200 ms, -20.0 %'],
  ['p99>+10%', 181.81, 'p99>+10%: it went from 181.81 ms to 200 ms, +10.005 %'],
  ['p99>=+0%', 200, 'p99>=+0%: it went from 200 ms to 200 ms, 0.0 %'],
])('relative condition: %s against %s ms', (text, before, sentence) => {
  const [condition] = parseConditions([text], { relative: true });
  expect(met(condition!, result, withTimes(before))).toBe(sentence);
});

test('relative condition: without a figure in the base it is unmeasured', () => {
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

test('relative conditions: of errors in points, and by R where the machine was another', () => {
  const parse = (text: string) => parseConditions([text], { relative: true })[0]!;
  const clean = { ...result, operations: [{ ...vote, sent: 1_000, accepted: 1_000 }] };
  expect(met(parse('errors>+0.5%'), result, clean)).toBe(
    'errors>+0.5%: it went from 0 % to 1 %, +1.0 points',
  );
  expect(met(parse('errors>+1%'), result, clean)).toBe(null);
  // Half as fast a machine: half the rate and twice the time are no change in a closed loop.
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
  ['p99<=199ms', 'p99<=199ms', 'p99<=199ms: it is 200 ms'],
  ['errors=0.5%', 'errors<=0.5%', 'errors<=0.5%: it is 1 %'],
  ['tps=800', 'tps>=800', null],
  ['tps>=801', 'tps>=801', 'tps>=801: it is 800/s'],
  ['finality.p99=2s', 'finality.p99<=2s', null],
])('objective: %s', (text, written, sentence) => {
  const [condition] = slo([text]);
  expect(condition!.text).toBe(written);
  expect(met(condition!, result)).toBe(sentence);
});

test.each([
  ['', 'expected figure, comparison and bound, such as p99>200ms or errors>1%'],
  ['p99', 'expected figure, comparison and bound'],
  ['p99>', 'expected figure, comparison and bound'],
  ['p99>200 parsecs', 'expected figure, comparison and bound'],
  ['p99>1e999ms', 'expected figure, comparison and bound'],
  ['p98>200ms', 'there is no figure p98; expected p50, p90'],
  ['vote.finality.p99>1s', 'there is no figure vote.finality.p99'],
  ['nobody.p99>1s', 'there is no figure nobody.p99'],
  ['vote.tps<1', 'there is no figure vote.tps'],
  ['constructor<1', 'there is no figure constructor'],
  ['p99=200ms', 'expected >, >=, < or <='],
  ['p99>200', 'p99 is a time in us, ms or s; expected a bound such as 200ms'],
  ['p99>10%', 'p99 is a time in us, ms or s'],
  ['errors>1', 'errors is a share in percent; expected a bound such as 1%'],
  ['tps<5ms', 'tps is a number a second, without a unit; expected a bound such as 1000'],
  ['p99>+10%', 'a bound with a sign is a change against another result'],
])('wrong: %s', (text, why) => {
  const parse = () => parseConditions([text], { relative: false });
  expect(parse).toThrow(ConditionError);
  expect(parse).toThrow(`the condition "${text}" cannot be read: ${why}`);
});

test('wrong: a change that is not in percent, and objectives that are none', () => {
  expect(() => parseConditions(['p99>+10ms'], { relative: true })).toThrow('such as +10%');
  expect(() => slo(['p99>200ms'])).toThrow('expected an objective such as p99=200ms');
  expect(() => slo(['tps<=200'])).toThrow('expected an objective such as tps=1000');
  expect(() => slo(['p99=+200ms'])).toThrow('expected an objective such as p99=200ms');
  expect(() => slo(['p99=200'])).toThrow('expected a bound such as 200ms');
});
