/** Reads of the network, of blocks and of reputations (docs/protocol.md, section 13). */
import { expect, test } from 'vitest';
import { propose, status, transaction } from '../support/service/signer.js';
import {
  begin,
  expectError,
  GENESIS_HASH,
  type Start,
  TIMESTAMP,
} from '../support/service/world.js';

export function networkTests(start: Start): void {
  test('state: the five basic numbers, and the additional members', async () => {
    const world = await begin(start);
    await world.join('Judge', { capabilities: ['validator'] });
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const state = {
      block_height: 0,
      active_validators: 2,
      active_producers: 1,
      pending_transactions: 0,
      network_tps: 0,
      head_hash: GENESIS_HASH,
      network_id: networkId,
      server_time: TIMESTAMP,
    };
    expect(await world.read('/api/v1/network/state')).toEqual(state);
    await world.propose(ada, { transactions: [transaction(ada, networkId, 'pay')] });
    const pending = await world.read('/api/v1/network/state');
    expect(pending).toEqual({ ...state, pending_transactions: 1 });
    await world.do(status(ada, { status: 'maintenance' }), 200);
    const without = await world.read('/api/v1/network/state');
    expect(without).toMatchObject({ active_validators: 1, active_producers: 0 });
  });

  test('state: network_tps counts final transactions, in hundredths', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const transactions = ['a', 'b', 'c'].map((data) => transaction(ada, networkId, data));
    await world.vote(ada, await world.propose(ada, { transactions }));
    expect(await world.read('/api/v1/network/state')).toMatchObject({
      network_tps: 0.05,
      pending_transactions: 0,
    });
  });

  test('agents: lists active agents with the fields of each list, ascending by id', async () => {
    const world = await begin(start);
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

  test('reputation: five numbers; 404 for an unknown agent', async () => {
    const world = await begin(start);
    const ada = await world.join('Ada');
    const path = `/api/v1/social/reputation/${ada.agentId}`;
    expect(await world.read(path)).toEqual({
      overall_score: 50,
      meme_quality: 50,
      decision_consistency: 50,
      peer_ratings: 50,
      alliance_strength: 50,
    });
    await world.vote(ada, await world.propose(ada));
    const { decision_consistency } = await world.read(path);
    expect(decision_consistency).toBe(53.125);
    const unknown = await world.get(`/api/v1/social/reputation/agent_${'0'.repeat(32)}`);
    expectError(unknown, 404, 'INVALID_AGENT', 'UNKNOWN_AGENT');
  });

  test('reads: a signature is ignored, even if it is malformed', async () => {
    const world = await begin(start);
    const headers = { 'X-Agent-Signature': 'nonsense', 'X-Agent-Public-Key': 'not hex' };
    expect((await world.get('/api/v1/network/state', headers)).status).toBe(200);
  });

  test('transactions, state: a final block stores its transactions and state diff', async () => {
    const world = await begin(start);
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

  test('propose: refuses a block without electors', async () => {
    const world = await begin(start);
    const alone = await world.join('Alone', { capabilities: ['producer'] });
    const answer = await world.send(propose(alone, { parent_hash: GENESIS_HASH }));
    expectError(answer, 409, 'INVALID_REQUEST', 'NO_VALIDATORS');
  });
}
