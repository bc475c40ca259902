/** Ablation by forks with answers known by construction, and runs that cannot be forked. */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { alliedWorld, attributed, murmured, worldOf } from './world.js';

test('ablation: ranks the decisive meme among 200 first', async () => {
  const world = await worldOf('memes', 'planted');
  expect(world.result.measures.finalized).toBe(1);
  expect(world.result.measures.memes).toBe(murmured + 1);
  const { ablation, candidates, decisions } = await attributed(world);
  expect(candidates).toBe(murmured + 1);
  const [first, ...others] = ablation.rows;
  expect(first!.name).toBe(`by ${world.preacher}`);
  expect(first).toMatchObject({
    ...{ significant: true, only_with: 12, only_without: 0, difference: -1 },
  });
  expect(first!.p_holm).toBeCloseTo((10 * 2) / 2 ** 12, 10);
  expect(first!.high).toBeLessThan(0);
  for (const row of others) {
    expect(row).toMatchObject({ significant: false, difference: 0, p: 1, acted: 12 });
  }
  // The crowd's decisions name the same meme.
  const crowd = decisions.filter(({ group }) => group === 'crowd');
  expect(crowd.length).toBeGreaterThan(10);
  for (const { turned_by } of crowd) expect(turned_by).toEqual([first!.id]);
});

test('ablation: finds nothing in 20 runs without an effect', async () => {
  const finalized = new Set<number>();
  for (let seed = 0; seed < 20; seed += 1) {
    const { ablation } = await attributed(await worldOf('whim', `${seed}`), {
      most: 4,
      replicates: 8,
    });
    expect(ablation.rows).toHaveLength(4);
    for (const { both, p_holm, significant } of ablation.rows) {
      finalized.add(both);
      expect([p_holm, significant]).toEqual([1, false]);
    }
  }
  // The outcome is random: each pair has different randomness.
  expect(finalized.size).toBeGreaterThan(2);
});

test.each([20, 1_000, 2_500])('ablation: finds an alliance with links of %d ms', async (ms) => {
  const world = await alliedWorld(ms, 1_000);
  const { ablation } = await attributed(world, { kinds: ['alliance'], replicates: 6 });
  expect(ablation.rows).toHaveLength(1);
  expect(ablation.rows[0]).toMatchObject({
    ...{ measured: true, acted: 6, difference: -1, only_with: 6, significant: true },
  });
  expect(ablation.rows[0]!.detectable).toBeGreaterThan(0.9);
});

test('ablation: does not measure an alliance that members cannot leave in time', async () => {
  const world = await alliedWorld(2_500, 24_500);
  const { ablation } = await attributed(world, { kinds: ['alliance'], replicates: 6 });
  expect(ablation.rows).toHaveLength(1);
  expect(ablation.rows[0]).toMatchObject({
    ...{ measured: false, acted: 0, significant: false },
    ...{ difference: null, low: null, high: null, p: null, p_holm: null },
  });
});

test('ablation: doubles the pairs until each candidate is decided', async () => {
  const world = await worldOf('memes', 'planted');
  const { ablation } = await attributed(world, {
    ...{ most: 4, replicates: 8, mostReplicates: 64, margin: 0.3 },
  });
  expect(ablation).toMatchObject({ looks: 4, replicates: 8, most_replicates: 64, margin: 0.3 });
  const [first, ...others] = ablation.rows;
  expect(first).toMatchObject({ significant: true, within_margin: false, difference: -1 });
  // Twelve of twelve is not enough for four looks at four candidates; sixteen of sixteen is.
  expect(first!.pairs).toBe(16);
  for (const row of others) {
    expect(row).toMatchObject({ significant: false, within_margin: true, difference: 0 });
    expect(row.p_margin).toBeLessThanOrEqual(0.05);
    expect(row.pairs).toBeLessThan(64);
  }
  // The runs without an omission are shared, so there are fewer than two runs for each pair.
  const pairs = ablation.rows.reduce((sum, row) => sum + row.pairs, 0);
  expect(ablation.forks).toBeLessThanOrEqual(2 * pairs);
});

test('ablation: is deterministic', async () => {
  const world = await worldOf('whim', 'twice');
  const options = { kinds: ['agent', 'meme'], most: 4, replicates: 3 } as const;
  const first = await attributed(world, options);
  expect(await attributed(world, { ...options, jobs: 1 })).toEqual(first);
});

test('ablation: refuses a run with missing or changed data files', async () => {
  const world = await worldOf('memes', 'planted');
  const { folder: _, ...without } = world;
  await expect(attributed({ ...without } as never)).rejects.toMatchObject({
    code: 'SOURCE_NOT_FOUND',
  });
  appendFileSync(join(world.folder, 'links.csv'), '3,4\n');
  await expect(attributed(world)).rejects.toMatchObject({ code: 'SOURCE_CHANGED' });
  rmSync(join(world.folder, 'links.csv'));
  await expect(attributed(world)).rejects.toThrow(/links\.csv/);
});

test('ablation: skips the folder of a server', async () => {
  const world = await worldOf('whim', 'live');
  rmSync(join(world.out, 'summary.json'));
  expect(await attributed(world)).toBe(null);
});
