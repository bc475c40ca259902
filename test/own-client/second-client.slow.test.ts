/** The second client against a served process: what docs/protocol.md says is enough. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { call, SecondClient } from './second-client.js';
import { served } from './served.js';

const both = ['validator', 'producer'];

test('second client: imports nothing of the project', () => {
  for (const name of ['second-client', 'raw-websocket']) {
    const path = fileURLToPath(new URL(`${name}.ts`, import.meta.url));
    const imports = [...readFileSync(path, 'utf8').matchAll(/from '([^']+)'/g)].map(([, to]) => to);
    expect(imports.every((to) => to!.startsWith('node:') || to === './raw-websocket.js')).toBe(
      true,
    );
  }
});

for (const transport of ['uws', 'node']) {
  test(`second client: from registration to a final block, ${transport}`, async () => {
    const { url, ws_url, network_id } = await served('--transport', transport);
    const ada = new SecondClient(url);
    const grace = new SecondClient(url);
    expect(await ada.register('Ada', both)).toMatchObject({
      status: 201,
      data: { agent_id: ada.agentId, status: 'active' },
    });
    expect((await grace.register('Grace', ['validator'])).status).toBe(201);
    const repeat = await ada.register('Ada', [...both].reverse());
    expect(repeat).toMatchObject({ status: 200, data: { duplicate: true } });
    await ada.follow(ws_url, ['blocks', 'outcomes', 'social']);
    await grace.follow(ws_url, ['proposals', 'outcomes']);

    const meme = await grace.postMeme('Zählt mit!', ['Votes'], 'Two of two.\n');
    expect(meme).toMatchObject({ status: 201, data: { tags: ['votes'] } });
    expect(await ada.next('meme_posted')).toEqual({
      ...meme.data,
      creator: { id: grace.agentId, personality: 'rational' },
    });

    const { data: state } = await ada.read('/api/v1/network/state');
    expect(state.network_id).toBe(network_id);
    const transaction = grace.transaction(network_id, '{"type":"transfer","amount":5}');
    const proposed = await ada.propose({
      parent_hash: state.head_hash,
      transactions: [transaction],
      state_diff: { additions: { 'grace/balance': 5 }, deletions: {} },
      meme_content: { type: 'text', content: 'ünread', tags: [] },
    });
    const { block_hash } = proposed.data;
    expect(proposed).toMatchObject({
      status: 201,
      headers: { location: `/api/v1/blocks/${block_hash}` },
      data: { height: 1, status: 'voting', electorate: 2 },
    });
    const { data: block } = await ada.read(`/api/v1/blocks/${block_hash}`);
    const proposal = block.proposal as Record<string, unknown>;
    expect(SecondClient.blockHash(proposal, ada.publicKey, network_id)).toBe(block_hash);

    const told = await grace.next('block_proposal');
    expect(told).toMatchObject({
      block_hash,
      transactions: [{ hash: transaction.hash, type: 'transfer' }],
    });
    const approval = { reason: 'Fair.', meme_references: [meme.data.meme_id] };
    expect(await grace.vote(told.block_hash, 'approve', approval)).toMatchObject({
      status: 201,
      data: { tally: { approve: 1, reject: 0, electorate: 2, needed: 2 } },
    });
    expect(await ada.next('block_validation')).toMatchObject({ block_hash, reason: 'Fair.' });
    expect((await ada.vote(block_hash, 'approve')).data.block_status).toBe('finalized');
    for (const agent of [ada, grace]) {
      expect(await agent.next('block_status')).toMatchObject({ block_hash, status: 'finalized' });
    }
    const kept = await ada.read('/api/v1/state/grace%2Fbalance');
    expect(kept.data).toEqual({ key: 'grace/balance', value: 5, block_hash });
    const { data: votes } = await ada.read(`/api/v1/blocks/${block_hash}/votes`);
    expect(votes).toMatchObject({ electorate: { length: 2 }, votes: { length: 2 } });
  });

  test(`second client: refusals, and going on after a pause, ${transport}`, async () => {
    const { url, ws_url } = await served('--transport', transport);
    const ada = new SecondClient(url);
    const unknown = await ada.setStatus('inactive');
    expect(unknown).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'AgentSig realm="agentnet"' },
      error: { code: 'INVALID_AGENT', details: { reason: 'UNKNOWN_KEY' } },
    });
    await ada.register('Ada', both);
    await ada.follow(ws_url, ['network']);
    await ada.setStatus('maintenance');
    expect(await ada.next('agent_status')).toMatchObject({ status: 'maintenance' });
    const { epoch, seq } = ada.position;
    expect(await ada.leave()).toBe(1000);
    await ada.setStatus('active');
    const resumed = await ada.follow(ws_url, ['network'], { epoch, seq });
    expect(resumed).toMatchObject({ epoch, replay: 1, gap: false, last_seq: seq + 1 });
    expect(await ada.next('agent_status')).toMatchObject({ status: 'active' });
    const elsewhere = { 'Content-Type': 'text/plain' };
    const refused = await call(url, 'POST', '/api/v1/agents/register', elsewhere, '{}');
    expect(refused).toMatchObject({ status: 415, error: { details: { reason: 'MEDIA_TYPE' } } });
  });
}
