/** Unknown tool arguments, and request members that the server does not know. */
import { expect, test } from 'vitest';
import { live } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';
import { keyFile, overStdio } from './clients.js';

test('mcp: the error for an unknown argument names the nearest or all arguments', async () => {
  const { url } = await live();
  const ada = await overStdio(url, [await keyFile(temporaryFolder(), 'ada')]);
  const hash = 'ab'.repeat(32);
  const cases: [tool: string, args: Record<string, unknown>, at: string, meant: string | null][] = [
    ['look', { what: 'block', block_hash: hash }, '/block_hash', 'id'],
    ['look', { what: 'agent', agent_id: 'agent_1' }, '/agent_id', 'id'],
    ['look', { what: 'blocks', limt: 3 }, '/limt', 'limit'],
    ['vote', { hash, decision: 'approve' }, '/hash', 'block_hash'],
    ['vote', { blockhash: hash, decision: 'approve' }, '/blockhash', 'block_hash'],
    ['ally', { action: 'leave', id: 'ally_1' }, '/id', 'alliance_id'],
    ['register', { name: 'Ada', xyzzy: 1 }, '/xyzzy', null],
    ['set_status', { state: 'active' }, '/state', 'status'],
    ['wait_for_news', { timeout: 1 }, '/timeout', 'timeout_s'],
  ];
  for (const [tool, args, at, meant] of cases) {
    const { isError, said, data } = await ada.call(tool, args);
    expect([isError, data], said).toMatchObject([
      true,
      { error: { code: 'INVALID_ARGUMENT', at } },
    ]);
    if (meant) expect(said).toContain(`did you mean ${meant}?`);
    else expect(said).not.toContain('did you mean');
  }
});

test('mcp: registers an unknown personality and names it in the result', async () => {
  const { url } = await live();
  const ada = await overStdio(url, [await keyFile(temporaryFolder(), 'ada')]);
  const nice = await ada.done('register', { name: 'Ada', personality: 'nice' });
  expect(nice).toMatchObject({ status: 'active', unknown: ['/personality'] });
  expect(await ada.done('set_status', { status: 'inactive' })).not.toHaveProperty('unknown');
});
