/** Memes, discussion and alliances (docs/protocol.md, sections 7, 8 and 13). */
import { expect, test } from 'vitest';
import { ally, discuss, meme, status } from '../support/service/signer.js';
import {
  begin,
  expectError,
  expectSuccess,
  type Start,
  TIMESTAMP,
} from '../support/service/world.js';

const MEME_ID = expect.stringMatching(/^meme_[0-9a-f]{32}$/);

export function socialTests(start: Start): void {
  test.each([
    ['a repeated field', false],
    ['one field with a JSON array', true],
  ])('memes: 201 for tags sent as %s', async (_, tagsAsJson) => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const fields = { file: 'Hello', caption: 'Grüße', tags: ['Calm', 'calm', 'é'], tagsAsJson };
    const request = meme(ada, fields);
    const data = expectSuccess(await world.send(request), 201);
    const url = `/api/v1/social/memes/${data.meme_id}/content`;
    expect(data).toEqual({
      meme_id: MEME_ID,
      content: { type: 'text', url, caption: 'Grüße' },
      tags: ['calm', 'é'],
      timestamp: TIMESTAMP,
    });
    expect((await world.get(url)).text).toBe('Hello');
    expect(await world.do(request, 200)).toEqual({ ...data, duplicate: true });
  });

  test('memes: caption and tags are optional', async () => {
    const world = await begin(start);
    const data = await world.do(meme(await world.join('Ada'), { file: 'Hello' }));
    expect(data).toMatchObject({ content: { caption: '' }, tags: [] });
  });

  test('memes: the content of an unknown meme is 404', async () => {
    const world = await begin(start);
    const answer = await world.get(`/api/v1/social/memes/meme_${'0'.repeat(32)}/content`);
    expectError(answer, 404, 'INVALID_REQUEST', 'UNKNOWN_MEME');
  });

  test('discuss: 201 with the data of its event, while the block is in voting', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const block_hash = await world.propose(ada);
    const { meme_id } = await world.do(meme(ada, { file: 'Hello' }));
    const fields = { block_hash, message: 'Hm', sentiment: 'negative', meme_references: [meme_id] };
    const request = discuss(ada, fields);
    const data = await world.do(request);
    const agent = { id: ada.agentId, personality: 'rational' };
    expect(data).toEqual({ ...fields, agent, timestamp: TIMESTAMP });
    expect(await world.do(request, 200)).toEqual({ ...data, duplicate: true });
    await world.vote(ada, block_hash);
    const late = await world.send(discuss(ada, { block_hash }));
    expectError(late, 409, 'INVALID_REQUEST', 'VOTING_CLOSED');
  });

  test('alliances: an alliance is proposed, accepted and left', async () => {
    const world = await begin(start);
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const target_ids = [bob!.agentId];
    const request = ally.propose(ada!, { target_ids, purpose: 'Peace', duration: 'PT2H' });
    const founder = { id: ada!.agentId, role: 'founder' };
    const proposed = {
      alliance_id: expect.stringMatching(/^ally_[0-9a-f]{32}$/),
      members: [founder, { id: bob!.agentId, role: 'invited' }],
      purpose: 'Peace',
      duration: 'PT2H',
      status: 'proposed',
      timestamp: TIMESTAMP,
    };
    const data = await world.do(request);
    expect(data).toEqual(proposed);
    expect(await world.do(request, 200)).toEqual({ ...data, duplicate: true });
    const id = String(data.alliance_id);
    const members = [founder, { id: bob!.agentId, role: 'member' }];
    const accepted = await world.do(ally.respond(bob!, id), 200);
    expect(accepted).toEqual({ ...proposed, members, status: 'active' });
    const { alliances, next_cursor } = await world.read('/api/v1/social/alliances');
    expect([alliances, next_cursor]).toEqual([[accepted], null]);
    const again = await world.send(ally.respond(bob!, id, false));
    expectError(again, 409, 'INVALID_REQUEST', 'ALREADY_ANSWERED');
    expect(await world.do(ally.leave(bob!, id), 200)).toMatchObject({
      members: [],
      duration: 'PT0S',
      status: 'dissolved',
    });
    expectError(await world.send(ally.leave(ada!, id)), 409, 'INVALID_REQUEST', 'ALLIANCE_CLOSED');
  });

  test('alliances: lapses if all decline; agents outside may not answer or leave', async () => {
    const world = await begin(start);
    const [ada, bob, eve] = await world.joinAll('Ada', 'Bob', 'Eve');
    const data = await world.do(ally.propose(ada!, { target_ids: [bob!.agentId] }));
    expect(data).toMatchObject({ duration: 'PT1H' });
    const id = String(data.alliance_id);
    expectError(await world.send(ally.respond(eve!, id)), 403, 'INVALID_AGENT', 'NOT_INVITED');
    expectError(await world.send(ally.leave(eve!, id)), 403, 'INVALID_AGENT', 'NOT_MEMBER');
    const nowhere = await world.send(ally.leave(eve!, `ally_${'0'.repeat(32)}`));
    expectError(nowhere, 404, 'INVALID_REQUEST', 'UNKNOWN_ALLIANCE');
    const over = await world.do(ally.respond(bob!, id, false), 200);
    expect(over).toMatchObject({ status: 'lapsed', members: [], duration: 'PT0S' });
  });

  test('memes, discuss and alliances: refused for an agent in maintenance', async () => {
    const world = await begin(start);
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const block_hash = await world.propose(bob!);
    await world.do(status(ada!, { status: 'maintenance' }), 200);
    const refused = [
      meme(ada!, { file: 'Hello' }),
      discuss(ada!, { block_hash }),
      ally.propose(ada!, { target_ids: [bob!.agentId] }),
    ];
    for (const request of refused) {
      expectError(await world.send(request), 403, 'INVALID_AGENT', 'NOT_ACTIVE');
    }
  });
}
