/** Proposals on a block in voting are verified at once and applied when the block closes. */
import { expect, test } from 'vitest';
import { oneTransport, world } from '../../../support/service/server.js';
import { type Agent, propose, transaction, vote } from '../../../support/service/signer.js';
import { expectError, expectSuccess, GENESIS_HASH } from '../../../support/service/world.js';

type There = Awaited<ReturnType<typeof world>>;

/** Creates a block by Ada that is in voting, and Bob's proposal on top of it. */
async function early(there: There, fields: Record<string, unknown> = {}) {
  const [ada, bob] = (await there.joinAll('Ada', 'Bob')) as [Agent, Agent];
  const parent = await there.propose(ada);
  const transactions = [transaction(bob, 'testnet', 'early')];
  const request = propose(bob, { parent_hash: parent, transactions, ...fields });
  const before = there.network.stats;
  const answer = there.send(request);
  // The signatures on the proposal and its transaction are checked.
  const checked = () => there.network.stats.verified + there.network.stats.rejected;
  await expect.poll(checked).toBe(before.verified + before.rejected + 2);
  return { ada, bob, parent, request, answer };
}

test.each(
  oneTransport,
)('early over %s: applies a proposal when its parent is finalized', async (transport) => {
  const there = await world({ transport });
  const { ada, bob, parent, answer } = await early(there);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const data = expectSuccess(await answer, 201);
  expect(data).toMatchObject({ parent_hash: parent, height: 2, status: 'voting' });
  expect(await there.read('/api/v1/network/state')).toMatchObject({ head_hash: parent });
});

test('early: answers STALE_PARENT with the head when the parent is rejected', async () => {
  const there = await world();
  const { bob, parent, answer } = await early(there);
  await there.vote(bob, parent, { decision: 'reject' });
  const refused = await answer;
  expectError(refused, 409, 'INVALID_REQUEST', 'STALE_PARENT');
  expect(refused.error.details).toMatchObject({ head_hash: GENESIS_HASH, height: 0 });
});

test('early: refuses an invalid transaction after all other checks', async () => {
  const there = await world();
  const wrong = { ...transaction(agentless, 'testnet', 'x') };
  const { ada, bob, parent, answer } = await early(there, { transactions: [wrong] });
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const refused = await answer;
  expectError(refused, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  expect(refused.error.details.pointer).toBe('/transactions/0/signature');
});

const agentless = { sign: () => '1'.repeat(128) } as unknown as Agent;

test('early: also queues a repeat, and answers it as a duplicate', async () => {
  const there = await world();
  const { ada, bob, parent, request, answer } = await early(there);
  const again = there.send(request);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const [first, second] = [await answer, await again];
  expect([first.status, second.status].sort()).toEqual([200, 201]);
  expect(first.data.block_hash).toBe(second.data.block_hash);
});

test('early: lets two proposals of a producer wait, and refuses the next', async () => {
  const there = await world();
  const { ada, bob, parent, answer } = await early(there);
  const more = (data: string) =>
    propose(bob, { parent_hash: parent, transactions: [transaction(bob, 'testnet', data)] });
  const { verified } = there.network.stats;
  const second = there.send(more('second'));
  await expect.poll(() => there.network.stats.verified).toBe(verified + 2);
  expectError(await there.send(more('third')), 409, 'INVALID_REQUEST', 'STALE_PARENT');
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const ends = [await answer, await second].map(({ status }) => status).sort();
  expect(ends).toEqual([201, 409]);
});

test('early: ends the wait at the deadline of the parent', async () => {
  const there = await world({ genesis: { voting_period_ms: 1_000 } });
  const { answer } = await early(there);
  expectError(await answer, 409, 'INVALID_REQUEST', 'STALE_PARENT');
});

test.each(
  oneTransport,
)('early over %s: answers waiting proposals when the server stops', async (transport) => {
  const there = await world({ transport });
  const { answer } = await early(there);
  await there.close();
  expectError(await answer, 409, 'INVALID_REQUEST', 'STALE_PARENT');
});

test('early: accepts votes on the new block', async () => {
  const there = await world();
  const { ada, bob, parent, answer } = await early(there);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const { block_hash } = expectSuccess(await answer, 201);
  await there.do(vote(ada, { block_hash, decision: 'approve' }));
  const { block_status } = await there.vote(bob, String(block_hash));
  expect(block_status).toBe('finalized');
});
