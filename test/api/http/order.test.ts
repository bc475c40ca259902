/**
 * Order of checks. If there are two mistakes, the refusal names the mistake that is checked first.
 */
import { testsWith } from '../../support/fixture.js';
import { oneTransport, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  propose,
  type Request,
  register,
  stamp,
  status,
  transaction,
  vote,
} from '../../support/service/signer.js';
import { expectError, expectSuccess, GENESIS_HASH } from '../../support/service/world.js';

const check = testsWith(() => world());

const OLD = '2020-01-01T00:00:00Z';
const BAD = '0'.repeat(128);

const unsigned = (by: Agent): Agent => ({ ...by, sign: () => BAD });
const withHeaders = (request: Request, headers: Record<string, string>): Request => ({
  ...request,
  headers: { ...request.headers, ...headers },
});

test('checks route, method, size, media type, credentials and JSON in this order', async () => {
  const there = await world();
  const ada = await there.join('Ada');
  const path = '/api/v1/consensus/vote';
  const large = 'x'.repeat(70_000);
  const send = (request: Partial<Request>) =>
    there.send({ method: 'POST', path, headers: {}, body: large, ...request });
  expectError(await send({ path: '/api/v1/votes' }), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
  expectError(await send({ method: 'PUT' }), 405, 'INVALID_REQUEST', 'METHOD');
  expectError(await send({}), 413, 'INVALID_REQUEST', 'TOO_LARGE');
  expectError(await send({ body: '{' }), 415, 'INVALID_REQUEST', 'MEDIA_TYPE');
  const headers = { 'Content-Type': 'application/json; charset=utf-8' };
  expectError(await send({ body: '{', headers }), 401, 'INVALID_SIGNATURE', 'MISSING');
  const keyed = { ...headers, 'X-Agent-Public-Key': ada.publicKey };
  expectError(await send({ body: '{', headers: keyed }), 400, 'INVALID_REQUEST', 'BAD_JSON');
});

check('order: reports the unknown key of a request with an old timestamp', async (there) => {
  const stranger = agentOf('Stranger');
  const requests = [
    vote(stranger, { block_hash: GENESIS_HASH }, OLD),
    status(stranger, { status: 'active' }, stranger.agentId, OLD),
    vote(unsigned(stranger), { block_hash: GENESIS_HASH }),
  ];
  for (const request of requests) {
    expectError(await there.send(request), 401, 'INVALID_AGENT', 'UNKNOWN_KEY');
  }
});

check('order: reports the old timestamp of a request with an invalid signature', async (there) => {
  const ada = unsigned(await there.join('Ada'));
  const requests = [
    vote(ada, { block_hash: GENESIS_HASH }, OLD),
    status(ada, { status: 'active' }, ada.agentId, OLD),
    register(unsigned(agentOf('New')), {}, OLD),
  ];
  for (const request of requests) {
    expectError(await there.send(request), 401, 'INVALID_SIGNATURE', 'TIMESTAMP_SKEW');
  }
});

check('order: reports the invalid signature of an agent without the role', async (there) => {
  const judge = await there.join('Judge', { capabilities: ['validator'] });
  const request = propose(unsigned(judge), { parent_hash: GENESIS_HASH });
  expectError(await there.send(request), 401, 'INVALID_SIGNATURE', 'MISMATCH');
});

test('order: answers a registration whose header names another key with 401 MISMATCH', async () => {
  const there = await world();
  const other = { 'X-Agent-Public-Key': agentOf('Other').publicKey };
  const answer = await there.send(withHeaders(register(agentOf('New')), other));
  expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  expect((await there.read('/api/v1/network/agents')).validators).toEqual([]);
});

test('order: status: answers an older update after a newer one with 401 REPLAYED', async () => {
  const there = await world();
  const ada = await there.join('Ada');
  const [earlier, later] = [stamp(), stamp()];
  const old = status(ada, { status: 'inactive' }, ada.agentId, earlier);
  await there.do(status(ada, { status: 'maintenance' }, ada.agentId, later), 200);
  const before = await there.digest();
  const answer = await there.send(old);
  expectError(answer, 401, 'INVALID_SIGNATURE', 'REPLAYED');
  expect(await there.digest()).toBe(before);
  expect(answer.error.details).toMatchObject({
    ...{ kind: 'status', expected_input_sha256: expect.any(String) },
    ...{ body_sha256: expect.any(String), request_target: old.path },
    ...{ server_time: expect.any(String), skew_ms: expect.any(Number) },
  });
});

check('order, transactions: checks role and parent first', async (there) => {
  const ada = await there.join('Ada');
  const judge = await there.join('Judge', { capabilities: ['validator'] });
  const bad = transaction(unsigned(ada), await there.networkId(), 'pay');
  const send = (by: Agent, parent_hash: string) =>
    there.send(propose(by, { parent_hash, transactions: [bad] }));
  expectError(await send(judge, GENESIS_HASH), 403, 'INVALID_AGENT', 'NOT_PRODUCER');
  expectError(await send(ada, 'a'.repeat(64)), 409, 'INVALID_REQUEST', 'STALE_PARENT');
  expectError(await send(ada, GENESIS_HASH), 401, 'INVALID_SIGNATURE', 'MISMATCH');
});

// ---- Proposals on a block in voting are verified at once and applied when the block closes.

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

test.each(oneTransport)('early over %s: applies one with its parent', async (transport) => {
  const there = await world({ transport });
  const { ada, bob, parent, answer } = await early(there);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const data = expectSuccess(await answer, 201);
  expect(data).toMatchObject({ parent_hash: parent, height: 2, status: 'voting' });
  expect(await there.read('/api/v1/network/state')).toMatchObject({ head_hash: parent });
});

check('early: answers STALE_PARENT with the head when the parent is rejected', async (there) => {
  const { bob, parent, answer } = await early(there);
  await there.vote(bob, parent, { decision: 'reject' });
  const refused = await answer;
  expectError(refused, 409, 'INVALID_REQUEST', 'STALE_PARENT');
  expect(refused.error.details).toMatchObject({ head_hash: GENESIS_HASH, height: 0 });
});

check('early: refuses an invalid transaction after all other checks', async (there) => {
  const wrong = { ...transaction(agentless, 'testnet', 'x') };
  const { ada, bob, parent, answer } = await early(there, { transactions: [wrong] });
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const refused = await answer;
  expectError(refused, 401, 'INVALID_SIGNATURE', 'MISMATCH');
  expect(refused.error.details.pointer).toBe('/transactions/0/signature');
});

const agentless = { sign: () => '1'.repeat(128) } as unknown as Agent;

check('early: also queues a repeat, and answers it as a duplicate', async (there) => {
  const { ada, bob, parent, request, answer } = await early(there);
  const again = there.send(request);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const [first, second] = [await answer, await again];
  expect([first.status, second.status].sort()).toEqual([200, 201]);
  expect(first.data.block_hash).toBe(second.data.block_hash);
});

check('early: lets two proposals of a producer wait, and refuses the next', async (there) => {
  const { ada, bob, parent, answer } = await early(there);
  const more = (data: string) =>
    propose(bob, { parent_hash: parent, transactions: [transaction(bob, 'testnet', data)] });
  const { verified } = there.network.stats;
  const second = there.send(more('second'));
  await expect.poll(() => there.network.stats.verified).toBe(verified + 2);
  expectError(await there.send(more('third')), 409, 'INVALID_REQUEST', 'STALE_PARENT');
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  expect([await answer, await second].map(({ status }) => status).sort()).toEqual([201, 409]);
});

test('early: ends the wait at the deadline of the parent', async () => {
  const { answer } = await early(await world({ genesis: { voting_period_ms: 1_000 } }));
  expectError(await answer, 409, 'INVALID_REQUEST', 'STALE_PARENT');
});

test.each(oneTransport)('early over %s: answers them when it stops', async (transport) => {
  const there = await world({ transport });
  const { answer } = await early(there);
  await there.close();
  expectError(await answer, 409, 'INVALID_REQUEST', 'STALE_PARENT');
});

check('early: accepts votes on the new block', async (there) => {
  const { ada, bob, parent, answer } = await early(there);
  await there.vote(ada, parent);
  await there.vote(bob, parent);
  const { block_hash } = expectSuccess(await answer, 201);
  await there.do(vote(ada, { block_hash, decision: 'approve' }));
  const { block_status } = await there.vote(bob, String(block_hash));
  expect(block_status).toBe('finalized');
});
