/** Hints in refusals: the closest route, and the misspelt member. */
import { expect, test } from 'vitest';
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
