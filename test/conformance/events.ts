/**
 * Events: each type with exactly its fields and topics, and the order of events after each cause.
 */
import {
  ally,
  discuss,
  meme,
  propose,
  status,
  transaction,
  vote,
} from '../support/service/signer.js';
import { begin, GENESIS_HASH, type Start, TIMESTAMP, testsOn } from '../support/service/world.js';

const ALL = ['blocks', 'consensus', 'network', 'social', 'memes', 'proposals', 'outcomes'];

const event = (type: string, data: object) => ({ type, seq: expect.any(Number), data });
const types = (messages: { type: string }[]) => messages.map(({ type }) => type);

export function eventTests(start: Start): void {
  const test = testsOn(start);
  test('events: agent_status after a registration and each status update', async (world) => {
    const ada = await world.join('Ada');
    const live = await world.listen(ada, ['network']);
    const bob = await world.join('Bob');
    const fields = { status: 'inactive', reason: 'Rest', expected_duration: 'P1D' };
    await world.do(status(bob, fields), 200);
    await world.do(status(bob, { status: 'inactive' }), 200);
    const none = { reason: '', expected_duration: '', timestamp: TIMESTAMP };
    expect(await live.settled()).toEqual([
      event('agent_status', { agent_id: bob.agentId, status: 'active', ...none }),
      event('agent_status', { agent_id: bob.agentId, ...fields, timestamp: TIMESTAMP }),
      event('agent_status', { agent_id: bob.agentId, status: 'inactive', ...none }),
    ]);
  });

  test('events: block_proposal after a proposal', async (world) => {
    const ada = await world.join('Ada');
    const networkId = await world.networkId();
    const live = await world.listen(ada, ['blocks']);
    const transactions = [
      transaction(ada, networkId, '{"type":"transfer"}'),
      transaction(ada, networkId, 'x'),
    ];
    const meme_content = { type: 'text', content: 'Trust me', tags: ['Calm'] };
    const block_hash = await world.propose(ada, { transactions, meme_content });
    expect(await live.settled()).toEqual([
      event('block_proposal', {
        block_hash,
        parent_hash: GENESIS_HASH,
        height: 1,
        producer: { id: ada.agentId, public_key: ada.publicKey },
        transactions: [
          { hash: transactions[0]!.hash, type: 'transfer' },
          { hash: transactions[1]!.hash, type: 'custom' },
        ],
        meme_content: { type: 'text', content: 'Trust me' },
        timestamp: TIMESTAMP,
      }),
    ]);
  });

  test('events: a vote that closes a block causes its events in order', async (world) => {
    const [ada, bob, eve] = await world.joinAll('Ada', 'Bob', 'Eve');
    const networkId = await world.networkId();
    const block_hash = await world.propose(ada!, {
      transactions: [transaction(ada!, networkId, 'x')],
    });
    const { block_hash: sibling } = await world.do(propose(bob!, { parent_hash: GENESIS_HASH }));
    await world.vote(ada!, block_hash);
    await world.vote(bob!, block_hash);
    const live = await world.listen(ada!, ALL);
    await world.vote(eve!, block_hash, { reason: 'Fine' });
    const messages = await live.settled();
    const [validation, closed, orphaned, metrics, ...later] = messages;
    // On a busy machine a deadline can pass first, which emits network metrics again.
    const reputations = later.filter(({ type }) => type !== 'network_metrics');
    const counts = { parent_hash: GENESIS_HASH, height: 1, electorate: 3, timestamp: TIMESTAMP };
    expect([validation, closed, orphaned, metrics]).toEqual([
      event('block_validation', {
        block_hash,
        validator: { id: eve!.agentId, personality: 'rational' },
        decision: 'approve',
        reason: 'Fine',
        timestamp: TIMESTAMP,
      }),
      event('block_status', {
        ...{ ...counts, block_hash, status: 'finalized' },
        ...{ approve: 3, reject: 0, transactions: 1 },
      }),
      event('block_status', {
        ...{ ...counts, block_hash: sibling, status: 'orphaned' },
        ...{ approve: 0, reject: 0, transactions: 0 },
      }),
      event('network_metrics', {
        block_height: 1,
        tps: 0.01,
        active_validators: 3,
        active_producers: 3,
        pending_transactions: 0,
        head_hash: block_hash,
        timestamp: TIMESTAMP,
      }),
    ]);
    expect(reputations).toEqual(
      [ada!, bob!, eve!]
        .map(({ agentId }) => agentId)
        .toSorted()
        .map((agent_id) =>
          event('reputation_update', {
            agent_id,
            old_score: 50,
            new_score: expect.any(Number),
            reason: expect.any(String),
            timestamp: TIMESTAMP,
          }),
        ),
    );
    const numbers = messages.map(({ seq }) => seq!);
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index));
  });

  test('events: memes, discussion and alliances cause one event each', async (world) => {
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const block_hash = await world.propose(ada!);
    const live = await world.listen(ada!, ['social', 'memes', 'consensus']);
    const posted = await world.do(meme(ada!, { file: 'Hi', caption: 'A', tags: ['b'] }));
    const talk = await world.do(discuss(ada!, { block_hash, meme_references: [posted.meme_id] }));
    const alliance = await world.do(ally.propose(ada!, { target_ids: [bob!.agentId] }));
    const who = { id: ada!.agentId, personality: 'rational' };
    expect(await live.settled()).toEqual([
      event('meme_posted', {
        meme_id: posted.meme_id,
        creator: who,
        content: {
          ...{ type: 'text', url: `/api/v1/social/memes/${posted.meme_id}/content`, caption: 'A' },
        },
        tags: ['b'],
        timestamp: TIMESTAMP,
      }),
      event('consensus_discussion', {
        block_hash,
        agent: who,
        message: 'Look here.',
        sentiment: 'neutral',
        meme_references: [posted.meme_id],
        timestamp: TIMESTAMP,
      }),
      event('alliance_update', alliance),
    ]);
    expect(talk.block_hash).toBe(block_hash);
  });

  test('events: the second decision of an elector costs reputation', async (world) => {
    const [ada] = await world.joinAll('Ada', 'Bob');
    const block_hash = await world.propose(ada!);
    await world.vote(ada!, block_hash);
    const live = await world.listen(ada!, ALL);
    const answer = await world.send(vote(ada!, { block_hash, decision: 'reject' }));
    expect(answer.status).toBe(409);
    expect(await live.settled()).toEqual([
      event('reputation_update', {
        agent_id: ada!.agentId,
        old_score: 50,
        new_score: 25,
        reason: expect.any(String),
        timestamp: TIMESTAMP,
      }),
    ]);
  });

  test.each([
    ['blocks', ['block_proposal', 'block_validation', 'block_validation']],
    ['consensus', ['block_validation', 'consensus_discussion', 'alliance_update']],
    ['network', ['agent_status', 'network_metrics']],
    ['social', ['meme_posted', 'alliance_update', 'reputation_update']],
    ['memes', ['meme_posted']],
    ['proposals', ['block_proposal']],
    ['outcomes', ['block_status']],
  ])('topics: %s carries %j and nothing else', async (topic, expected) => {
    const world = await begin(start);
    const [ada, bob] = await world.joinAll('Ada', 'Bob');
    const live = await world.listen(ada!, [topic]);
    await world.do(status(bob!, { status: 'active' }), 200);
    await world.do(meme(ada!, { file: 'Hi' }));
    const block_hash = await world.propose(ada!);
    await world.do(discuss(ada!, { block_hash }));
    await world.do(ally.propose(ada!, { target_ids: [bob!.agentId] }));
    await world.vote(ada!, block_hash);
    await world.vote(bob!, block_hash);
    expect(new Set(types(await live.settled()))).toEqual(new Set(expected));
  });
}
