/** Included protocols: their safety and liveness under faults, and their determinism. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completeScenario, loadScenario, type Measures, simulate, withValues } from 'folkmoot/sim';
import { checkDeterminism } from 'folkmoot/testing';
import { temporaryFolder } from '../../support/fixture.js';

type Change = readonly [path: string, value: unknown];

async function outcome(name: string, ...changes: Change[]) {
  const { raw, folder } = loadScenario(name);
  const scenario = completeScenario(withValues(raw, changes), folder);
  const result = await simulate(scenario, { store: 'memory', verifier: 'off', folder });
  expect(result.broken).toBe(null);
  const { measures, verdict, findings = [], reported } = result;
  return { measures, verdict, findings, own: reported.groups.town ?? {} };
}

test.each([
  ...['tendermint', 'snowball', 'degroot', 'hegselmann-krause'],
])('%s: is deterministic', async (name) => {
  const { scenario, folder } = loadScenario(name, [['length', { virtual_ms: 20_000 }]]);
  const { same, difference } = await checkDeterminism(scenario, { folder });
  expect([same, difference]).toEqual([true, null]);
});

const faulty = (count: number, behaviour: string): Change[] => [
  ['agents.faulty.count', count],
  ['agents.faulty.strategy.parameters.behaviour', behaviour],
];
const short: Change = ['length', { virtual_ms: 30_000 }];

/** Timeouts far below the latency: nearly every round fails for some agents, who lock values. */
const hasty: Change[] = [
  ['agents.town.strategy.parameters.timeout_ms', 60],
  ['agents.faulty.strategy.parameters.timeout_ms', 60],
  ['links.latency', { distribution: 'lognormal', mean_ms: 120, spread_ms: 100 }],
];

test.each([
  ['silent', 'a'],
  ['silent', 'b'],
  ['equivocate', 'a'],
  ['equivocate', 'b'],
  ['equivocate', 'c'],
])('tendermint: agents out of step change views and never fork (%s, %s)', async (way, seed) => {
  const { measures, own, verdict } = await outcome(
    'tendermint',
    ...faulty(4, way),
    ...hasty,
    ['seed', seed],
    short,
  );
  expect([measures.slot_conflicts, verdict]).toEqual([0, 'pass']);
  expect(measures.slots_decided).toBeGreaterThan(5);
  expect(own.rounds_mean).toBeGreaterThan(2);
});

/** Four agents with latencies that vary a lot: some decide in rounds that the others give up. */
const scattered: Change[] = [
  ['population', 4],
  ...faulty(1, 'equivocate'),
  ...hasty,
  ['links.latency', { distribution: 'lognormal', mean_ms: 200, spread_ms: 1_000 }],
  ['agents.town.strategy.parameters.timeout_ms', 20],
  ['agents.faulty.strategy.parameters.timeout_ms', 20],
  ['length', { virtual_ms: 120_000 }],
  ['seed', 'd'],
];

test('tendermint: the audit finds the fork that locks prevent', async () => {
  const locked = await outcome('tendermint', ...scattered);
  expect([locked.measures.slot_conflicts, locked.verdict]).toEqual([0, 'pass']);
  const { raw, folder } = loadScenario('tendermint');
  const other = temporaryFolder();
  const path = join('scripts', 'tendermint.ts');
  const text = readFileSync(join(folder, path), 'utf8');
  const unlocked = text.replace(/const free = [^;]*;/, 'const free = true;');
  expect(unlocked).not.toBe(text);
  mkdirSync(join(other, 'scripts'));
  writeFileSync(join(other, path), unlocked);
  const scenario = completeScenario(withValues(raw, scattered), other);
  const { measures, verdict } = await simulate(scenario, { store: 'memory', folder: other });
  expect([measures.slot_conflicts, verdict]).toEqual([1, 'conflict']);
});

test('tendermint: stops when a third has crashed, and continues when fewer have', async () => {
  const crash = (count: number): Change => [
    'faults',
    [{ kind: 'crash', start_ms: 15_000, length_ms: 40_000, whom: [{ group: 'town', count }] }],
  ];
  const base = [...faulty(1, 'silent'), ['length', { virtual_ms: 50_000 }]] as Change[];
  const decided = async (count: number) => {
    const { measures } = await outcome('tendermint', ...base, crash(count));
    expect(measures.slot_conflicts).toBe(0);
    return measures.slots_decided!;
  };
  const [few, stopped] = [await decided(4), await decided(5)];
  expect(stopped).toBeGreaterThan(10);
  expect(few).toBeGreaterThan(stopped + 5);
});

const snowball = (parameters: object): Change[] => [
  ['agents.town.strategy.parameters', { approves: 0.5, k: 10, alpha: 8, beta: 10, ...parameters }],
  ['length', { virtual_ms: 35_000 }],
];

test('snowball: votes are unanimous, and follow a clear majority', async () => {
  const even = await outcome('snowball', ...snowball({}));
  expect([even.measures.slot_conflicts, even.measures.agreement]).toEqual([0, 1]);
  const clear = await outcome('snowball', ...snowball({ approves: 0.8 }));
  expect([clear.own.approved_share, clear.measures.finalized_share]).toEqual([1, 1]);
});

test('snowball: one round with a low alpha splits the town', async () => {
  const { verdict, findings } = await outcome('snowball', ...snowball({ alpha: 6, beta: 1 }));
  expect(verdict).toBe('conflict');
  expect(findings.map(({ name }) => name)).toEqual(['CONFLICTING_DECISIONS']);
});

test('snowball: agents continue after a crash', async () => {
  const crash = { kind: 'crash', start_ms: 6_000, length_ms: 3_000, whom: [{ share: 0.3 }] };
  const blocks: Change = ['producers.block_interval_ms', 30_000];
  const { measures } = await outcome('snowball', ...snowball({}), blocks, ['faults', [crash]]);
  expect([measures.slots_decided, measures.slot_decisions]).toEqual([1, 200]);
});

test('degroot: agents decide one opinion, within the tolerance', async () => {
  const { measures, verdict } = await outcome('degroot');
  expect([verdict, measures.slots_decided, measures.slot_decisions]).toEqual(['pass', 1, 60]);
  expect(measures.slot_values_spread).toBeLessThanOrEqual(1_000_000);
});

test.each([
  ...['hegselmann-krause', 'deffuant', 'degroot', 'snowball', 'tendermint'],
])('%s: reports the answer for the run, which its sweep shows', async (name) => {
  const { scenario, folder } = loadScenario(name, [['length', { virtual_ms: 30_000 }]]);
  const options = { store: 'memory', verifier: 'off', audit: false, folder } as const;
  const { measures, reported } = await simulate(scenario, options);
  // All agents with the script are in one group, or the first group has a state.
  expect(reported.run).toEqual(reported.groups.town);
  for (const response of scenario.sweep!.responses) {
    const own = /^reported\.(\w+)$/.exec(response)?.[1];
    const value = own === undefined ? measures[response as keyof Measures] : reported.run[own];
    expect([response, value]).toEqual([response, expect.any(Number)]);
  }
  expect(scenario.sweep!.responses.join()).toMatch(/reported\.(clusters|opinion|rounds_mean)/);
});
