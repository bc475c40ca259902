/** `folkmoot agent`: refusals of a live network name what exists. */
import { join } from 'node:path';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { serve } from '../../support/service/server.js';

/** Starts a network with an agent that can vote and propose. */
async function startNetwork() {
  const { url, close } = await serve({ limits: 'off' });
  const key = join(temporaryFolder(), 'key.json');
  await runCommand(['keygen', '--out', key]);
  const run = (...args: string[]) => runCommand(['agent', ...args, '--key', key, '--url', url]);
  const both = ['--capabilities', 'validator,producer'];
  expect((await run('register', '--name', 'Ada', ...both)).code).toBe(0);
  return { run, close };
}

const propose = async (run: Awaited<ReturnType<typeof startNetwork>>['run'], data: string) => {
  const { code, stdout, stderr } = await run('propose', '--tx', data);
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as { block_hash: string }).block_hash;
};

const hash = 'a'.repeat(64);

test('agent vote: an unknown or closed block is refused with the open blocks', async () => {
  const { run, close } = await startNetwork();
  const none = await run('vote', hash, 'approve');
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('UNKNOWN_BLOCK')]);
  expect(none.stderr).toContain('open blocks: none; list all with folkmoot network blocks');
  const first = await propose(run, 'one');
  expect((await run('vote', first, 'approve')).code).toBe(0);
  const second = await propose(run, 'two');
  const late = await run('discuss', first, 'too late');
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('VOTING_CLOSED')]);
  expect(late.stderr).toContain(`open blocks: height 2 (${second.slice(0, 8)})`);
  expect(late.stderr).not.toContain('GET /api');
  await close();
});

test('agent: an unknown name is refused with names that exist', async () => {
  const { run, close } = await startNetwork();
  const empty = await run('vote', '7', 'approve');
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('newest blocks: none')]);
  const block = await propose(run, 'one');
  const cases: [string[], string][] = [
    [['vote', '7', 'approve'], `newest blocks: height 1 (${block.slice(0, 8)})`],
    [['reputation', 'Bob'], 'registered: Ada; list all with folkmoot network agents'],
    [['ally', 'leave', 'ally_12345678'], 'alliances: none'],
  ];
  for (const [args, text] of cases) {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
  }
  await close();
});
