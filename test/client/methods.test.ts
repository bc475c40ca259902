/** All client methods against a live server, over both transports. */
import { sha256Hex } from 'folkmoot/signing';
import { describe, expect, test } from 'vitest';
import { agentOf, clientOf, live } from './helpers.js';

describe.each(['node', 'uws'] as const)('client over %s', (transport) => {
  test('register: returns the id derived from the key; a repeat is a duplicate', async () => {
    const { url } = await live({ transport });
    const client = clientOf(url);
    const fields = { name: 'Ada', personality: 'lawful', capabilities: ['validator'] } as const;
    const made = await client.register(fields);
    expect(made).toMatchObject({ agent_id: client.agentId, status: 'active' });
    expect(await client.register(fields)).toEqual({ ...made, duplicate: true });
    expect(await client.agent(client.agentId)).toMatchObject({ ...fields, description: '' });
  });

  test('status: gives consecutive calls increasing timestamps', async () => {
    const { url } = await live({ transport });
    const client = await agentOf(url);
    for (let round = 0; round < 10; round += 1) {
      await client.setStatus('maintenance');
      await client.setStatus('active');
    }
    const change = { reason: 'backup', expected_duration: 'PT5M' };
    const answer = await client.setStatus('inactive', change);
    expect(answer).toMatchObject({ ...change, status: 'inactive', previous_status: 'active' });
  });

  test('block: is proposed, voted on, finalized, and found by every read', async () => {
    const { url } = await live({ transport });
    const client = await agentOf(url);
    const another = await agentOf(url, 2);
    const sent = await another.signTransaction('{"type":"transfer"}', { asSender: true });
    const state_diff = { additions: { greeting: { text: 'hello' } }, deletions: {} };
    const meme_content = { type: 'text', content: 'approve', tags: ['calm'] };
    const proposed = await client.propose({
      transactions: ['own', sent],
      state_diff,
      meme_content,
    });
    expect(proposed).toMatchObject({ height: 1, status: 'voting', electorate: 2 });
    const { block_hash } = proposed;
    await client.vote({ block_hash, decision: 'approve', reason: 'mine' });
    const last = await another.vote({ block_hash, decision: 'approve' });
    expect(last).toMatchObject({
      outcome: 'voted',
      block_status: 'finalized',
      tally: { approve: 2, needed: 2 },
    });

    const state = await client.networkState();
    expect(state).toMatchObject({ block_height: 1, head_hash: block_hash, network_id: 'testnet' });
    const detail = await client.block(block_hash);
    expect(detail).toMatchObject({ status: 'finalized', public_key: client.publicKey });
    expect(detail.proposal.transactions[1]).toEqual(sent);
    const final = await client.transaction(sha256Hex(sent.data));
    expect(final.signers).toEqual([{ signer: another.publicKey, block_hash, height: 1, index: 1 }]);
    expect(await client.state('greeting')).toMatchObject({ value: { text: 'hello' }, block_hash });
    const votes = await client.votes(block_hash);
    expect(votes.electorate.map(({ public_key }) => public_key).sort()).toEqual(
      [client.publicKey, another.publicKey].sort(),
    );
    expect(votes.votes.map(({ vote }) => vote.decision)).toEqual(['approve', 'approve']);
    const own = await client.votesOf(client.agentId);
    expect(own.votes).toMatchObject([
      { block_hash, decision: 'approve', block_status: 'finalized' },
    ]);
    const reputation = await client.reputation();
    expect(reputation.overall_score).toBeGreaterThan(50);
    expect(await another.reputation(client.agentId)).toEqual(reputation);
  });

  test('pages: of blocks, votes and events continue at the cursor', async () => {
    const { url } = await live({ transport });
    const client = await agentOf(url);
    for (const data of ['one', 'two', 'three']) {
      const { block_hash } = await client.propose({ transactions: [data] });
      await client.vote({ block_hash, decision: 'approve' });
    }
    const first = await client.blocks({ limit: 2, status: 'finalized' });
    expect(first.blocks.map(({ height }) => height)).toEqual([3, 2]);
    const second = await client.blocks({ limit: 2, cursor: first.next_cursor! });
    expect([second.blocks.map(({ height }) => height), second.next_cursor]).toEqual([[1], null]);
    const page = await client.eventPage({ topics: ['outcomes', 'proposals'], limit: 2 });
    expect(page.events.map(({ type }) => type)).toEqual(['block_proposal', 'block_status']);
    const rest = await client.eventPage({ after: Number(page.next_cursor), topics: ['outcomes'] });
    expect(rest.events.map(({ data }) => 'height' in data && data.height)).toEqual([2, 3]);
  });

  test('meme: type is detected; line ends and tags arrive as signed', async () => {
    const { url } = await live({ transport });
    const client = await agentOf(url);
    const caption = 'first line\nsecond line, ü 🎉';
    const tags = ['Cats', 'größe'];
    const meme = await client.postMeme({ file: 'to the moon\n', caption, tags });
    expect(meme).toMatchObject({
      content: { type: 'text', caption: 'first line\r\nsecond line, ü 🎉' },
      tags: ['cats', 'größe'],
    });
    const file = await fetch(`${url}${meme.content.url}`);
    expect(await file.text()).toBe('to the moon\n');
    expect((await client.memes()).memes).toMatchObject([
      { meme_id: meme.meme_id, tags: meme.tags },
    ]);
    const mine = await client.memes({ agentId: client.agentId, limit: 1 });
    expect(mine.memes).toEqual((await client.memes()).memes);
    const { kind, agent_id, events } = await client.entry(mine.memes[0]!.entry);
    expect([kind, agent_id, events[0]!.type]).toEqual(['meme', client.agentId, 'meme_posted']);
    const gif = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64');
    expect(await client.postMeme({ file: gif })).toMatchObject({ content: { type: 'gif' } });
  });

  test('social: posts a discussion, and leads an alliance from proposal to end', async () => {
    const { url } = await live({ transport });
    const founder = await agentOf(url);
    const invited = await agentOf(url, 2);
    const { block_hash } = await founder.propose();
    const said = { block_hash, message: 'why empty?', sentiment: 'negative' } as const;
    expect(await invited.discuss(said)).toMatchObject({ ...said, agent: { id: invited.agentId } });

    const invitation = { target_ids: [invited.agentId], purpose: 'calm', duration: 'P1D' };
    const { alliance_id, status } = await founder.proposeAlliance(invitation);
    expect(status).toBe('proposed');
    const joined = await invited.respondAlliance(alliance_id, true);
    expect(joined.members).toEqual([
      { id: founder.agentId, role: 'founder' },
      { id: invited.agentId, role: 'member' },
    ]);
    expect((await invited.alliances()).alliances).toEqual([joined]);
    expect(await invited.leaveAlliance(alliance_id)).toMatchObject({ status: 'dissolved' });
  });

  test('reads: agents, roster, single agent, overview and meta', async () => {
    const { url } = await live({ transport });
    const client = await agentOf(url);
    await agentOf(url, 2);
    const { validators, producers } = await client.agents();
    expect([validators.length, producers.length]).toEqual([2, 2]);
    expect((await client.agents({ limit: 1 })).validators.length).toBe(1);
    const { agents, next_cursor } = await client.roster({ limit: 1 });
    expect([agents[0]!.id, agents[0]!.number, next_cursor]).toEqual([client.agentId, 0, '1']);
    const asked = { id: client.agentId, at: 0 };
    await expect(client.get('/api/v1/agents/{id}', asked)).rejects.toMatchObject({
      reason: 'NO_HISTORY',
    });
    expect(await client.get('/api/v1/agents/{id}', { id: client.agentId })).toEqual(
      await client.agent(client.agentId),
    );
    const overview = await client.get('/api/v1/overview', { buckets: 1 });
    expect(overview.buckets.length).toBe(1);
    expect(await client.meta()).toMatchObject({
      network_id: 'testnet',
      policy: 'bft',
      event_seq: 2,
      limits: { profile: 'off' },
    });
  });
});

test('url: accepts a path before /api and a trailing slash, and no other scheme', () => {
  expect(clientOf('http://localhost:1/folk/').url).toBe('http://localhost:1/folk');
  expect(() => clientOf('ftp://localhost')).toThrow(/http/);
});
