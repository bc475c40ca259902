/** Sweeps over the decision rule: its name and its parameters. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/fixture.js';
import { quiet, type Raw } from '../fixture.js';
import { rowsIn, sweepIn } from './folders.js';

/** Agents that approve at random, with a probability of 56/101. */
const traits = { technical: 0, social: 0, meme: 0, random: 100, threshold: 45, abstains: 0 };

async function sweepOver(factors: Raw[], consensus: Raw) {
  const folder = temporaryFolder();
  const file = join(folder, 'rule.json');
  const raw = {
    title: 'a rule',
    signatures: 'none',
    agents: [{ group: 'town', count: 15, producers: 1, traits }],
    social: quiet,
    consensus: { voting_period_ms: 8_000, dormant_after: 0, ...consensus },
    length: { blocks: 12 },
    sweep: { factors, replicates: 2 },
  };
  writeFileSync(file, JSON.stringify(raw));
  const out = join(folder, 'out');
  const { code, stderr } = await sweepIn(file, out);
  const summary = code === 0 ? rowsIn(join(out, 'summary.csv')) : [];
  const shares = summary.filter(({ measure }) => measure === 'finalized_share');
  return { code, stderr, shares };
}

test('sweep: a parameter of the rule changes the share of finalized blocks', async () => {
  const path = 'consensus.rule.parameters.for_bps';
  const { code, shares } = await sweepOver(
    [{ path, name: 'for_bps', values: [2_000, 5_500, 9_000] }],
    { policy: 'threshold' },
  );
  expect(code).toBe(0);
  expect(shares.map(({ for_bps }) => for_bps)).toEqual(['2000', '5500', '9000']);
  const [low, middle, high] = shares.map(({ mean }) => Number(mean));
  expect([low, high]).toEqual([1, 0]);
  expect(middle).toBeGreaterThan(0);
  expect(middle).toBeLessThan(1);
});

test('sweep: the policy changes the share of finalized blocks', async () => {
  const factors = [
    { path: 'consensus.policy', name: 'policy', values: ['unanimity', 'majority', 'schulze'] },
  ];
  const { code, shares } = await sweepOver(factors, {});
  expect(code).toBe(0);
  const means = Object.fromEntries(shares.map(({ policy, mean }) => [policy, Number(mean)]));
  expect(means.unanimity).toBe(0);
  // Without options, an election decides as a majority does.
  expect(means.schulze).toBeGreaterThan(0.3);
  expect(means.majority).toBeGreaterThan(0.3);
});

test.each<[what: string, path: string, value: unknown]>([
  ['a parameter out of bounds', 'consensus.rule.parameters.for_bps', 20_000],
  ['an unknown parameter', 'consensus.rule.parameters.for', 1],
  ['an unknown policy', 'consensus.policy', 'lottery'],
])('sweep: refuses %s before the first run', async (_, path, value) => {
  const factors = [{ path, values: [value] }];
  const { code, stderr } = await sweepOver(factors, { policy: 'threshold' });
  expect(code).toBe(2);
  expect(stderr).toContain('consensus');
});
