/** Servers are killed under load. Everything acknowledged or shown exists after the restart. */
import { counts } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { Endurance } from '../clients/endurance.js';

const draw = drawnFrom(seed);
const transports = ['uws', 'node'];

describe(`serve: killed under load, seed ${seed}`, () => {
  test(`serve: loses nothing when killed ${counts.killsUnderLoad} times`, async () => {
    const assembly = new Endurance(temporaryFolder());
    await assembly.begin();
    for (let kill = 0; kill < counts.killsUnderLoad; kill += 1) {
      // Every third server is killed during graceful shutdown.
      const stopping = kill % 3 === 2 ? { stopMs: draw(60) } : {};
      await assembly.die({ after: 20 + draw(400), transport: transports[kill % 2]!, ...stopping });
    }
    await assembly.end();
  });

  test('serve: loses nothing when killed at each point of a commit', async () => {
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
