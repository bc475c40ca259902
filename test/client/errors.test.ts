/** Client errors: refusals, missing responses, and invalid response signatures. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keyPairFromSeed } from 'folkmoot';
import { ApiError, ResponseSignatureError, UnreachableError } from 'folkmoot/client';
import { expect, onTestFinished, test } from 'vitest';
import { agentOf, clientOf, failureOf, live } from './helpers.js';

const nowhere = '0'.repeat(64);
const unknownAgent = `agent_${'0'.repeat(32)}`;

test('ApiError: has code, reason, status, details and the request id', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const error = await failureOf(client.vote({ block_hash: nowhere, decision: 'approve' }));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    code: 'INVALID_REQUEST',
    reason: 'UNKNOWN_BLOCK',
    status: 404,
    retryAfter: null,
    details: { reason: 'UNKNOWN_BLOCK' },
  });
  const { request_id, details } = error as ApiError;
  expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(details.request_id).toBe(request_id);
});

test('ApiError: has the documented code for each cause', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const stranger = clientOf(url, 9);
  const refusals: [() => Promise<unknown>, string, string, number][] = [
    [() => stranger.setStatus('active'), 'INVALID_AGENT', 'UNKNOWN_KEY', 401],
    [() => client.agent(unknownAgent), 'INVALID_AGENT', 'UNKNOWN_AGENT', 404],
    [() => client.propose({ parent_hash: '1'.repeat(64) }), 'INVALID_REQUEST', 'STALE_PARENT', 409],
    [() => client.postMeme({ file: '<svg/>' }), 'INVALID_REQUEST', 'MEDIA_TYPE', 415],
    [
      () => client.setStatus('active', { reason: 'x'.repeat(257) }),
      'INVALID_REQUEST',
      'SCHEMA',
      400,
    ],
    [() => client.block('f'.repeat(64)), 'INVALID_REQUEST', 'UNKNOWN_BLOCK', 404],
    [() => client.block('../meta'), 'INVALID_REQUEST', 'SCHEMA', 400],
  ];
  for (const [call, code, reason, status] of refusals) {
    expect(await failureOf(call())).toMatchObject({ code, reason, status });
  }
});

test('ApiError: has the retry time of RATE_LIMITED', async () => {
  const { url } = await live({ limits: 'spec' });
  await agentOf(url);
  const error = await failureOf(agentOf(url, 2));
  expect(error).toMatchObject({ code: 'RATE_LIMITED', reason: 'QUOTA_USED', status: 429 });
  expect((error as ApiError).retryAfter).toBeGreaterThan(50);
});

test('vote: on a closed block is an outcome; without a server it throws', async () => {
  const { url, stop } = await live();
  const agents = [];
  for (let seed = 1; seed <= 4; seed += 1) agents.push(await agentOf(url, seed));
  const late = agents.pop()!;
  const { block_hash } = await late.propose();
  const vote = { block_hash: block_hash.toUpperCase(), decision: 'approve' } as const;
  const sent = [];
  for (const agent of agents) sent.push(await agent.vote(vote));
  expect(sent.at(-1)).toMatchObject({ outcome: 'voted', block_status: 'finalized' });
  expect(await late.vote(vote)).toEqual({
    outcome: 'closed',
    block_hash,
    block_status: 'finalized',
    error: expect.objectContaining({ reason: 'VOTING_CLOSED', status: 409 }),
  });
  await stop();
  expect(await failureOf(late.vote(vote))).toBeInstanceOf(UnreachableError);
});

test("clock: is corrected by the server's time with one more request", async () => {
  const hour = 3_600_000;
  let ahead = hour;
  let requests = 0;
  const { url } = await live({ now: () => Date.now() + ahead });
  const counting: typeof fetch = (...args) => {
    requests += 1;
    return fetch(...args);
  };
  const client = await agentOf(url, 1, { fetch: counting });
  expect(requests).toBe(2);
  await client.setStatus('active');
  expect(requests).toBe(3);
  ahead += hour;
  await client.postMeme({ file: 'tick' });
  await client.setStatus('inactive');
  expect(requests).toBe(6);
});

test('clock: a second TIMESTAMP_SKEW is thrown', async () => {
  let ahead = 0;
  let requests = 0;
  // The server's clock advances an hour per request, so that no correction fits.
  const { url } = await live({ now: () => Date.now() + ahead });
  const client = await agentOf(url);
  const racing: typeof fetch = (...args) => {
    requests += 1;
    ahead += 3_600_000;
    return fetch(...args);
  };
  const late = clientOf(url, 1, { fetch: racing });
  const error = await failureOf(late.setStatus('active'));
  expect(error).toMatchObject({ code: 'INVALID_SIGNATURE', reason: 'TIMESTAMP_SKEW', status: 401 });
  expect(requests).toBe(2);
  ahead = 0;
  expect(await client.setStatus('active')).toMatchObject({ status: 'active' });
});

test('UnreachableError: is thrown without a listener, and after a timeout', async () => {
  const { url, stop } = await live();
  await stop();
  const refused = await failureOf(clientOf(url).networkState());
  expect(refused).toBeInstanceOf(UnreachableError);
  expect((refused as Error).message).toContain('ECONNREFUSED');

  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close().closeAllConnections());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  const slow = clientOf(`http://127.0.0.1:${port}`, 1, { timeoutMs: 50 });
  expect(await failureOf(slow.networkState())).toBeInstanceOf(UnreachableError);
});

test.each([
  ['an error page of a proxy', '<html>Bad gateway</html>', 502],
  ['JSON of another server', '{"error":"no"}', 404],
  ['a success without an envelope', '{"ok":true}', 200],
])('ApiError: %s is reported as NETWORK_ERROR', async (_, body, status) => {
  const client = clientOf('http://127.0.0.1:1', 1, {
    fetch: async () => new Response(body, { status }),
  });
  const error = await failureOf(client.networkState());
  expect(error).toMatchObject({ code: 'NETWORK_ERROR', reason: null, status });
});

const serverKeys = keyPairFromSeed(new Uint8Array(32).fill(99));

/** Returns a fetch function that changes the signature headers in responses. */
function spoiling(change: (headers: Headers) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status } = response;
    const headers = new Headers(response.headers);
    change(headers);
    return new Response(await response.arrayBuffer(), { status, headers });
  };
}

test.each<[string, (headers: Headers) => void]>([
  ['of another text', (headers) => headers.set('X-Server-Timestamp', '2025-01-01T00:00:00.000Z')],
  ['with a wrong length', (headers) => headers.set('X-Server-Signature', 'ff')],
  ['without a key', (headers) => headers.delete('X-Server-Public-Key')],
  ['that is missing', (headers) => headers.delete('X-Server-Signature')],
])('response signatures: one %s throws', async (_, change) => {
  const { url } = await live({ responseKeys: serverKeys });
  const client = clientOf(url, 1, { fetch: spoiling(change) });
  expect(await failureOf(client.networkState())).toBeInstanceOf(ResponseSignatureError);
});

test('response signatures: with serverKey, another key or none throws', async () => {
  const serverKey = 'ab'.repeat(32);
  for (const more of [{}, { responseKeys: serverKeys }]) {
    const { url } = await live(more);
    const error = await failureOf(clientOf(url, 1, { serverKey }).networkState());
    expect(error).toBeInstanceOf(ResponseSignatureError);
  }
});
