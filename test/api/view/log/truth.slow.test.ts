/** Snapshots of five bundled scenarios at random entries equal the engine's reads. */
import { join } from 'node:path';
import { History, KeptNetwork } from 'folkmoot';
import { loadScenario, simulate } from 'folkmoot/sim';
import { expect, test } from 'vitest';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { drawnFrom, seed } from '../../../support/seeded.js';
import { assertTrue } from './compare.js';
import { viewOf } from './view.js';

const scenarios = [
  'alliances',
  'byzantine',
  'churning-town',
  'meme-storm',
  'partition-heals',
] as const;

test.each(scenarios)("snapshot: %s, at random entries, equals the engine's reads", async (name) => {
  const out = join(temporaryFolder(), name);
  const { scenario } = loadScenario(name);
  await simulate(scenario, { seed: String(seed), out });
  const path = join(out, 'network');
  const history = History.open({ path });
  const network = KeptNetwork.open({ path });
  // Uses small chunks, so that most entries are in a finished chunk and files are read.
  const view = viewOf(network, { chunkRows: 1_500 });
  const draw = drawnFrom(seed);
  const end = history.end.seq;
  const ats = Array.from({ length: counts.pictures }, () => draw(end + 1));
  for (const at of [end, ...ats]) {
    const snapshot = await view.readSnapshot(at);
    try {
      assertTrue(snapshot, await history.at(at));
    } catch (error) {
      throw new Error(`entry ${at} with FOLKMOOT_TEST_SEED=${seed}`, { cause: error });
    }
  }
  expect(view.problem).toBe(null);
  await view.close();
  await network.close();
  await history.close();
});
