/** `folkmoot mcp`: two hosts propose and finalize a block, and the log replays. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replayJson } from '../../support/command.js';
import { temporaryFolder } from '../../support/fixture.js';
import { host, stop } from '../../support/host.js';
import {
  type Data,
  type Host,
  keyFile,
  listening,
  overHttp,
  overStdio,
  type Revision,
  secretOf,
} from './clients.js';

const ways = {
  'standard input': (url: string, key: string, revision: Revision) =>
    overStdio(url, [key], revision),
  HTTP: async (url: string, key: string, revision: Revision) =>
    overHttp(await listening(url, [key]), revision),
};
const revisions: readonly Revision[] = ['2026-07-28', '2025-11-25'];

/** Waits after a cursor for an event of a type. Returns its data and the cursor. */
async function heard(who: Host, type: string, cursor: unknown): Promise<Data> {
  const { events, cursor: reached } = await who.done('wait_for_news', { cursor });
  const found = (events as { type: string; data: Data }[]).find((event) => event.type === type);
  return found ? { ...found.data, cursor: reached } : heard(who, type, reached);
}

const cases = Object.entries(ways).flatMap(([name, connect]) =>
  revisions.map((revision) => ({ name, revision, connect })),
);

test.each(
  cases,
)('mcp: finalizes a block over $name by $revision, and the log replays', async (given) => {
  const { connect, revision } = given;
  const folder = temporaryFolder();
  const data = join(folder, 'network');
  const server = await host({ data });
  const keys = [await keyFile(folder, 'ada'), await keyFile(folder, 'bob')];
  const [ada, bob] = (await Promise.all(keys.map((key) => connect(server.url, key, revision)))) as [
    Host,
    Host,
  ];
  expect(await ada.done('look', { what: 'me' })).toMatchObject({ registered: false });
  const { cursor } = await ada.done('look', { what: 'network' });
  const { agent_id: adaId } = await ada.done('register', { name: 'Ada' });
  const { agent_id: bobId } = await bob.done('register', { name: 'Bob', personality: 'chaotic' });

  const nowhere = { action: 'leave', alliance_id: `ally_${'0'.repeat(32)}` };
  expect((await bob.call('ally', nowhere)).said).toMatch(/^Refused: \w+ UNKNOWN_ALLIANCE: /);
  const invitation = { action: 'propose', target_ids: [bobId], purpose: 'calm growth' };
  const { alliance_id } = await ada.done('ally', invitation);
  const answer = { action: 'respond', alliance_id, accept: true };
  expect(await bob.done('ally', answer)).toMatchObject({ status: 'active' });

  const block = { transactions: ['hello'], set: { greeting: 'hello' }, delete: ['farewell'] };
  const { block_hash } = await ada.done('propose', block);
  expect(await heard(bob, 'block_proposal', cursor)).toMatchObject({ block_hash });
  const { blocks } = (await bob.done('look', { what: 'voting' })) as { blocks: Data[] };
  expect(blocks).toMatchObject([{ block_hash, status: 'voting' }]);
  const seen = await bob.done('look', { what: 'block', id: block_hash });
  expect(seen.proposal).toMatchObject({ transactions: [{ data: { untrusted: 'hello' } }] });

  await bob.done('discuss', { block_hash, message: 'well said', sentiment: 'positive' });
  const comment = await heard(ada, 'consensus_discussion', cursor);
  expect(comment).toMatchObject({
    agent: { id: bobId },
    message: { untrusted: 'well said' },
  });
  const { meme_id } = await bob.done('post_meme', { text: 'approve', caption: 'now', tags: ['a'] });
  const vote = { block_hash, decision: 'approve', meme_references: [meme_id] };
  expect(await ada.done('vote', vote)).toMatchObject({ block_status: 'voting' });
  expect(await bob.done('vote', vote)).toMatchObject({ block_status: 'finalized' });
  const closed = await heard(ada, 'block_status', comment.cursor);
  expect(closed).toMatchObject({ block_hash, status: 'finalized' });

  const uri = `folkmoot://block/${block_hash}`;
  const [read] = (await ada.client.readResource({ uri })).contents as { text: string }[];
  expect(JSON.parse(read!.text)).toMatchObject({
    status: 'finalized',
    votes: [{ id: expect.stringMatching(/^agent_/), decision: 'approve' }, { decision: 'approve' }],
  });
  expect(await ada.done('look', { what: 'state', id: 'greeting' })).toMatchObject({
    value: { untrusted: '"hello"' },
  });
  expect(await ada.done('look', { what: 'agent', id: adaId })).toMatchObject({
    blocks_produced: 1,
  });
  await ada.done('set_status', { status: 'inactive', reason: 'done' });
  await Promise.all([ada.close(), bob.close()]);
  await stop(server);

  expect(await replayJson(data, '--signatures')).toMatchObject({ match: true });
});

test('mcp: one host acts with several keys by name, and no result contains a key', async () => {
  const folder = temporaryFolder();
  const server = await host({ data: join(folder, 'network') });
  const [first, second] = [await keyFile(folder, 'ada'), await keyFile(folder, '2')];
  const both = await overStdio(server.url, [first!, `bob=${second}`]);
  const shown: unknown[] = [both.client.getInstructions(), await both.client.listTools()];
  const called = async (name: string, args: Data) => {
    const result = await both.call(name, args);
    shown.push(result);
    return result;
  };
  for (const agent of ['ada', 'bob']) {
    await called('look', { what: 'me', agent });
    expect((await called('register', { name: agent, agent })).isError).toBe(false);
  }
  const { data } = await called('propose', { agent: 'bob', transactions: ['x'] });
  for (const agent of ['ada', 'bob']) {
    const vote = { agent, block_hash: data.block_hash, decision: 'approve' };
    expect((await called('vote', vote)).isError).toBe(false);
  }
  expect(await called('vote', { block_hash: data.block_hash, decision: 'approve' })).toMatchObject({
    isError: true,
    data: { error: { code: 'INVALID_ARGUMENT', at: '/agent' } },
  });
  expect(await called('look', { what: 'me', agent: 'eve' })).toMatchObject({ isError: true });
  await called('wait_for_news', { agent: 'bob', timeout_s: 1 });
  const resources = await both.client.listResources();
  for (const { uri } of resources.resources) shown.push(await both.client.readResource({ uri }));
  expect(resources.resources.map(({ name }) => name)).toEqual(['network', 'ada', 'bob']);
  for (const file of [first!, second!]) {
    expect(JSON.stringify(shown)).not.toContain(secretOf(file));
  }
});
