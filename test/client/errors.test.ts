/** Client errors: refusals, missing responses, and invalid response signatures. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keyPairFromSeed } from 'folkmoot';
import {
  AgentClient,
  type AgentKeys,
  ApiError,
  generateKeys,
  keysFromSeed,
  loadKeys,
  ResponseSignatureError,
  saveKeys,
  UnreachableError,
} from 'folkmoot/client';
import { sha256Hex } from 'folkmoot/signing';
import { agentOf, clientOf, failureOf, live } from './helpers.js';

const nowhere = '0'.repeat(64);
const unknownAgent = `agent_${'0'.repeat(32)}`;

test('ApiError: has code, reason, status, details and the request id', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const error = await failureOf(client.vote({ block_hash: nowhere, decision: 'approve' }));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    ...{ code: 'INVALID_REQUEST', reason: 'UNKNOWN_BLOCK', status: 404, retryAfter: null },
    details: { reason: 'UNKNOWN_BLOCK' },
  });
  const { request_id, details } = error as ApiError;
  expect(request_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(details.request_id).toBe(request_id);
});

test('ApiError: has the documented code for each cause', async () => {
  const { url } = await live();
  const client = await agentOf(url);
  const stranger = clientOf(url, 9);
  const refusals: [() => Promise<unknown>, string, string, number][] = [
    [() => stranger.setStatus('active'), 'INVALID_AGENT', 'UNKNOWN_KEY', 401],
    [() => client.agent(unknownAgent), 'INVALID_AGENT', 'UNKNOWN_AGENT', 404],
    [() => client.propose({ parent_hash: '1'.repeat(64) }), 'INVALID_REQUEST', 'STALE_PARENT', 409],
    [() => client.postMeme({ file: '<svg/>' }), 'INVALID_REQUEST', 'MEDIA_TYPE', 415],
    [
      () => client.setStatus('active', { reason: 'x'.repeat(257) }),
      'INVALID_REQUEST',
      'SCHEMA',
      400,
    ],
    [() => client.block('f'.repeat(64)), 'INVALID_REQUEST', 'UNKNOWN_BLOCK', 404],
    [() => client.block('../meta'), 'INVALID_REQUEST', 'SCHEMA', 400],
  ];
  for (const [call, code, reason, status] of refusals) {
    expect(await failureOf(call())).toMatchObject({ code, reason, status });
  }
});

test('ApiError: has the retry time of RATE_LIMITED', async () => {
  const { url } = await live({ limits: 'spec' });
  await agentOf(url);
  const error = await failureOf(agentOf(url, 2));
  expect(error).toMatchObject({ code: 'RATE_LIMITED', reason: 'QUOTA_USED', status: 429 });
  expect((error as ApiError).retryAfter).toBeGreaterThan(50);
});

test('vote: on a closed block is an outcome; without a server it throws', async () => {
  const { url, stop } = await live();
  const agents = [];
  for (let seed = 1; seed <= 4; seed += 1) agents.push(await agentOf(url, seed));
  const late = agents.pop()!;
  const { block_hash } = await late.propose();
  const vote = { block_hash: block_hash.toUpperCase(), decision: 'approve' } as const;
  const sent = [];
  for (const agent of agents) sent.push(await agent.vote(vote));
  expect(sent.at(-1)).toMatchObject({ outcome: 'voted', block_status: 'finalized' });
  expect(await late.vote(vote)).toEqual({
    ...{ outcome: 'closed', block_hash, block_status: 'finalized' },
    error: expect.objectContaining({ reason: 'VOTING_CLOSED', status: 409 }),
  });
  await stop();
  expect(await failureOf(late.vote(vote))).toBeInstanceOf(UnreachableError);
});

test("clock: is corrected by the server's time with one more request", async () => {
  const hour = 3_600_000;
  let ahead = hour;
  let requests = 0;
  const { url } = await live({ now: () => Date.now() + ahead });
  const counting: typeof fetch = (...args) => {
    requests += 1;
    return fetch(...args);
  };
  const client = await agentOf(url, 1, { fetch: counting });
  expect(requests).toBe(2);
  await client.setStatus('active');
  expect(requests).toBe(3);
  ahead += hour;
  await client.postMeme({ file: 'tick' });
  await client.setStatus('inactive');
  expect(requests).toBe(6);
});

test('clock: a second TIMESTAMP_SKEW is thrown', async () => {
  let ahead = 0;
  let requests = 0;
  // The server's clock advances an hour per request, so that no correction fits.
  const { url } = await live({ now: () => Date.now() + ahead });
  const client = await agentOf(url);
  const racing: typeof fetch = (...args) => {
    requests += 1;
    ahead += 3_600_000;
    return fetch(...args);
  };
  const late = clientOf(url, 1, { fetch: racing });
  const error = await failureOf(late.setStatus('active'));
  expect(error).toMatchObject({ code: 'INVALID_SIGNATURE', reason: 'TIMESTAMP_SKEW', status: 401 });
  expect(requests).toBe(2);
  ahead = 0;
  expect(await client.setStatus('active')).toMatchObject({ status: 'active' });
});

test('UnreachableError: is thrown without a listener, and after a timeout', async () => {
  const { url, stop } = await live();
  await stop();
  const refused = await failureOf(clientOf(url).networkState());
  expect(refused).toBeInstanceOf(UnreachableError);
  expect((refused as Error).message).toContain('ECONNREFUSED');

  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close().closeAllConnections());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  const slow = clientOf(`http://127.0.0.1:${port}`, 1, { timeoutMs: 50 });
  expect(await failureOf(slow.networkState())).toBeInstanceOf(UnreachableError);
});

test.each([
  ['an error page of a proxy', '<html>Bad gateway</html>', 502],
  ['JSON of another server', '{"error":"no"}', 404],
  ['a success without an envelope', '{"ok":true}', 200],
])('ApiError: %s is reported as NETWORK_ERROR', async (_, body, status) => {
  const client = clientOf('http://127.0.0.1:1', 1, {
    fetch: async () => new Response(body, { status }),
  });
  const error = await failureOf(client.networkState());
  expect(error).toMatchObject({ code: 'NETWORK_ERROR', reason: null, status });
});

const serverKeys = keyPairFromSeed(new Uint8Array(32).fill(99));

/** Returns a fetch function that changes the signature headers in responses. */
function spoiling(change: (headers: Headers) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status } = response;
    const headers = new Headers(response.headers);
    change(headers);
    return new Response(await response.arrayBuffer(), { status, headers });
  };
}

test.each<[string, (headers: Headers) => void]>([
  ['of another text', (headers) => headers.set('X-Server-Timestamp', '2025-01-01T00:00:00.000Z')],
  ['with a wrong length', (headers) => headers.set('X-Server-Signature', 'ff')],
  ['without a key', (headers) => headers.delete('X-Server-Public-Key')],
  ['that is missing', (headers) => headers.delete('X-Server-Signature')],
])('response signatures: one %s throws', async (_, change) => {
  const { url } = await live({ responseKeys: serverKeys });
  const client = clientOf(url, 1, { fetch: spoiling(change) });
  expect(await failureOf(client.networkState())).toBeInstanceOf(ResponseSignatureError);
});

test('response signatures: with serverKey, another key or none throws', async () => {
  const serverKey = 'ab'.repeat(32);
  for (const more of [{}, { responseKeys: serverKeys }]) {
    const { url } = await live(more);
    const error = await failureOf(clientOf(url, 1, { serverKey }).networkState());
    expect(error).toBeInstanceOf(ResponseSignatureError);
  }
});

// ---- The client's keys equal the engine's, and are saved and loaded as text.

const seed = new Uint8Array(32).fill(7);

test('keysFromSeed: gives the public key that libsodium gives', () => {
  const keys = keysFromSeed(seed);
  expect(keys.publicKey).toBe(keyPairFromSeed(seed).publicKeyHex);
  expect(keysFromSeed('07'.repeat(32))).toEqual(keys);
});

test('keysFromSeed: refuses other lengths and text that is not hex', () => {
  for (const bad of [new Uint8Array(31), '07', 'zz'.repeat(32), '']) {
    expect(() => keysFromSeed(bad)).toThrow(RangeError);
  }
});

test.each([
  undefined,
  {},
  { publicKey: 'ab', privateKey: 'cd' },
])('AgentClient: refuses the keys %o before it signs', (keys) => {
  const options = { url: 'http://127.0.0.1:1', keys: keys as AgentKeys };
  expect(() => new AgentClient(options)).toThrow(
    expect.objectContaining({ name: 'TypeError', problem: 'NO_KEYS' }),
  );
});

test('saveKeys: round-trips with loadKeys', () => {
  const keys = generateKeys();
  expect(generateKeys()).not.toEqual(keys);
  expect(loadKeys(saveKeys(keys))).toEqual(keys);
  expect(Object.keys(JSON.parse(saveKeys(keys)))).toEqual([
    ...['agent_id', 'public_key', 'private_key'],
  ]);
  expect(loadKeys(JSON.stringify({ private_key: keys.privateKey.toUpperCase() }))).toEqual(keys);
});

test('loadKeys: refuses invalid text without echoing the secret', () => {
  const { publicKey } = keysFromSeed(seed);
  const secret = '0a'.repeat(32);
  const texts = [
    ...[secret, 'null', '{}', `{"private_key":"${secret}`],
    JSON.stringify({ private_key: secret.slice(1) }),
    JSON.stringify({ private_key: secret, public_key: publicKey }),
  ];
  for (const text of texts) {
    let message = '';
    try {
      loadKeys(text);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
      message = (error as Error).message;
    }
    expect(message).toMatch(/^keys: /);
    expect(message).not.toContain(secret.slice(0, 8));
  }
});

// ---- All client methods against a live server, over both transports.

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
      ...{ transactions: ['own', sent], state_diff, meme_content },
    });
    expect(proposed).toMatchObject({ height: 1, status: 'voting', electorate: 2 });
    const { block_hash } = proposed;
    await client.vote({ block_hash, decision: 'approve', reason: 'mine' });
    const last = await another.vote({ block_hash, decision: 'approve' });
    expect(last).toMatchObject({
      ...{ outcome: 'voted', block_status: 'finalized', tally: { approve: 2, needed: 2 } },
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
      ...{ network_id: 'testnet', policy: 'bft', event_seq: 2, limits: { profile: 'off' } },
    });
  });
});

test('url: accepts a path before /api and a trailing slash, and no other scheme', () => {
  expect(clientOf('http://localhost:1/folk/').url).toBe('http://localhost:1/folk');
  expect(() => clientOf('ftp://localhost')).toThrow(/http/);
});
