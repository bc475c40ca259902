/** More requests at one instant than the commit queue holds: nothing is lost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from 'folkmoot';
import { completeScenario, simulate } from 'folkmoot/sim';
import { temporaryFolder } from '../../support/fixture.js';
import { allVote } from '../fixture.js';

const text = `
  export const hear = () => [{ do: 'wait', ms: 2500 }];
  export const vote = () => ({ do: 'vote', decision: 'approve' });`;

test('without signatures: simultaneous requests give the same digests on disk', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'all.mjs'), text);
  const count = limits.pendingEntries + 100;
  const strategy = { kind: 'script', module: 'all.mjs' };
  const raw = {
    ...{ title: 'all at once', agents: [{ group: 'town', count, producers: 1, strategy }] },
    topology: { kind: 'ring', degree: 2 },
    links: { latency: { distribution: 'constant', mean_ms: 1_000, spread_ms: 0 } },
    ...{ signatures: 'none', consensus: { ...allVote, voting_period_ms: 20_000 } },
    length: { blocks: 1 },
  };
  const scenario = completeScenario(raw, folder);
  const [disk, memory] = [
    await simulate(scenario, { folder, store: 'lmdb' }),
    await simulate(scenario, { folder, store: 'memory' }),
  ];
  expect(disk.digest).toBe(memory.digest);
  expect(disk.log_digest).toBe(memory.log_digest);
});
