/** Decisions that scripts state for slots: measures, the audit, and the verdict. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type SimResult, writeRunReport } from 'folkmoot/sim';
import { runCommand } from '../../support/command.js';
import { live, type Raw } from '../fixture.js';
import { honest, mistake, scripted } from './fixture.js';

/** A decision of the agent at position `by` in its group, `ms` after 4 s. */
interface Stated {
  by: number;
  ms: number;
  slot: number | string;
  value: unknown;
  tolerance?: number;
}

const script = `
  const mine = ({ me, agentsOf, parameters }) =>
    parameters.stated.filter(({ by }) => by === agentsOf(me.group).indexOf(me.ordinal));
  export const start = (view) => mine(view).map(({ ms }, note) =>
    ({ do: 'wake', ms: 4_000 + ms - view.nowMs, note }));
  export const wake = (view) => {
    const { by, ms, ...decision } = mine(view)[view.note];
    return { do: 'decide', ...decision };
  };`;

/** Runs three agents that state decisions. Blocks decided by honest agents give the verdict. */
async function stated(list: readonly Stated[], sections: Raw = {}, strategy: Raw = {}) {
  const { folder, group } = scripted(script, { stated: list });
  const faulty = { ...group, strategy: { ...(group.strategy as Raw), ...strategy } };
  return await live([honest, faulty], { length: { blocks: 3 }, ...sections }, folder);
}

const slotMeasures = ({ measures }: SimResult) => [
  measures.slots_decided,
  measures.slot_decisions,
  measures.slot_conflicts,
  measures.slot_spread_mean_ms,
];

test('decide: equal decisions appear in the measures, and the run passes', async () => {
  const { result } = await stated([
    { by: 0, ms: 0, slot: 1, value: { b: 1, a: [2] } },
    { by: 1, ms: 30, slot: 1, value: { a: [2], b: 1 } },
    { by: 1, ms: 40, slot: 1, value: { a: [2], b: 1 } },
    { by: 2, ms: 50, slot: '1', value: null },
  ]);
  expect(slotMeasures(result)).toEqual([2, 3, 0, 15]);
  expect([result.verdict, result.findings]).toEqual(['pass', undefined]);
});

test('decide: different decisions are a conflict, and the run continues', async () => {
  const list = [
    { by: 0, ms: 0, slot: 7, value: 'a' },
    { by: 1, ms: 30, slot: 7, value: 'b' },
    { by: 2, ms: 90, slot: 7, value: 'c' },
    { by: 2, ms: 100, slot: 8, value: 'a' },
  ];
  const { result, folder } = await stated(list);
  expect([result.verdict, result.ended_by, result.broken]).toEqual(['conflict', 'blocks', null]);
  expect(slotMeasures(result)).toEqual([2, 4, 1, 45]);
  expect(result.findings).toMatchObject([
    { name: 'CONFLICTING_DECISIONS', count: 1, at_ms: 4_030 },
  ]);
  expect(result.findings![0]!.detail).toMatch(/^slot 7: "b"; expected "a", .* at 4000 ms$/);
  const kept = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as SimResult;
  expect([kept.verdict, kept.findings]).toEqual(['conflict', result.findings]);
  await writeRunReport(folder);
  const report = readFileSync(join(folder, 'report.html'), 'utf8');
  expect(report).toContain('Verdict: conflict.');
  expect(report.replaceAll('<wbr>', '')).toContain('CONFLICTING_DECISIONS');
});

const near = (values: unknown[], tolerances: (number | undefined)[]): Stated[] =>
  values.map((value, by) => {
    const tolerance = tolerances[by];
    return { by, ms: 10 * by, slot: 7, value, ...(tolerance === undefined ? {} : { tolerance }) };
  });

test.each([
  ['decisions within the tolerance agree', [598, 599], [1, 1], 1, 'pass'],
  ['decisions beyond the tolerance conflict', [598, 600], [1, 1], 2, 'conflict'],
  ['the tolerance holds for the whole range', [598, 600, 602], [2, 2, 2], 4, 'conflict'],
  ['the smallest tolerance applies', [0, 10, 5], [10, 10, 9], 10, 'conflict'],
  ['a decision without a tolerance states 0', [598, 599], [1, undefined], 1, 'conflict'],
  ['negative integers', [-2, 1], [3, 3], 3, 'pass'],
  ['another value does not agree with an integer', [598, 'a'], [9, undefined], null, 'conflict'],
] as [
  string,
  unknown[],
  (number | undefined)[],
  number | null,
  string,
][])('decide: %s', async (_, values, tolerances, spread, verdict) => {
  const { result } = await stated(near(values, tolerances));
  expect([result.measures.slot_values_spread, result.verdict]).toEqual([spread, verdict]);
  expect(result.measures.slot_conflicts).toBe(Number(verdict === 'conflict'));
});

test('decide: the audit ignores agents that are not honest', async () => {
  const list = [
    { by: 0, ms: 0, slot: 7, value: 'a' },
    { by: 1, ms: 30, slot: 7, value: 'b' },
    { by: 0, ms: 40, slot: 7, value: 'b' },
  ];
  const { result } = await stated(list, {}, { honest: false });
  expect([result.verdict, result.findings]).toEqual(['pass', undefined]);
  expect(slotMeasures(result)).toEqual([0, 0, 0, null]);
});

test('decide: a value that is too large is a finding without effect', async () => {
  const { result } = await stated([
    { by: 0, ms: 0, slot: 1, value: 'x'.repeat(1_023) },
    { by: 1, ms: 0, slot: 1, value: 'x'.repeat(1_022) },
  ]);
  expect([result.verdict, result.ended_by]).toEqual(['pass', 'blocks']);
  expect(slotMeasures(result)).toEqual([1, 1, 0, 0]);
  expect(result.findings).toMatchObject([{ name: 'VALUE_TOO_LARGE', count: 1 }]);
});

test('decide: measures exclude slots of the warm-up, and the verdict does not', async () => {
  const { result } = await stated(
    [
      { by: 0, ms: 0, slot: 1, value: 'a' },
      { by: 1, ms: 0, slot: 1, value: 'b' },
      { by: 0, ms: 3_000, slot: 2, value: 'a' },
    ],
    { measure: { votes: true, warmup_ms: 5_000 } },
  );
  expect([result.verdict, slotMeasures(result)]).toEqual(['conflict', [1, 1, 0, 0]]);
});

test('length.until: ends at a number of decided slots or at a conflict', async () => {
  const list = [0, 1, 2, 3].map((slot) => ({ by: 0, ms: 1_000 * slot, slot, value: 'a' }));
  const until = (measure: string, at_least: number) => ({
    length: { virtual_ms: 60_000, until: [{ measure, at_least }] },
  });
  const { result } = await stated(list, until('slots_decided', 3));
  expect(result.ended_by).toBe('until slots_decided at_least 3');
  expect(result.measures.slots_decided).toBe(3);
  const split = [...list, { by: 1, ms: 1_500, slot: 1, value: 'b' }];
  const other = (await stated(split, until('slot_conflicts', 1))).result;
  expect([other.ended_by, other.verdict]).toEqual(['until slot_conflicts at_least 1', 'conflict']);
});

test.each([
  ['a slot below 0', '-1', '1', /slot/],
  ['a fraction as slot', '0.5', '1', /slot/],
  ['an empty slot', "''", '1', /slot/],
  ['no slot', 'undefined', '1', /slot/],
  ['a value that is not plain data', '1', '() => 1', /invalid value: function/],
  ['a tolerance below 0', '1', '1, tolerance: -1', /tolerance/],
  ['a fraction with a tolerance', '1', '0.5, tolerance: 1', /expected an integer/],
  ['a text with a tolerance', '1', '"a", tolerance: 1', /expected an integer/],
])('decide: %s ends the run', async (_, slot, value, why) => {
  const text = `export const start = () => ({ do: 'decide', slot: ${slot}, value: ${value} });`;
  expect((await mistake(text)).message).toMatch(why);
});

test('decide: the audit does not change the digest', async () => {
  const decided = await stated([{ by: 0, ms: 0, slot: 1, value: 'a' }]);
  const different = await stated([{ by: 0, ms: 0, slot: 9, value: 'b' }]);
  expect(decided.result.digest).toBe(different.result.digest);
});

test('sim: prints findings, and exits with 11 on a conflict', async () => {
  const list = [0, 1].map((by) => ({ by, ms: 0, slot: 7, value: by }));
  const { folder, group } = scripted(script, { stated: list });
  const file = join(folder, 'split.json');
  const agents = [honest, group];
  const scenario = { title: 'Split', signatures: 'none', agents, length: { blocks: 2 } };
  writeFileSync(file, JSON.stringify({ ...scenario, expect: 'conflict' }));
  const { code, stdout } = await runCommand(['sim', file, '--store', 'memory']);
  expect(code).toBe(11);
  expect(stdout).toMatch(/^verdict +conflict: /m);
  expect(stdout).toMatch(
    /^finding +CONFLICTING_DECISIONS \(1\), first by \S+ at 4,000 ms: slot 7/m,
  );
});

const Decision = fc
  .record({
    ...{ by: fc.nat(2), ms: fc.nat(50), slot: fc.nat(2) },
    ...{ value: fc.constantFrom<unknown>('a', 1, 2, 4), tolerance: fc.nat(3) },
  })
  .map(({ tolerance, ...one }) => (one.value === 'a' ? one : { ...one, tolerance }));

/** Recounts the findings and measures from the definition. */
function recount(list: readonly Stated[]) {
  const inOrder = list
    .map((one, index) => ({ ...one, index }))
    .sort((a, b) => a.ms - b.ms || a.by - b.by || a.index - b.index);
  const firsts = inOrder.filter(
    ({ by, slot }, at) => !inOrder.slice(0, at).some((one) => one.by === by && one.slot === slot),
  );
  const changed = inOrder.filter(
    ({ by, slot, value }) =>
      firsts.find((one) => one.by === by && one.slot === slot)!.value !== value,
  );
  const slots = [...new Set(firsts.map(({ slot }) => slot))];
  const split = slots.filter((slot) => {
    const own = firsts.filter((one) => one.slot === slot);
    const numbers = own.map(({ value }) => Number(value));
    const spread = Math.max(...numbers) - Math.min(...numbers);
    const least = Math.min(...own.map(({ tolerance = 0 }) => tolerance));
    return new Set(own.map(({ value }) => value)).size > 1 && !(spread <= least);
  });
  const conflicts = new Set([...split, ...changed.map(({ slot }) => slot)]);
  const spreads = slots.map((slot) => {
    const times = firsts.filter((one) => one.slot === slot).map(({ ms }) => ms);
    return Math.max(...times) - Math.min(...times);
  });
  const spread = spreads.reduce((sum, one) => sum + one, 0) / slots.length;
  return {
    changed: changed.length,
    split: split.length,
    measures: [slots.length, firsts.length, conflicts.size, spread],
  };
}

test('decide: measures and findings equal a recount, for random decisions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Decision, { minLength: 1, maxLength: 9 }), async (list) => {
      const { result } = await stated(list, { length: { blocks: 1 } });
      const { changed, split, measures } = recount(list);
      expect(slotMeasures(result)).toEqual(measures);
      const counts = Object.fromEntries((result.findings ?? []).map((f) => [f.name, f.count]));
      expect(counts).toEqual({
        ...(changed > 0 ? { CHANGED_DECISION: changed } : {}),
        ...(split > 0 ? { CONFLICTING_DECISIONS: split } : {}),
      });
      expect(result.verdict).toBe(changed + split > 0 ? 'conflict' : 'pass');
    }),
    { numRuns: 40 },
  );
});
