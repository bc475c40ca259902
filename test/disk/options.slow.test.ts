/** A disk that fails while a block with the largest options closes: no vote is lost. */
import { constants } from 'node:os';
import { composeProposal, composeVote } from 'folkmoot';
import { expect, test } from 'vitest';
import { registration } from '../live/clients/actions.js';
import { Caller, expectCut, stamp } from '../live/clients/caller.js';
import { largeOptions, namesOf } from '../live/rules/large-options.js';
import { signatoryOf, temporaryFolder } from '../support/fixture.js';
import { host, startHost, stop } from '../support/host.js';
import { replayHere } from '../support/runs.js';
import { faulty, why } from './faulty.js';

const { EIO, ENOSPC } = constants.errno;
const voters = [0, 1, 2].map(signatoryOf);

/** Creates a network whose block of 16 options needs one more vote to close. */
async function almostClosed(data: string) {
  const server = await host({
    data,
    args: ['--policy', 'schulze', '--voting-period-ms', '600000'],
  });
  const caller = new Caller(server.url);
  for (const [at, by] of voters.entries()) await caller.do(registration(by, `Agent ${at}`));
  const options = largeOptions();
  const { head_hash } = await caller.read('/api/v1/network/state');
  const fields = { parent_hash: String(head_hash), transactions: [], options };
  const { block_hash } = await caller.do(composeProposal(voters[0]!, stamp(), fields));
  const hash = String(block_hash);
  const voteBy = (number: number) => {
    const ballot = { ranking: namesOf(options).reverse() };
    const choice = { block_hash: hash, decision: 'approve' as const, ballot };
    return composeVote(voters[number]!, stamp(), choice);
  };
  for (const number of [0, 1]) await caller.do(voteBy(number));
  caller.close();
  await stop(server);
  return { hash, last: voteBy(2) };
}

/** Each rule fails at a different step of the closing commit, or while the server starts. */
const faults = [
  ...[1, 2, 3].map((nth) => `fdatasync:${nth}:${EIO}`),
  `fdatasync:2+:${ENOSPC}`,
  // Writes half of the bytes.
  ...[1, 3, 8].map((nth) => `pwrite:${nth}:0`),
  `pwrite:2+:${ENOSPC}`,
];

test.skipIf(why !== undefined).each(faults)(
  'serve: a block of 16 large options survives %s while it closes',
  async (rules) => {
    const data = temporaryFolder();
    const { hash, last } = await almostClosed(data);
    const started = await startHost({ data, env: faulty({ folder: data, rules }) });
    let isAcknowledged = false;
    if (!('ending' in started)) {
      const caller = new Caller(started.url);
      const answer = await caller.send(last).catch(expectCut);
      isAcknowledged = answer?.status === 200;
      caller.close();
      await started.kill('SIGKILL');
    }
    const server = await host({ data });
    const caller = new Caller(server.url);
    const path = `/api/v1/blocks/${hash}`;
    const found = await caller.read(path);
    if (isAcknowledged) expect(found).toMatchObject({ status: 'finalized', choice: 'option-15' });
    // The vote may be durable without an acknowledgement. A retry is a repeat then.
    await caller.do(last);
    expect(await caller.read(path)).toMatchObject({ status: 'finalized', choice: 'option-15' });
    const value = await caller.read('/api/v1/state/only-option-15');
    expect(value).toMatchObject({ value: true });
    expect(await caller.find('/api/v1/state/only-option-14')).toBe(null);
    caller.close();
    await stop(server);
    expect(await replayHere(data)).toMatchObject({ match: true });
  },
);

test.skipIf(why !== undefined)(
  'serve: a failed flush of the closing commit is not acknowledged, exit code 13',
  async () => {
    const data = temporaryFolder();
    const { last } = await almostClosed(data);
    const rules = `fdatasync:1+:${EIO}`;
    const server = await host({ data, env: faulty({ folder: data, rules }) });
    const caller = new Caller(server.url);
    const answer = await caller.send(last).catch(expectCut);
    expect(answer?.status).not.toBe(200);
    expect(await server.ended).toEqual({ code: 13, signal: null });
  },
);
