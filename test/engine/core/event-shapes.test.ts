/** Events: exactly what each says; what was absent comes out as "", [] or an empty object. */
import { type Event, type EventType, GENESIS_HASH } from 'folkmoot';
import { expect, test } from 'vitest';
import { answerOf, type Citizen, foundTown, instant, type Town } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** A town with one block in voting. */
async function withBlock(electors: number) {
  const town = await foundTown();
  const voters = await town.joinMany(electors, both, { personality: 'lawful' });
  const hash = await town.open(voters[0]!);
  return { town, hash, ada: voters[0]!, bob: voters[1]! };
}

const creatorOf = ({ id }: Citizen) => ({ id, personality: 'lawful' });

/** The one event of a type that an act is followed by. */
async function eventOf(town: Town, type: EventType, act: () => Promise<unknown>): Promise<Event> {
  const mark = town.mark();
  await act();
  const found = town.since(mark).filter((event) => event.type === type);
  expect(found).toHaveLength(1);
  return found[0]!;
}

test('events: agent_status says what was asked, and "" for what was not', async () => {
  const town = await foundTown();
  const ada = await town.join();
  const full = { reason: 'upgrade', expected_duration: 'PT1H' };
  const said = await eventOf(town, 'agent_status', () => town.status(ada, 'maintenance', full));
  const timestamp = instant(0);
  const told = { agent_id: ada.id, status: 'maintenance', ...full, timestamp };
  expect(said).toEqual({ type: 'agent_status', seq: 2, data: told });
  const bare = await eventOf(town, 'agent_status', () => town.status(ada, 'active'));
  const absent = { status: 'active', reason: '', expected_duration: '' };
  expect(bare.data).toEqual({ ...told, ...absent });
});

test('events: block_proposal tells hashes and types of its transactions', async () => {
  const town = await foundTown();
  const [ada, stranger] = [await town.join(both), town.key()];
  const transactions = [
    town.transaction(ada, '{"type":"transfer"}'),
    town.transaction(stranger, 'plain', true),
  ];
  const meme_content = { type: 'text', content: 'gm', tags: ['GM'] };
  await town.wait(3);
  const said = await eventOf(town, 'block_proposal', () =>
    town.open(ada, { transactions, meme_content }),
  );
  expect(said.data).toEqual({
    block_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    parent_hash: GENESIS_HASH,
    height: 1,
    producer: { id: ada.id, public_key: ada.publicKey },
    transactions: [
      { hash: transactions[0]!.hash, type: 'transfer' },
      { hash: transactions[1]!.hash, type: 'custom' },
    ],
    meme_content: { type: 'text', content: 'gm' },
    timestamp: instant(3),
  });
});

test.each([
  ['transfer', '{"type":"transfer"}'],
  ['a_b', ' {"x":1,"type":"a_b"}'],
  ['custom', '{"type":"Transfer"}'],
  ['custom', '{"type":""}'],
  ['custom', '{"type":1}'],
  ['custom', `{"type":"${'a'.repeat(33)}"}`],
  ['custom', '["type"]'],
  ['custom', '"type"'],
  ['custom', 'null'],
  ['custom', '{"type":"transfer"'],
  ['custom', '{"__proto__":{"type":"transfer"}}'],
])('events: the type of a transaction is %s for %s', async (type, data) => {
  const town = await foundTown();
  const ada = await town.join(both);
  await town.open(ada, { transactions: [town.transaction(ada, data)] });
  expect(town.told('block_proposal')[0]?.transactions[0]?.type).toBe(type);
});

test('events: block_proposal has an empty object where there is no meme', async () => {
  const town = await foundTown();
  await town.open(await town.join(both));
  expect(town.told('block_proposal')[0]?.meme_content).toEqual({});
});

test('events: block_validation says who decided what, and "" without a reason', async () => {
  const { town, ada, bob, hash } = await withBlock(4);
  await town.vote(ada, hash, 'reject', { reason: 'too early' });
  await town.vote(bob, hash);
  const said = { block_hash: hash, timestamp: instant(0) };
  expect(town.told('block_validation')).toEqual([
    { ...said, validator: creatorOf(ada), decision: 'reject', reason: 'too early' },
    { ...said, validator: creatorOf(bob), decision: 'approve', reason: '' },
  ]);
});

test('events: consensus_discussion says what was said, and [] without references', async () => {
  const { town, ada, hash } = await withBlock(4);
  const meme = await town.meme(ada, 'gm');
  const words = { block_hash: hash, message: 'why?', sentiment: 'negative' as const };
  await town.discuss(ada, { ...words, meme_references: [meme] });
  await town.discuss(ada, words);
  const said = { ...words, agent: creatorOf(ada), timestamp: instant(0) };
  expect(town.told('consensus_discussion')).toEqual([
    { ...said, meme_references: [meme] },
    { ...said, meme_references: [] },
  ]);
});

test('events: meme_posted says where the meme is', async () => {
  const { town, ada } = await withBlock(1);
  const meme_id = await town.meme(ada, 'gm');
  const url = `/api/v1/social/memes/${meme_id}/content`;
  expect(town.told('meme_posted')).toEqual([
    {
      meme_id,
      creator: creatorOf(ada),
      content: { type: 'text', url, caption: 'gm' },
      tags: [],
      timestamp: instant(0),
    },
  ]);
});

test('events: alliance_update says who is in it', async () => {
  const { town, ada, bob } = await withBlock(2);
  const alliance_id = await town.allied(ada, [bob], { purpose: 'peace', duration: 'P1D' });
  expect(town.told('alliance_update').at(-1)).toEqual({
    alliance_id,
    members: [
      { id: ada.id, role: 'founder' },
      { id: bob.id, role: 'member' },
    ],
    purpose: 'peace',
    duration: 'P1D',
    status: 'active',
    timestamp: instant(0),
  });
});

test('events: block_status and network_metrics give the figures of the end', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(4, both);
  const transactions = ['1', '2', '3'].map((data) => town.transaction(ada!, data));
  const hash = await town.open(ada!, { transactions });
  await town.open(bob!, { transactions: transactions.slice(1) });
  await town.wait(9);
  await town.vote(cem!, hash, 'reject');
  const mark = town.mark();
  answerOf(await town.vote(ada!, hash, 'reject'));
  const timestamp = instant(9);
  expect(town.told('block_status', mark)).toEqual([
    {
      block_hash: hash,
      parent_hash: GENESIS_HASH,
      height: 1,
      status: 'rejected',
      approve: 0,
      reject: 2,
      electorate: 4,
      transactions: 3,
      timestamp,
    },
  ]);
  expect(town.told('network_metrics', mark)).toEqual([
    {
      block_height: 0,
      tps: 0,
      active_validators: 4,
      active_producers: 4,
      pending_transactions: 2,
      head_hash: GENESIS_HASH,
      timestamp,
    },
  ]);
});

test('events: reputation_update gives the scores on the scale of the interface', async () => {
  const { town, ada, hash } = await withBlock(4);
  await town.vote(ada, hash);
  await town.vote(ada, hash, 'reject');
  expect(town.told('reputation_update')).toEqual([
    {
      agent_id: ada.id,
      old_score: 50,
      new_score: 25,
      reason: expect.any(String),
      timestamp: instant(0),
    },
  ]);
});
