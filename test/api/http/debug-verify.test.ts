/** POST /api/v1/debug/verify: input, results and limit. */
import { expect, test } from 'vitest';
import { world } from '../../support/service/server.js';
import { agentOf, type Request, register, status } from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const PATH = '/api/v1/debug/verify';

const asking = (body: unknown): Request => ({
  method: 'POST',
  path: PATH,
  headers: { 'Content-Type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const about = ({ method, path: target, headers, body }: Request) =>
  asking({ method, target, headers, body });

test.each([
  ['{', 'BAD_JSON'],
  ['{"__proto__":1}', 'BAD_JSON'],
  ['[]', 'SCHEMA'],
  ['{}', 'SCHEMA'],
  [JSON.stringify({ method: 'POST', target: '/x', headers: { a: 1 }, body: '' }), 'SCHEMA'],
])('verify: answers %s with 400 %s', async (body, reason) => {
  const there = await world();
  expectError(await there.send(asking(body)), 400, 'INVALID_REQUEST', reason);
});

test('verify: answers a request that needs no signature with 404', async () => {
  const there = await world();
  for (const target of ['/api/v1/network/state', '/nowhere', PATH]) {
    const question = asking({ method: 'GET', target, headers: {}, body: '' });
    expectError(await there.send(question), 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
  }
});

test('verify: explains why a request would be refused', async () => {
  const there = await world();
  const ada = await there.join('Ada');
  const good = status(ada, { status: 'inactive' });
  const ask = async (request: Request) => there.do(about(request), 200);
  expect(await ask(good)).toMatchObject({ valid: true, request_target: good.path });
  const unsigned = { ...good, headers: { ...good.headers, 'X-Agent-Signature': '' } };
  expect(await ask(unsigned)).toMatchObject({ valid: false, reason: 'MISSING' });
  const stranger = status(agentOf('Stranger'), { status: 'active' });
  expect(await ask(stranger)).toMatchObject({ valid: false, reason: 'UNKNOWN_KEY' });
  const wrong = { ...good, body: '{"status":"active"}' };
  expect(await ask(wrong)).toMatchObject({ valid: false, reason: 'MISMATCH' });
  expect((await there.read(`/api/v1/agents/${ada.agentId}`)).status).toBe('active');
});

test('verify: uses the read limit of the address, not the limits of the agent', async () => {
  const there = await world({ limits: 'spec' });
  const question = about(register(agentOf('Ada')));
  for (let asked = 0; asked < 600; asked += 50) {
    await Promise.all(Array.from({ length: 50 }, () => there.send(question)));
  }
  const codes = (await there.send(question)).status;
  expect(codes).toBe(429);
  expect((await there.send(register(agentOf('Ada')))).status).toBe(201);
});
