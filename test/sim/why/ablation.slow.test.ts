/** Ablation by forks, where the answer is known by construction; and what cannot be forked. */
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attributed, murmured, worldOf } from './world.js';

test('ablation: the one meme among 200 on which all hangs is ranked first', async () => {
  const world = await worldOf('memes', 'planted');
  expect(world.result.measures.finalized).toBe(1);
  expect(world.result.measures.memes).toBe(murmured + 1);
  const { ablation, candidates, decisions } = await attributed(world);
  expect(candidates).toBe(murmured + 1);
  const [first, ...others] = ablation.rows;
  expect(first!.name).toBe(`by ${world.preacher}`);
  expect(first).toMatchObject({
    significant: true,
    only_with: 12,
    only_without: 0,
    difference: -1,
  });
  expect(first!.p_holm).toBeCloseTo((10 * 2) / 2 ** 12, 10);
  expect(first!.high).toBeLessThan(0);
  for (const row of others) {
    expect(row).toMatchObject({ significant: false, difference: 0, p: 1, acted: 12 });
  }
  // It is what the crowd's votes rested on, too.
  const crowd = decisions.filter(({ group }) => group === 'crowd');
  expect(crowd.length).toBeGreaterThan(10);
  for (const { turned_by } of crowd) expect(turned_by).toEqual([first!.id]);
});

test('ablation: where nothing was planted, in 20 runs nothing is significant', async () => {
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
  // Not because the outcome was certain: it is drawn anew in each pair.
  expect(finalized.size).toBeGreaterThan(2);
});

test('ablation: the same again gives the same', async () => {
  const world = await worldOf('whim', 'twice');
  const options = { kinds: ['agent', 'meme'], most: 4, replicates: 3 } as const;
  const first = await attributed(world, options);
  expect(await attributed(world, { ...options, jobs: 1 })).toEqual(first);
});

test('ablation: a run whose data files are not there, or others, is refused', async () => {
  const world = await worldOf('memes', 'planted');
  const { folder: _, ...without } = world;
  await expect(attributed({ ...without } as never)).rejects.toThrow('--folder says where they are');
  appendFileSync(join(world.folder, 'edges.csv'), '3,4\n');
  await expect(attributed(world)).rejects.toThrow('is not what the run had: its sha256 was');
  rmSync(join(world.folder, 'edges.csv'));
  await expect(attributed(world)).rejects.toThrow(/edges\.csv/);
});

test('ablation: a server folder has no run that could be made again', async () => {
  const world = await worldOf('whim', 'live');
  rmSync(join(world.out, 'summary.json'));
  expect(await attributed(world)).toBe(null);
});
