/** Killed shards and merges: resumed, they complete with the same output. */
import { join } from 'node:path';
import { folkmoot } from '../../../support/cli.js';
import { counts } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { seed } from '../../../support/seeded.js';
import { drawn, expectSame, killed, sweepIn } from '../folders.js';
import { sixRuns } from './shards.js';

const { file, alone, shards } = sixRuns();

describe(`shards: killed, seed ${seed}`, () => {
  test.each(
    drawn(counts.killedSweeps, 16),
  )('shards: a shard killed after %i changes resumes to the same files', async (at) => {
    const out = join(temporaryFolder(), 'out');
    const args = ['sweep', file, '--shard', '2/2', '--resume', '--jobs', '2', '--out', out];
    await killed(out, at, args);
    const { code, stderr } = await sweepIn(file, out, '--shard', '2/2', '--resume');
    expect(code, stderr).toBe(0);
    expectSame(shards[1], out);
  });

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
