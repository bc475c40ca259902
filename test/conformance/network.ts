/** Reads of the network, of blocks and of reputations (docs/protocol.md, section 13). */
import {
  blockHash,
  propose,
  sha256,
  status,
  transaction,
  vote,
} from '../support/service/signer.js';
import {
  expectError,
  expectSuccess,
  GENESIS_HASH,
  type Start,
  TIMESTAMP,
  testsOn,
} from '../support/service/world.js';

export function networkTests(start: Start): void {
  const test = testsOn(start);
  test('state: the five basic numbers, and the additional members', async (world) => {
    await world.join('Judge', { capabilities: ['validator'] });
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const state = {
      ...{ block_height: 0, active_validators: 2, active_producers: 1, pending_transactions: 0 },
      ...{ network_tps: 0, head_hash: GENESIS_HASH, network_id: networkId, server_time: TIMESTAMP },
    };
    expect(await world.read('/api/v1/network/state')).toEqual(state);
    await world.propose(ada, { transactions: [transaction(ada, networkId, 'pay')] });
    const pending = await world.read('/api/v1/network/state');
    expect(pending).toEqual({ ...state, pending_transactions: 1 });
    await world.do(status(ada, { status: 'maintenance' }), 200);
    const without = await world.read('/api/v1/network/state');
    expect(without).toMatchObject({ active_validators: 1, active_producers: 0 });
  });

  test('state: network_tps counts final transactions, in hundredths', async (world) => {
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const transactions = ['a', 'b', 'c'].map((data) => transaction(ada, networkId, data));
    await world.vote(ada, await world.propose(ada, { transactions }));
    expect(await world.read('/api/v1/network/state')).toMatchObject({
      network_tps: 0.05,
      pending_transactions: 0,
    });
  });

  test('agents: lists active agents with the fields of each list, by id', async (world) => {
    const agents = await world.joinAll('Ada', 'Bob', 'Eve');
    const gone = await world.join('Gone');
    await world.do(status(gone, { status: 'inactive' }), 200);
    const sorted = agents.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
    const common = sorted.map(({ agentId: id, publicKey: public_key }) => {
      return { id, public_key, status: 'active' };
    });
    expect(await world.read('/api/v1/network/agents')).toEqual({
      validators: common.map((entry) => {
        return { ...entry, personality: 'rational', reputation_score: 50 };
      }),
      producers: common.map((entry) => ({ ...entry, blocks_produced: 0 })),
    });
    const { validators } = await world.read('/api/v1/network/agents?limit=2');
    expect(validators).toHaveLength(2);
  });

  test('reputation: five numbers; 404 for an unknown agent', async (world) => {
    const ada = await world.join('Ada');
    const path = `/api/v1/social/reputation/${ada.agentId}`;
    expect(await world.read(path)).toEqual({
      ...{ overall_score: 50, meme_quality: 50, decision_consistency: 50, peer_ratings: 50 },
      alliance_strength: 50,
    });
    await world.vote(ada, await world.propose(ada));
    const { decision_consistency } = await world.read(path);
    expect(decision_consistency).toBe(53.125);
    const unknown = await world.get(`/api/v1/social/reputation/agent_${'0'.repeat(32)}`);
    expectError(unknown, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
  });

  test('reads: a signature is ignored, even if it is malformed', async (world) => {
    const headers = { 'X-Agent-Signature': 'nonsense', 'X-Agent-Public-Key': 'not hex' };
    expect((await world.get('/api/v1/network/state', headers)).status).toBe(200);
  });

  test('transactions, state: a final block stores both', async (world) => {
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const one = transaction(ada, networkId, 'pay');
    const state_diff = { additions: { 'a/b': { c: [1, null] } }, deletions: {} };
    await world.vote(ada, await world.propose(ada, { transactions: [one], state_diff }));
    expect(await world.read(`/api/v1/transactions/${one.hash}`)).toMatchObject({
      hash: one.hash,
      signers: [{ signer: ada.publicKey }],
    });
    expect(await world.read(`/api/v1/state/${encodeURIComponent('a/b')}`)).toMatchObject({
      key: 'a/b',
      value: { c: [1, null] },
    });
    const absent = await world.get('/api/v1/state/nothing');
    expectError(absent, 404, 'INVALID_REQUEST', 'UNKNOWN_KEY_NAME');
    const unknown = await world.get(`/api/v1/transactions/${'a'.repeat(64)}`);
    expectError(unknown, 404, 'INVALID_REQUEST', 'UNKNOWN_TX');
  });

  test('propose: refuses a block without electors', async (world) => {
    const alone = await world.join('Alone', { capabilities: ['producer'] });
    const answer = await world.send(propose(alone, { parent_hash: GENESIS_HASH }));
    expectError(answer, 409, 'INVALID_REQUEST', 'NO_VALIDATORS');
  });
}

// ---- Proposals and votes (docs/protocol.md, sections 6 and 13).

export function consensusTests(start: Start): void {
  const test = testsOn(start);
  test('propose: 201 with Location and the data of the block', async (world) => {
    const [ada] = await world.joinAll('Ada', 'Bob');
    const networkId = await world.networkId();
    const request = propose(ada!, {
      parent_hash: GENESIS_HASH,
      transactions: [
        transaction(ada!, networkId, '{"type":"transfer"}'),
        transaction(ada!, networkId, 'anything', true),
      ],
      state_diff: { additions: { 'a/b': { c: [1, null] } }, deletions: { gone: true } },
      meme_content: { type: 'text', content: 'Trust me', tags: ['Calm'] },
      an_unknown_member: { is: 'signed too' },
    });
    const answer = await world.send(request);
    const hash = blockHash(request, ada!, networkId);
    expect(expectSuccess(answer, 201)).toEqual({
      ...{ block_hash: hash, height: 1, parent_hash: GENESIS_HASH, status: 'voting' },
      ...{ voting_deadline: TIMESTAMP, electorate: 2, timestamp: TIMESTAMP },
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/blocks/${hash}`);
    const block = await world.read(`/api/v1/blocks/${hash}`);
    expect(block.proposal).toEqual(JSON.parse(String(request.body)));
  });

  test('propose: a repeat is a duplicate, 200 with the same block', async (world) => {
    const ada = await world.join('Ada');
    const request = propose(ada, { parent_hash: GENESIS_HASH });
    const first = await world.do(request);
    expect(await world.do(request, 200)).toEqual({ ...first, duplicate: true });
  });

  test('propose: a transaction has hash, data and signature of its sender', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const good = transaction(ada!, await world.networkId(), 'pay');
    const send = (change: object) =>
      world.send(
        propose(ada!, { parent_hash: GENESIS_HASH, transactions: [{ ...good, ...change }] }),
      );
    const wrongHash = await send({ hash: sha256('other') });
    expectError(wrongHash, 400, 'INVALID_REQUEST');
    expect(wrongHash.error.details.pointer).toBe('/transactions/0/hash');
    expectError(await send({ data: undefined }), 400, 'INVALID_REQUEST', 'SCHEMA');
    const missing = await send({ signature: undefined });
    expectError(missing, 401, 'INVALID_SIGNATURE', 'MISSING');
    const foreign = await send({ sender: bob!.publicKey });
    expectError(foreign, 401, 'INVALID_SIGNATURE', 'MISMATCH');
    expect(foreign.error.details.pointer).toBe('/transactions/0/signature');
    expect((await send({})).status).toBe(201);
  });

  test('propose: a stale parent is refused with the current head', async (world) => {
    const ada = await world.join('Ada');
    const answer = await world.send(propose(ada, { parent_hash: 'a'.repeat(64) }));
    expectError(answer, 409, 'INVALID_REQUEST', 'STALE_PARENT');
    expect(answer.error.details).toMatchObject({ head_hash: GENESIS_HASH, height: 0 });
  });

  test('propose: refuses a second open block, and an agent without the role', async (world) => {
    const ada = await world.join('Ada');
    await world.propose(ada);
    const second = await world.send(propose(ada, { parent_hash: GENESIS_HASH }));
    expectError(second, 409, 'INVALID_REQUEST', 'OPEN_BLOCK');
    const judge = await world.join('Judge', { capabilities: ['validator'] });
    const no = await world.send(propose(judge, { parent_hash: GENESIS_HASH }));
    expectError(no, 403, 'INVALID_AGENT', 'NOT_PRODUCER');
  });

  test('vote: 201 with the tally; enough approvals finalize', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const block_hash = await world.propose(ada!);
    const fields = { block_hash, decision: 'approve', reason: 'Good', meme_references: [] };
    expect(await world.do(vote(ada!, fields))).toEqual({
      ...{ block_hash, agent_id: ada!.agentId, decision: 'approve', block_status: 'voting' },
      ...{ tally: { approve: 1, reject: 0, electorate: 2, needed: 2 }, timestamp: TIMESTAMP },
    });
    expect(await world.vote(bob!, block_hash)).toMatchObject({
      block_status: 'finalized',
      tally: { approve: 2, reject: 0, electorate: 2, needed: 2 },
    });
    expect(await world.read('/api/v1/network/state')).toMatchObject({
      block_height: 1,
      head_hash: block_hash,
    });
  });

  test('vote: rejections by a third of the electorate reject the block', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob', 'Eve');
    const block_hash = await world.propose(ada!);
    const data = await world.vote(bob!, block_hash, { decision: 'reject' });
    expect(data).toMatchObject({ block_status: 'rejected', decision: 'reject' });
    expect((await world.read(`/api/v1/blocks/${block_hash}`)).status).toBe('rejected');
  });

  test('vote: the same decision is a duplicate, the other decision is refused', async (world) => {
    const [ada] = await world.joinAll('Ada', 'Bob');
    const block_hash = await world.propose(ada!);
    const first = await world.vote(ada!, block_hash);
    const again = await world.do(vote(ada!, { block_hash, reason: 'Other words' }), 200);
    expect(again).toEqual({ ...first, duplicate: true });
    const other = await world.send(vote(ada!, { block_hash, decision: 'reject' }));
    expectError(other, 409, 'INVALID_REQUEST', 'ALREADY_VOTED');
  });

  test('vote: 404 for an unknown block or meme, 403 without one, 409 if new', async (world) => {
    const ada = await world.join('Ada');
    const nowhere = await world.send(vote(ada, { block_hash: 'b'.repeat(64) }));
    expectError(nowhere, 404, 'INVALID_REQUEST', 'UNKNOWN_BLOCK');
    const block_hash = await world.propose(ada);
    const late = await world.join('Late');
    const producer = await world.join('Producer', { capabilities: ['producer'] });
    const meme_references = [`meme_${'a'.repeat(32)}`];
    const unknownMeme = await world.send(vote(ada, { block_hash, meme_references }));
    expectError(unknownMeme, 404, 'INVALID_REQUEST', 'UNKNOWN_MEME');
    const outside = await world.send(vote(late, { block_hash }));
    expectError(outside, 403, 'INVALID_AGENT', 'NOT_IN_ELECTORATE');
    const notOne = await world.send(vote(producer, { block_hash }));
    expectError(notOne, 403, 'INVALID_AGENT', 'NOT_VALIDATOR');
    await world.vote(ada, block_hash);
    const over = await world.send(vote(ada, { block_hash, decision: 'reject' }));
    expectError(over, 409, 'INVALID_REQUEST', 'ALREADY_VOTED');
  });
}
