/** Power failures: acknowledged data is on disk. The control run without syncs loses data. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ends, openStore } from '../engine/store/fixture.js';
import { startWriter } from '../engine/store/start-writer.js';
import { Endurance } from '../live/clients/endurance.js';
import { counts } from '../support/counts.js';
import { temporaryFolder } from '../support/fixture.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { faulty, why } from './faulty.js';
import { PowerCut } from './journal.js';

const draw = drawnFrom(seed);
const transports = ['uws', 'node'];

/** Kills a writer, then cuts the power. Returns the last acknowledged batch. */
async function storeCut(folder: string, noSync: boolean): Promise<number> {
  const power = new PowerCut(folder);
  const env = faulty({ folder, journal: power.journal, noSync });
  const child = startWriter(['write', folder, '100000'], env);
  const killAfter = draw(40);
  while (child.lines.length < killAfter) await sleep(1);
  child.process.kill('SIGKILL');
  await child.ended;
  const told = child.lines.filter((line) => line.startsWith('committed')).at(-1);
  power.cut(draw);
  return told === undefined ? 0 : Number(told.split(' ')[1]);
}

/** Returns the last complete batch of a folder. */
async function kept(folder: string): Promise<number> {
  if (!existsSync(join(folder, 'data.mdb'))) return 0;
  const store = openStore(folder);
  const { meta: last, entries, votes } = ends(store) as { meta: number; entries: []; votes: [] };
  expect([entries.length, votes.length]).toEqual([Math.min(last, 1_001), last]);
  await store.close();
  return last;
}

describe.skipIf(why !== undefined)(`power cuts, seed ${seed}`, () => {
  test(`disk: a store survives ${counts.powerCuts} power failures`, async () => {
    for (let cut = 0; cut < counts.powerCuts; cut += 1) {
      const folder = join(temporaryFolder(), 'store');
      for (let life = 0; life < 2; life += 1) {
        const told = await storeCut(folder, false);
        expect(await kept(folder)).toBeGreaterThanOrEqual(told);
      }
    }
  });

  test(`disk: a server under load survives ${counts.powerCuts} power failures`, async () => {
    const data = join(temporaryFolder(), 'data');
    const moot = new Endurance(data);
    await moot.begin();
    for (let cut = 0; cut < counts.powerCuts; cut += 1) {
      const power = new PowerCut(data);
      const env = faulty({ folder: data, journal: power.journal });
      await moot.die({ after: 20 + draw(200), env, transport: transports[cut % 2]! });
      power.cut(draw);
    }
    await moot.end();
  });
});
