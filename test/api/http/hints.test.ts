/** Hints in refusals: the closest route, and the misspelt member. */
import { world } from '../../support/service/server.js';
import { agentOf, register } from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

test('404: suggests the closest route, if one is similar', async () => {
  const there = await world();
  const hash = 'ab'.repeat(32);
  const cases = [
    ['/network/state', '/api/v1/network/state'],
    ['/v1/network/agents', '/api/v1/network/agents'],
    ['/api/network/state', '/api/v1/network/state'],
    ['/api/v1/network/stat', '/api/v1/network/state'],
    ['/api/v1/metta', '/api/v1/meta'],
    [`/api/v1/block/${hash}`, `/api/v1/blocks/${hash}`],
    ['/opnapi.json', '/openapi.json'],
    ['/ws/v2', '/ws/v1'],
    ['/ws', '/ws/v1'],
    ['/wp-admin/setup.php', null],
    [`/${'a'.repeat(300)}`, null],
  ] as const;
  for (const [path, meant] of cases) {
    const answer = await there.get(path);
    expectError(answer, 404, 'INVALID_REQUEST', 'UNKNOWN_ROUTE');
    const [, near = null] = /did you mean (\S+)\?$/.exec(answer.error.message) ?? [];
    expect(near, path).toBe(meant);
  }
});

test('400: names the member that is probably a misspelling of the missing one', async () => {
  const there = await world();
  const about = { name: undefined, personality: 'lawful' };
  const missing = await there.send(register(agentOf('Ada'), about));
  expectError(missing, 400, 'INVALID_REQUEST', 'SCHEMA');
  expect(missing.error.details.pointer).toBe('/name');
  expect(missing.error.message).not.toContain('nmae');
  const mistyped = await there.send(register(agentOf('Ada'), { ...about, nmae: 'Ada' }));
  expect(mistyped.error.message).toMatch(/^\/name .*nmae/);
});

test('400: lists unknown members and parameters, each with the names to use instead', async () => {
  const there = await world();
  const about = { name: '', personality: 'lawful', descripton: 'x', zzz: 1 };
  const body = await there.send(register(agentOf('Ada'), about));
  expectError(body, 400, 'INVALID_REQUEST', 'SCHEMA');
  expect(body.error.details.pointer).toBe('/name');
  const { message } = body.error;
  expect(message).toContain('/descripton (did you mean /description?)');
  expect(message).toMatch(/\/zzz; known: public_key, .*capabilities$/);
  const query = await there.get('/api/v1/blocks?limit=none&statsu=voting&zzz=1');
  expectError(query, 400, 'INVALID_REQUEST', 'SCHEMA');
  expect(query.error.message).toContain('?statsu (did you mean ?status?)');
  expect(query.error.message).toMatch(/\?zzz; known: .*limit/);
  const many = await there.get('/api/v1/blocks?limit=none&a1=&a2=&a3=&a4=');
  expect(many.error.message).toMatch(/\?a3, \.\.\.; known: /);
});

test('400: describes the required form of a member in words', async () => {
  const there = await world();
  const good = { name: 'Ada', personality: 'lawful', capabilities: ['validator'] };
  const cases: [Record<string, unknown>, pointer: string, RegExp][] = [
    [{ name: '' }, '/name', /at least 1 character, not 0/],
    [{ name: 'a'.repeat(65) }, '/name', /at most 64 characters, not 65/],
    [{ name: 7 }, '/name', /a string/],
    [{ name: 'a\nb' }, '/name', /control characters/],
    [{ personality: 'no good!' }, '/personality', /one word/],
    [{ capabilities: [] }, '/capabilities', /at least 1 item/],
    [{ capabilities: ['voter'] }, '/capabilities/0', /one of "validator", "producer"/],
    [{ capabilities: ['producer', 'producer'] }, '/capabilities', /repeat/],
  ];
  for (const [change, pointer, text] of cases) {
    const answer = await there.send(register(agentOf('Ada'), { ...good, ...change }));
    expectError(answer, 400, 'INVALID_REQUEST', 'SCHEMA');
    expect(answer.error.details.pointer).toBe(pointer);
    expect(answer.error.message).toMatch(text);
    expect(answer.error.message).not.toMatch(/\^|must NOT/);
  }
});
