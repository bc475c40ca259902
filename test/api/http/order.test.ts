/**
 * Order of checks. If there are two mistakes, the refusal names the mistake that is checked first.
 */
import { describe, expect, test } from 'vitest';
import { world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  type Fields,
  propose,
  type Request,
  register,
  stamp,
  status,
  transaction,
  vote,
} from '../../support/service/signer.js';
import { expectError, GENESIS_HASH } from '../../support/service/world.js';

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

test.each<[string, Fields | string, number, string]>([
  ['schema before the signature', '{}', 400, 'SCHEMA'],
  ['timestamp in a body before its signature', { timestamp: 'now' }, 400, 'SCHEMA'],
])('vote: %s', async (_, change, code, reason) => {
  const there = await world();
  const request = vote(unsigned(await there.join('Ada')), { block_hash: GENESIS_HASH });
  const body =
    typeof change === 'string'
      ? change
      : JSON.stringify({ ...JSON.parse(String(request.body)), ...change });
  const answer = await there.send({ ...request, body, headers: { ...request.headers } });
  expectError(answer, code, 'INVALID_REQUEST', reason);
});

describe('order: key, then timestamp, then signature', () => {
  test('reports the unknown key of a request with an old timestamp', async () => {
    const there = await world();
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

  test('reports the old timestamp of a request with an invalid signature', async () => {
    const there = await world();
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

  test('reports the invalid signature of an agent without the role', async () => {
    const there = await world();
    const judge = await there.join('Judge', { capabilities: ['validator'] });
    const request = propose(unsigned(judge), { parent_hash: GENESIS_HASH });
    expectError(await there.send(request), 401, 'INVALID_SIGNATURE', 'MISMATCH');
  });
});

describe('order: headers', () => {
  test.each([
    ['X-Agent-Public-Key', '', 'MISSING'],
    ['X-Agent-Public-Key', 'abc', 'MALFORMED'],
    ['X-Agent-Public-Key', `${'a'.repeat(63)}g`, 'MALFORMED'],
    ['X-Agent-Signature', '', 'MISSING'],
    ['X-Agent-Signature', 'abc', 'MALFORMED'],
    ['X-Timestamp', '', 'MISSING'],
    ['X-Timestamp', 'yesterday', 'MALFORMED'],
    ['X-Timestamp', '2025-02-30T00:00:00Z', 'MALFORMED'],
    ['X-Timestamp', '1735689600', 'MALFORMED'],
  ])('%s: %j is 401 %s', async (name, value, reason) => {
    const there = await world();
    const request = status(await there.join('Ada'), { status: 'active' });
    const answer = await there.send(withHeaders(request, { [name]: value }));
    expectError(answer, 401, 'INVALID_SIGNATURE', reason);
  });

  test('answers a registration whose header names another key with 401 MISMATCH', async () => {
    const there = await world();
    const other = { 'X-Agent-Public-Key': agentOf('Other').publicKey };
    const answer = await there.send(withHeaders(register(agentOf('New')), other));
    expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
    expect((await there.read('/api/v1/network/agents')).validators).toEqual([]);
  });
});

describe('order: status', () => {
  test('answers an older update after a newer one with 401 REPLAYED', async () => {
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
      kind: 'status',
      expected_input_sha256: expect.any(String),
      body_sha256: expect.any(String),
      request_target: old.path,
      server_time: expect.any(String),
      skew_ms: expect.any(Number),
    });
  });
});

describe('order: signatures of transactions come last', () => {
  test('checks role and parent first', async () => {
    const there = await world();
    const ada = await there.join('Ada');
    const judge = await there.join('Judge', { capabilities: ['validator'] });
    const bad = transaction(unsigned(ada), await there.networkId(), 'pay');
    const send = (by: Agent, parent_hash: string) =>
      there.send(propose(by, { parent_hash, transactions: [bad] }));
    expectError(await send(judge, GENESIS_HASH), 403, 'INVALID_AGENT', 'NOT_PRODUCER');
    expectError(await send(ada, 'a'.repeat(64)), 409, 'INVALID_REQUEST', 'STALE_PARENT');
    expectError(await send(ada, GENESIS_HASH), 401, 'INVALID_SIGNATURE', 'MISMATCH');
  });
});
