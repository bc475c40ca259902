/** Killed shards and merges: resumed, they complete with the same output. */
import { join } from 'node:path';
import { folkmoot } from '../../../support/cli.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { seed } from '../../../support/seeded.js';
import { drawn, expectSame, killed } from '../folders.js';
import { sixRuns } from './shards.js';

const { alone, shards } = sixRuns();

describe(`shards: killed, seed ${seed}`, () => {
  test.each(
    drawn(counts.killedSweeps, 34),
  )('merge: a merge killed after %i changes resumes to the same files', async (at) => {
    const out = join(temporaryFolder(), 'out');
    const args = ['merge', ...shards, '--out', out, '--resume'];
    await killed(out, at, args);
    const again = await folkmoot(args);
    expect(again.code, again.stderr).toBe(0);
    expectSame(alone, out);
  });
});
