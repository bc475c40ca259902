/** Conditions of `length.until`: each ends the run when an independent check first finds it met. */
import { join } from 'node:path';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import type { Raw } from '../fixture.js';
import { town } from './town.js';

/** Windows of the town are as long as its shortest latency. */
const WINDOW_MS = 20;

async function until(condition: unknown, sections: Raw = {}) {
  const out = join(temporaryFolder(), 'run');
  const scenario = town({ ...sections, length: { until: condition } });
  const result = await simulate(scenario, { out, verifier: 'off' });
  const blocks = csvRows(join(out, 'blocks.csv'));
  const closed = blocks.map(({ closed_ms }) => Number(closed_ms)).sort((a, b) => a - b);
  return { ...result, closed };
}

test('until: names the condition that was met first', async () => {
  const { ended_by, measures } = await until([
    { measure: 'votes', at_least: 1_000 },
    { measure: 'transactions', reaches: 1 },
    { measure: 'decided', at_least: 2 },
  ]);
  expect([ended_by, measures.finalized]).toEqual(['until transactions at_least 1', 1]);
});

test('until: a condition held for a time ends the run within one window', async () => {
  const condition = { measure: 'finalized_share', at_least: 0.9, held_ms: 12_340 };
  const { ended_by, virtual_ms, closed } = await until(condition);
  expect(ended_by).toBe('until finalized_share at_least 0.9 for 12340 ms');
  const late = virtual_ms - (closed[0]! + 12_340);
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThanOrEqual(WINDOW_MS);
});

test('until: a condition held for a number of closed blocks ends the run', async () => {
  const condition = { measure: 'finalized', at_least: 2, held_blocks: 3 };
  const { ended_by, measures } = await until(condition);
  expect([ended_by, measures.finalized]).toEqual(['until finalized at_least 2 for 3 blocks', 5]);
});

test('until: a condition held for a time and a number of closed blocks ends the run', async () => {
  const condition = { measure: 'finalized', at_least: 1, held_ms: 1_000, held_blocks: 3 };
  const { ended_by, measures } = await until(condition);
  expect(ended_by).toBe('until finalized at_least 1 for 1000 ms and 3 blocks');
  expect(measures.finalized).toBe(4);
});

test('until: a condition that lapses starts again', async () => {
  // Blocks are rejected and finalized in turn: the rejected share repeatedly falls below one half.
  const agents = [
    { group: 'town', count: 6, producers: 1, strategy: { kind: 'honest' }, traits: { care: 1 } },
    { group: 'liar', count: 1, producers: 1, strategy: { kind: 'bloc' } },
  ];
  const least = { measure: 'rejected_share', at_most: 0.49, held_blocks: 2 };
  const { ended_by, measures } = await until([least, { measure: 'closed', at_least: 9 }], {
    agents,
  });
  expect(ended_by).toBe('until closed at_least 9');
  expect(Math.abs(measures.rejected! - measures.finalized!)).toBe(1);
});

test('until: at_most applies from the first block, not to a missing value', async () => {
  const { ended_by, measures } = await until({ measure: 'rejected_share', at_most: 0 });
  expect([ended_by, measures.finalized]).toEqual(['until rejected_share at_most 0', 1]);
});

test('until: follows the reputation of a group', async () => {
  const condition = { measure: 'reputation_mean', group: 'town', at_least: 52 };
  const { ended_by, measures } = await until(condition);
  expect(ended_by).toBe('until reputation_mean of town at_least 52');
  expect(measures.reputation_mean).toBeGreaterThanOrEqual(51.9);
});

test.each([
  [{ measure: 'votes' }, /^length.until has .*; .*reaches, at_least, at_most/],
  [{ measure: 'votes', at_least: 1, at_most: 2 }, /^length.until has at_least and at_most/],
  [{ measure: 'colour', at_least: 1 }, /^length.until.measure is "colour"; .*finalized/],
  [[{ measure: 'votes', at_least: 1, held: 2 }], /^length.until.0.held .*held_ms/],
  [[{ measure: 'votes', at_least: -1 }], /^length.until.0.at_least is -1; expected a number/],
  [[], /^length.until/],
  [{ measure: 'votes', group: 'town', at_least: 1 }, /^length.until.group .*reputation_mean/],
  [
    [{ measure: 'reputation_mean', group: 'north', at_least: 1 }],
    /^length.until.0.group is north; expected one of town/,
  ],
])('until: refuses %j', (condition, message) => {
  expect(() => completeScenario({ ...town(), length: { until: condition } })).toThrow(message);
});
