/** Servers that are killed under load: what was answered or told is there after the restart. */
import { describe, expect, test } from 'vitest';
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { Endurance } from '../clients/endurance.js';

const draw = drawnFrom(seed);
const transports = ['uws', 'node'];

describe(`serve: killed under load, seed ${seed}`, () => {
  test(`serve: killed ${counts.killsUnderLoad} times on one folder, keeps its word`, async () => {
    const assembly = new Endurance(temporaryFolder());
    await assembly.begin();
    for (let kill = 0; kill < counts.killsUnderLoad; kill += 1) {
      // Every third one dies while it stops in good order.
      const stopping = kill % 3 === 2 ? { stopMs: draw(60) } : {};
      await assembly.die({ after: 20 + draw(400), transport: transports[kill % 2]!, ...stopping });
    }
    await assembly.end();
  });

  test('serve: killed at each point of a commit, keeps its word', async () => {
    const assembly = new Endurance(temporaryFolder());
    await assembly.begin();
    const before = assembly.promises;
    for (const point of ['commit.before', 'commit.after', 'publish.after']) {
      for (let death = 0; death < counts.killsAtPoints; death += 1) {
        const env = { FOLKMOOT_CRASH_AT: `${point}:${2 + draw(60)}` };
        await assembly.die({ env, transport: transports[draw(2)]! });
      }
    }
    await assembly.end();
    expect(assembly.promises).toBeGreaterThan(before);
  });
});
