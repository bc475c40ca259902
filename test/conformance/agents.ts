/** Registration and status of agents (docs/protocol.md, section 13). */
import {
  agentOf,
  ally,
  discuss,
  meme,
  propose,
  register,
  signed,
  status,
  transaction,
  vote,
} from '../support/service/signer.js';
import {
  begin,
  expectError,
  expectSuccess,
  GENESIS_HASH,
  type Start,
  TIMESTAMP,
  testsOn,
} from '../support/service/world.js';

const statuses = ['active', 'inactive', 'maintenance'];

export function agentTests(start: Start): void {
  const test = testsOn(start);
  test('register: 201 with agent_id, registration_time and status active', async (world) => {
    const agent = agentOf('Ada');
    const answer = await world.send(register(agent));
    expect(expectSuccess(answer, 201)).toEqual({
      ...{ agent_id: agent.agentId, registration_time: TIMESTAMP, status: 'active' },
    });
  });

  test.each([
    [['validator']],
    [['producer']],
    [['producer', 'validator']],
  ])('register: lists the agent by its capabilities %j', async (capabilities) => {
    const world = await begin(start);
    const agent = await world.join('Ada', { capabilities });
    const { validators, producers } = await world.read('/api/v1/network/agents');
    const ids = (list: unknown) => (list as { id: string }[]).map(({ id }) => id);
    expect(ids(validators)).toEqual(capabilities.includes('validator') ? [agent.agentId] : []);
    expect(ids(producers)).toEqual(capabilities.includes('producer') ? [agent.agentId] : []);
  });

  test('register: a repeat is a duplicate; other data for the key is refused', async (world) => {
    const agent = agentOf('Ada');
    const first = await world.do(register(agent));
    expect(await world.do(register(agent), 200)).toEqual({ ...first, duplicate: true });
    const other = await world.send(register(agent, { name: 'Bob' }));
    expectError(other, 409, 'INVALID_REQUEST', 'AGENT_EXISTS');
  });

  test('register: the description and the key header are optional', async (world) => {
    const request = register(agentOf('Ada'), { description: undefined });
    const { 'X-Agent-Public-Key': _, ...headers } = request.headers;
    await world.do({ ...request, headers });
    const { agentId } = agentOf('Ada');
    expect((await world.read(`/api/v1/agents/${agentId}`)).description).toBe('');
  });

  test('status: changes between all three statuses', async (world) => {
    const agent = await world.join('Ada');
    let previous_status = 'active';
    for (const wanted of [...statuses, ...statuses.toReversed(), 'maintenance', 'active']) {
      const fields = { status: wanted, reason: 'Rest', expected_duration: 'PT2H' };
      expect(await world.do(status(agent, fields), 200)).toEqual({
        agent_id: agent.agentId,
        ...fields,
        previous_status,
        timestamp: TIMESTAMP,
      });
      previous_status = wanted;
    }
  });

  test('status: reason and expected_duration are optional, and empty by default', async (world) => {
    const agent = await world.join('Ada');
    const data = await world.do(status(agent, { status: 'inactive' }), 200);
    expect(data).toMatchObject({ status: 'inactive', reason: '', expected_duration: '' });
  });

  test('status: 403 for another agent, 404 for an unknown one', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const fields = { status: 'inactive' };
    const foreign = await world.send(status(ada!, fields, bob!.agentId));
    expectError(foreign, 403, 'INVALID_AGENT', 'NOT_OWNER');
    const unknown = await world.send(status(ada!, fields, agentOf('Stranger').agentId));
    expectError(unknown, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
    expect((await world.read(`/api/v1/agents/${bob!.agentId}`)).status).toBe('active');
  });
}

// ---- Memes, discussion and alliances (docs/protocol.md, sections 7, 8 and 13).

const MEME_ID = expect.stringMatching(/^meme_[0-9a-f]{32}$/);

export function socialTests(start: Start): void {
  const test = testsOn(start);
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
      ...{ meme_id: MEME_ID, content: { type: 'text', url, caption: 'Grüße' } },
      ...{ tags: ['calm', 'é'], timestamp: TIMESTAMP },
    });
    expect((await world.get(url)).text).toBe('Hello');
    expect(await world.do(request, 200)).toEqual({ ...data, duplicate: true });
  });

  test('memes: caption and tags are optional', async (world) => {
    const data = await world.do(meme(await world.join('Ada'), { file: 'Hello' }));
    expect(data).toMatchObject({ content: { caption: '' }, tags: [] });
  });

  test('memes: the content of an unknown meme is 404', async (world) => {
    const answer = await world.get(`/api/v1/social/memes/meme_${'0'.repeat(32)}/content`);
    expectError(answer, 404, 'INVALID_REQUEST', 'UNKNOWN_MEME');
  });

  test('discuss: 201 with the data of its event, while the block is in voting', async (world) => {
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

  test('alliances: an alliance is proposed, accepted and left', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const target_ids = [bob!.agentId];
    const request = ally.propose(ada!, { target_ids, purpose: 'Peace', duration: 'PT2H' });
    const founder = { id: ada!.agentId, role: 'founder' };
    const proposed = {
      alliance_id: expect.stringMatching(/^ally_[0-9a-f]{32}$/),
      ...{ members: [founder, { id: bob!.agentId, role: 'invited' }], purpose: 'Peace' },
      ...{ duration: 'PT2H', status: 'proposed', timestamp: TIMESTAMP },
    };
    const data = await world.do(request);
    expect([data, await world.do(request, 200)]).toEqual([proposed, { ...data, duplicate: true }]);
    const id = String(data.alliance_id);
    const members = [founder, { id: bob!.agentId, role: 'member' }];
    const accepted = await world.do(ally.respond(bob!, id), 200);
    expect(accepted).toEqual({ ...proposed, members, status: 'active' });
    const { alliances, next_cursor } = await world.read('/api/v1/social/alliances');
    expect([alliances, next_cursor]).toEqual([[accepted], null]);
    const again = await world.send(ally.respond(bob!, id, false));
    expectError(again, 409, 'INVALID_REQUEST', 'ALREADY_ANSWERED');
    expect(await world.do(ally.leave(bob!, id), 200)).toMatchObject({
      ...{ members: [], duration: 'PT0S', status: 'dissolved' },
    });
    expectError(await world.send(ally.leave(ada!, id)), 409, 'INVALID_REQUEST', 'ALLIANCE_CLOSED');
  });

  test('alliances: lapses if all decline; others may not answer or leave', async (world) => {
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

  test('memes, discuss and alliances: refused for an agent in maintenance', async (world) => {
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

// ---- Rate limits (docs/protocol.md, section 14): their values, and their headers.

export function limitTests(start: Start): void {
  const test = testsOn(start);
  test('limits: votes are limited to 10 per minute and agent, with headers', async () => {
    const world = await begin(start, 'spec');
    const ada = await world.join('Ada');
    // The block is unknown, which does not matter.
    const ballot = () => vote(ada, { block_hash: 'a'.repeat(64) });
    for (let used = 1; used <= 10; used += 1) {
      const { status: code, headers, text } = await world.send(ballot());
      expect(code, text).not.toBe(429);
      expect(headers.get('ratelimit-policy')).toBe('"vote";q=10;w=60');
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"vote";r=${10 - used};t=\\d+$`));
    }
    const refused = await world.send(ballot());
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toBe(`"vote";r=0;t=${wait}`);
  });

  test('limits: a proposal may have 2 MiB, other JSON 8 KiB', async (world) => {
    const ada = await world.join('Ada');
    const network = await world.networkId();
    const data = (index: number) => `${index}${'x'.repeat(4_000)}`;
    const pay = (_: unknown, index: number) => transaction(ada, network, data(index));
    const transactions = Array.from({ length: 450 }, pay);
    const large = await world.send(propose(ada, { parent_hash: GENESIS_HASH, transactions }));
    expect(large.status, large.text).toBe(201);
    const room = (bytes: number) => ({ status: 'active', padding: ' '.repeat(bytes) });
    const small = `${' '.repeat(8_000)}{"status":"active"}`;
    const path = `/api/v1/agents/${ada.agentId}/status`;
    expect((await world.send(signed(ada, 'PUT', path, small))).status).toBe(200);
    const fat = await world.send(status(ada, room(8 * 1024)));
    expectError(fat, 413, 'INVALID_REQUEST', 'TOO_LARGE');
    const filler = 'x'.repeat(2 * 1024 * 1024);
    const tooLarge = await world.send(propose(ada, { parent_hash: GENESIS_HASH, filler }));
    expectError(tooLarge, 413, 'INVALID_REQUEST', 'TOO_LARGE');
  });
}
