/** Script measures: input of report, location of its numbers, and refusals. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, loadScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { csvRows } from '../../support/runs.js';
import { quiet } from '../fixture.js';
import { honest, mistake, scripted } from './fixture.js';

const town = `
  export const vote = ({ memory, shared, block }) => {
    memory.votes = (memory.votes ?? 0) + 1;
    shared.votes = (shared.votes ?? 0) + 1;
    return { do: 'vote', decision: 'approve' };
  };`;

const reporting = `${town}
  export const report = ({ group, groups, blocks, nowMs, agentsOf, groupOf, neighboursOf }) => ({
    groups_seen: groups.length,
    votes_noted: groups.reduce((sum, { shared }) => sum + shared.votes, 0),
    agents_noted: groups.flatMap(({ memories }) => Object.values(memories)).length,
    agents_all: groups.flatMap(({ agents }) => agents).length,
    patience: groups.at(-1).parameters.patience,
    finalized_seen: blocks.filter(({ status }) => status === 'finalized').length,
    first_producer: blocks[0].producer,
    approve_sum: blocks.reduce((sum, { approve }) => sum + approve, 0),
    ended: nowMs,
    is_run: Number(group === null),
    honest_ones: agentsOf('honest').filter((one) => groupOf(one) === 'honest').length,
    near: neighboursOf(5).length,
    unknown: null,
  });`;

async function kept(text: string) {
  const { folder, group } = scripted(text, { patience: 1 });
  const strategy = { ...group.strategy, parameters: { patience: 2 } };
  const agents = [honest, group, { group: 'more', count: 2, strategy }];
  const sections = { title: 't', signatures: 'none', agents, social: quiet, length: { blocks: 3 } };
  const out = join(temporaryFolder(), 'run');
  return { result: await simulate(completeScenario(sections, folder), { folder, out }), out };
}

test('report: runs once for the run and once per group, in the result and in a table', async () => {
  const { result, out } = await kept(reporting);
  const { measures, virtual_ms, reported } = result;
  const same = {
    ...{ finalized_seen: measures.finalized, first_producer: expect.any(Number) },
    ...{ approve_sum: measures.votes, ended: virtual_ms, honest_ones: 5, near: expect.any(Number) },
    unknown: null,
  };
  expect(reported.run).toEqual({
    ...same,
    ...{ groups_seen: 2, is_run: 1, agents_noted: 5, agents_all: 5, patience: 2 },
    votes_noted: reported.groups.own!.votes_noted! + reported.groups.more!.votes_noted!,
  });
  expect(reported.run.votes_noted).toBeGreaterThan(5);
  expect(reported.groups.own).toMatchObject({ groups_seen: 1, agents_all: 3, patience: 1 });
  expect(reported.groups.more).toMatchObject({ groups_seen: 1, agents_all: 2, patience: 2 });
  expect(Object.keys(reported.groups)).toEqual(['own', 'more']);
  const { reported: read } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8'));
  expect(read).toEqual(reported);
  const rows = csvRows(join(out, 'reported.csv'));
  expect(rows).toHaveLength(3 * Object.keys(reported.run).length);
  expect(rows).toContainEqual({ group: 'more', measure: 'agents_all', value: '2' });
  expect(rows).toContainEqual({ group: '', measure: 'unknown', value: '' });
  expect(csvRows(join(out, 'blocks.csv'))).toHaveLength(measures.proposed!);
});

test('report: without a report there is no measure and no table', async () => {
  const { result, out } = await kept(town);
  expect(result.reported).toEqual({ run: {}, groups: {} });
  expect(existsSync(join(out, 'reported.csv'))).toBe(false);
});

test('report: a script with only a report leaves agents to their personalities', async () => {
  const { result } = await kept('export const report = ({ group }) => group && ({ x: 1 });');
  expect(result.reported).toEqual({ run: {}, groups: { own: { x: 1 }, more: { x: 1 } } });
  expect(result.measures.votes).toBeGreaterThan(0);
});

test('report: a number that is not finite is a missing value with a warning', async () => {
  const { result, out } = await kept(giving('{ x: 1 / 0, y: NaN, z: 1 }'));
  expect(result.reported.run).toEqual({ x: null, y: null, z: 1 });
  expect(result.reported.groups.own).toEqual({ x: null, y: null, z: 1 });
  expect(result.reported.missing).toHaveLength(6);
  expect(result.reported.missing![0]).toMatch(/report for the run: measure x is Infinity/);
  expect(csvRows(join(out, 'reported.csv'))).toContainEqual({ group: '', measure: 'x', value: '' });
});

test.each([
  ...['cartel', 'cascade', 'deffuant', 'degroot', 'eclipse', 'hegselmann-krause', 'leader-failure'],
  ...['own-script', 'snowball', 'sybil-waves', 'tendermint'],
])('report: the script of %s has finite measures in runs of one block or none', async (name) => {
  for (const length of [{ blocks: 1 }, { virtual_ms: 2 }, { virtual_ms: 10_000 }]) {
    const { scenario, folder } = loadScenario(name, [
      ['length', length],
      ['measure.warmup_ms', 1],
    ] as const);
    const { reported } = await simulate(scenario, { folder, store: 'memory', audit: false });
    expect(reported.missing, JSON.stringify(length)).toBeUndefined();
  }
});

const giving = (given: string) => `export const report = (view) => (${given});`;

test.each([
  ['a string', giving("'x'"), 'INVALID_REPORT'],
  ['a list', giving('[1]'), 'INVALID_REPORT'],
  ['a promise', giving('Promise.resolve({})'), 'SCRIPT_FAILED'],
  ['an invalid name', giving('{ Clusters: 1 }'), 'INVALID_MEASURE_NAME'],
  ['the name of a measure', giving('{ finalized: 1 }'), 'MEASURE_EXISTS'],
  ['the name of a column', giving('{ seed: 1 }'), 'MEASURE_EXISTS'],
  ['a number as a string', giving("{ x: '1' }"), 'INVALID_MEASURE'],
  ['a random number', giving('{ x: Math.random() }'), 'SCRIPT_FAILED'],
  ['a random getter', giving('{ get x() { return Math.random(); } }'), 'SCRIPT_FAILED'],
  ['a write to shared', giving('view.groups[0].shared.x = 1'), 'SCRIPT_FAILED'],
  ['an endless loop', giving('(() => { for (;;); })()'), 'SCRIPT_TIMEOUT'],
])('report: rejects %s', async (_, text, expected) => {
  const { code, message } = await mistake(text, 1_000);
  expect(code).toBe(expected);
  expect(message).toMatch(/^script own\.ts: report for the run/);
});
