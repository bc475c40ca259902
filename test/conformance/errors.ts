/**
 * Errors: the envelope, each code with its HTTP status, and versioning (sections 7 and 9 of the
 * interface).
 */
import { expect, test } from 'vitest';
import { agentOf, register, signed, status, vote } from '../support/service/signer.js';
import { begin, expectError, GENESIS_HASH, type Start } from '../support/service/world.js';

export function errorTests(start: Start): void {
  test('INVALID_SIGNATURE: 401 with WWW-Authenticate', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const { signature: _, ...body } = JSON.parse(
      String(vote(ada, { block_hash: GENESIS_HASH }).body),
    );
    const request = vote(ada, { block_hash: GENESIS_HASH });
    const answer = await world.send({
      ...request,
      body: JSON.stringify({ ...body, signature: '0'.repeat(128) }),
    });
    expectError(answer, 401, 'INVALID_SIGNATURE', 'MISMATCH');
    expect(answer.headers.get('www-authenticate')).toBe('AgentSig realm="agentnet"');
  });

  test('INVALID_AGENT: 401 for unknown keys, 404 for unknown agents, 403 for others', async () => {
    const world = await begin(start);
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const fields = { status: 'active' };
    const stranger = await world.send(status(agentOf('Stranger'), fields));
    expectError(stranger, 401, 'INVALID_AGENT', 'UNKNOWN_KEY');
    expectError(
      await world.get(`/api/v1/agents/agent_${'0'.repeat(32)}`),
      404,
      'INVALID_AGENT',
      'UNKNOWN_AGENT',
    );
    const foreign = await world.send(status(ada!, fields, bob!.agentId));
    expectError(foreign, 403, 'INVALID_AGENT', 'NOT_OWNER');
  });

  test('INVALID_REQUEST: 400, 404, 405, 409, 413 and 415', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const json = { 'Content-Type': 'application/json' };
    const path = '/api/v1/agents/register';
    const send = (body: string, headers: Record<string, string> = json, method = 'POST') =>
      world.send({ method, path, headers, body });
    const { headers } = register(agentOf('Bob'));
    expectError(await send('{', headers), 400, 'INVALID_REQUEST', 'BAD_JSON');
    expectError(await send('{}', headers), 400, 'INVALID_REQUEST', 'SCHEMA');
    expectError(await send('{}', { 'Content-Type': 'text/plain' }), 415, 'INVALID_REQUEST');
    const large = JSON.stringify({ description: 'x'.repeat(65 * 1024) });
    expectError(await send(large), 413, 'INVALID_REQUEST', 'TOO_LARGE');
    const wrongMethod = await send('', {}, 'DELETE');
    expectError(wrongMethod, 405, 'INVALID_REQUEST', 'METHOD');
    expect(wrongMethod.headers.get('allow')?.split(', ')).toContain('POST');
    expectError(await world.get('/api/v1/nothing'), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
    const conflict = await world.send(register(ada, { name: 'Other' }));
    expectError(conflict, 409, 'INVALID_REQUEST', 'AGENT_EXISTS');
  });

  test('errors: errors and successes have unique request ids', async () => {
    const world = await begin(start);
    const answers = await Promise.all([
      world.get('/api/v1/nothing'),
      world.get('/api/v1/nothing'),
      world.get('/api/v1/network/state'),
    ]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(null);
  });

  test('versioning: every documented path begins with /api/v1', async () => {
    const world = await begin(start);
    for (const path of ['/network/state', '/api/network/state', '/api/v2/network/state']) {
      expectError(await world.get(path), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
    }
  });

  test('signatures: upper-case hex is accepted', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const { headers, ...rest } = status(ada, { status: 'active' });
    const upper = ['X-Agent-Public-Key', 'X-Agent-Signature'].map((name) => [
      name,
      headers[name]!.toUpperCase(),
    ]);
    await world.do({ ...rest, headers: { ...headers, ...Object.fromEntries(upper) } }, 200);
  });

  test('signatures: the request-target is signed as sent, including the query', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    for (const query of ['?x=1&y=%2F', '?a?b', '?=']) {
      const path = `/api/v1/agents/${ada.agentId}/status${query}`;
      await world.do(signed(ada, 'PUT', path, { status: 'active' }), 200);
    }
  });
}
