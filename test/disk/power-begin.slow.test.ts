/**
 * Power failures at every moment in a new folder's creation. The folder opens with all acknowledged
 * data.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { registration } from '../live/clients/actions.js';
import { Caller } from '../live/clients/caller.js';
import { counts } from '../support/counts.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { host } from '../support/host.js';
import { replayHere } from '../support/runs.js';
import { drawnFrom, seed } from '../support/seeded.js';
import { faulty, why } from './faulty.js';
import { PowerCut } from './journal.js';
import { reopened } from './open-folder.js';

const draw = drawnFrom(seed);
const args = ['--network-id', 'devnet'];

/** An acknowledged entry, with the journal length at that time. */
interface Told {
  seq: number;
  bytes: number;
}

/** Creates a folder and registers a few agents. */
async function begin(data: string, noSync = false): Promise<{ power: PowerCut; told: Told[] }> {
  const power = new PowerCut(data);
  const env = faulty({ folder: data, journal: power.journal, noSync });
  const server = await host({ data, env, args });
  const now = (seq: number): Told => ({ seq, bytes: statSync(power.journal).size });
  const told = [now(0)];
  const caller = new Caller(server.url);
  for (let agent = 1; agent <= 6; agent += 1) {
    await caller.do(registration(signatoryOf(agent), 'First'));
    told.push(now(agent));
  }
  await server.kill('SIGKILL');
  return { power, told };
}

describe.skipIf(why !== undefined)(`power cuts while a folder is created, seed ${seed}`, () => {
  test('disk: a new folder keeps acknowledged data after any power failure', async () => {
    const data = join(temporaryFolder(), 'data');
    const { power, told } = await begin(data);
    const ends = [0, ...power.ends()];
    expect(ends.length).toBeGreaterThan(20);
    for (let note = draw(counts.everyNote); note < ends.length; note += counts.everyNote) {
      power.cut(draw, ends[note]);
      const known = told.filter(({ bytes }) => bytes <= ends[note]!).at(-1)?.seq ?? 0;
      const files = existsSync(data) ? readdirSync(data).join() : 'nothing';
      const { seq } = await reopened(data);
      expect(seq, `note ${note} of ${ends.length}: ${files}`).toBeGreaterThanOrEqual(known);
      expect(await replayHere(data)).toMatchObject({ match: true, entries: seq + 1 });
    }
  });

  test('disk: a new folder loses data without syncs', async () => {
    const data = join(temporaryFolder(), 'data');
    const { power } = await begin(data, true);
    power.cut(() => 0);
    const left = await reopened(data).catch(() => ({ seq: 0 }));
    expect(left.seq).toBeLessThan(6);
  });
});
