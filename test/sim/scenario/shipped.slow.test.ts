/** Shipped scenarios: each has its promised verdict and the result that its text describes. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  completeScenario,
  findScenario,
  loadScenario,
  measures,
  type SimResult,
  shippedScenarios,
  simulate,
  withValues,
} from 'folkmoot/sim';
import { full } from '../../support/counts.js';
import { live, type Raw } from '../fixture.js';

type Change = readonly [path: string, value: unknown];

async function outcome(name: string, ...changes: Change[]): Promise<SimResult> {
  const { raw, folder } = loadScenario(name);
  const scenario = completeScenario(withValues(raw, changes), folder);
  return simulate(scenario, { store: 'memory', verifier: 'off', folder });
}

async function kept(name: string) {
  const { raw, folder } = loadScenario(name);
  const { agents, ...sections } = raw as { agents: Raw[] } & Raw;
  const plain = { social: {}, links: {}, topology: {}, producers: {}, consensus: {} };
  return live(agents, { ...plain, ...sections, signatures: 'none' }, folder);
}

const names = shippedScenarios().map(({ name }) => name);

test('shipped: at least eight scenarios, found by name', () => {
  expect(names.length).toBeGreaterThanOrEqual(8);
  for (const name of names) expect(basename(findScenario(name)!)).toBe(`${name}.yaml`);
  expect(findScenario('nowhere')).toBe(null);
});

test.each(names)('shipped: %s has a question, an explanation, and its verdict', async (name) => {
  const { scenario, folder } = loadScenario(name);
  expect(scenario.question).toMatch(/\?$/);
  expect(readFileSync(findScenario(name)!, 'utf8')).toMatch(/^(#.*\n){5}/);
  const verifier = full ? 'inline' : 'off';
  const result = await simulate(scenario, { store: 'memory', verifier, folder });
  expect([result.verdict, result.broken]).toEqual([scenario.expect, null]);
});

test.each(names)('shipped: the sweep of %s varies existing values', (name) => {
  const { scenario, raw, folder } = loadScenario(name);
  for (const { path, values = [] } of scenario.sweep?.factors ?? []) {
    for (const value of values) completeScenario(withValues(raw, [[path, value]]), folder);
  }
  const known = Object.keys(measures);
  for (const response of scenario.sweep?.responses ?? []) {
    if (!response.startsWith('reported.')) expect(known).toContain(response);
  }
});

/** Verdict, and finalized shares of sound and unsound blocks, at a share of adversaries. */
async function byzantine(policy: string, share: number) {
  const { measures, verdict } = await outcome(
    'byzantine',
    ['consensus.policy', policy],
    ['agents.adversaries.share', share],
  );
  const { sound_finalized_share: sound, unsound_finalized_share: unsound } = measures;
  return [verdict, sound, unsound];
}

test.each([
  ['bft', 0.3, ['pass', 1, 0]],
  ['bft', 0.6, ['pass', 0, 0]],
  ['majority', 0.45, ['pass', 1, 0]],
  ['majority', 0.55, ['pass', 0, 1]],
  ['veto', 0, ['pass', 1, null]],
  ['veto', 0.35, ['pass', 0, 0]],
] as const)('byzantine: %s has the known outcome with a share of %d', async (...row) => {
  const [policy, share, expected] = row;
  expect(await byzantine(policy, share)).toEqual(expected);
});

test('two-blocs: each bloc agrees internally, and links bring the blocs together', async () => {
  const gap = async (rewired: number) => {
    const { measures } = await outcome('two-blocs', ['topology.rewired', rewired]);
    return measures.agreement_within! - measures.agreement_between!;
  };
  const [apart, mixed] = [await gap(0), await gap(0.5)];
  expect(apart).toBeGreaterThan(0.3);
  expect(mixed).toBeLessThan(apart - 0.15);
});

test('meme-storm: memes decide votes, and fewer sound blocks are finalized', async () => {
  const calm = (await outcome('meme-storm', ['agents.spammers.share', 0])).measures;
  const { measures } = await outcome('meme-storm');
  expect(calm.influence).toBeLessThan(0.05);
  expect(measures.influence).toBeGreaterThan(0.1);
  expect(measures.sound_finalized_share).toBeLessThan(calm.sound_finalized_share! - 0.3);
});

test('partition-heals: finalizes nothing during the partition or soon after', async () => {
  const { blocks } = await kept('partition-heals');
  const final = blocks.filter(({ status }) => status === 'finalized');
  const times = final.map(({ closed_ms }) => Number(closed_ms));
  expect(times.filter((ms) => ms > 63_000 && ms < 150_000)).toEqual([]);
  expect(times.filter((ms) => ms < 63_000).length).toBeGreaterThan(3);
  expect(times.filter((ms) => ms > 150_000).length).toBeGreaterThan(8);
  expect(blocks.filter(({ status }) => status === 'expired').length).toBeGreaterThan(3);
});

test('partition-heals: dormancy restores finality earlier', async () => {
  const usual = (await outcome('partition-heals')).measures;
  const { measures } = await outcome('partition-heals', ['consensus.dormant_after', 1]);
  expect(measures.finalized).toBeGreaterThan(usual.finalized!);
});

test.each([
  ['equal', 32, false],
  ['alliance_bonus', 31, false],
  ['alliance_bonus', 32, true],
])('alliances: weights %s and %i allies stop finality: %s', async (weights, count, stops) => {
  const { measures } = await outcome(
    'alliances',
    ['consensus.weights', weights],
    ['agents.allies.count', count],
  );
  expect(measures.rejected! > 10).toBe(stops);
  expect(measures.finalized! > 20).toBe(!stops);
});

test('censorship: the group `quarter` gets at most a fifth of the transactions', async () => {
  const { agents, result } = await kept('censorship');
  const quarter = agents.filter(({ group }) => group === 'quarter');
  const signed = quarter.reduce((sum, { transactions }) => sum + Number(transactions), 0);
  const share = signed / result.measures.transactions!;
  expect(share).toBeGreaterThan(0.02);
  expect(share).toBeLessThan(0.2);
  expect(result.measures.finalized_share).toBeGreaterThan(0.9);
});

const PERIOD_MS = 30_000;

test.each([
  0.0698, 0.14, 0.28, 0.3256,
])('takeover: a share of %d finalizes nothing, and honest waits are short', async (share) => {
  const { measures, refused, broken } = await outcome('takeover', [
    'agents.attackers.share',
    share,
  ]);
  expect([broken, measures.unsound_finalized_share]).toEqual([null, 0]);
  expect(measures.finalized).toBeGreaterThan(5);
  expect(measures.longest_wait_ms).toBeLessThanOrEqual(2 * PERIOD_MS);
  // The attackers reached their limits.
  expect(refused.BLOCKS_USED).toBeGreaterThan(500);
});

test.each([
  0.187, 0.28, 0.3256,
])('slot-holders: with a share of %d, honest producers wait at most two periods', async (share) => {
  const { measures, refused, broken } = await outcome('slot-holders', [
    'agents.holders.share',
    share,
  ]);
  expect([broken, measures.unsound_finalized_share]).toEqual([null, 0]);
  expect(measures.finalized).toBeGreaterThan(5);
  expect(measures.longest_wait_ms).toBeLessThanOrEqual(2 * PERIOD_MS);
  expect(refused.TOO_MANY_OPEN).toBeGreaterThan(10);
});

test('own-script: grudges reject sound blocks, and do not reject more unsound ones', async () => {
  const patience = 'agents.keepers.strategy.parameters.patience';
  const [none, long] = [await outcome('own-script', [patience, 0]), await outcome('own-script')];
  expect(none.measures.sound_finalized_share).toBe(1);
  expect(long.measures.sound_finalized_share).toBeLessThan(1);
  for (const { measures } of [none, long]) expect(measures.unsound_finalized_share).toBe(0);
});
