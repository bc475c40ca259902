/** Events: exact data. Absent values are "", [] or an empty object. */
import { type Event, type EventType, GENESIS_HASH } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Citizen, instant } from '../../support/citizens.js';
import { answerOf, newPopulation, type Population } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** Creates a population with one open block. */
async function withBlock(electors: number) {
  const population = await newPopulation();
  const voters = await population.joinMany(electors, both, { personality: 'lawful' });
  const hash = await population.open(voters[0]!);
  return { population, hash, ada: voters[0]!, bob: voters[1]! };
}

const creatorOf = ({ id }: Citizen) => ({ id, personality: 'lawful' });

/** Returns the only event with a given type that an action emits. */
async function eventOf(
  population: Population,
  type: EventType,
  act: () => Promise<unknown>,
): Promise<Event> {
  const mark = population.mark();
  await act();
  const found = population.since(mark).filter((event) => event.type === type);
  expect(found).toHaveLength(1);
  return found[0]!;
}

test('events: agent_status has the requested values, and "" for absent ones', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const full = { reason: 'upgrade', expected_duration: 'PT1H' };
  const said = await eventOf(population, 'agent_status', () =>
    population.status(ada, 'maintenance', full),
  );
  const timestamp = instant(0);
  const told = { agent_id: ada.id, status: 'maintenance', ...full, timestamp };
  expect(said).toEqual({ type: 'agent_status', seq: 2, data: told });
  const bare = await eventOf(population, 'agent_status', () => population.status(ada, 'active'));
  const absent = { status: 'active', reason: '', expected_duration: '' };
  expect(bare.data).toEqual({ ...told, ...absent });
});

test('events: block_proposal has hashes and types of its transactions', async () => {
  const population = await newPopulation();
  const [ada, stranger] = [await population.join(both), population.key()];
  const transactions = [
    population.transaction(ada, '{"type":"transfer"}'),
    population.transaction(stranger, 'plain', true),
  ];
  const meme_content = { type: 'text', content: 'gm', tags: ['GM'] };
  await population.wait(3);
  const said = await eventOf(population, 'block_proposal', () =>
    population.open(ada, { transactions, meme_content }),
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
])('events: gives a transaction the type %s for %s', async (type, data) => {
  const population = await newPopulation();
  const ada = await population.join(both);
  await population.open(ada, { transactions: [population.transaction(ada, data)] });
  expect(population.told('block_proposal')[0]?.transactions[0]?.type).toBe(type);
});

test('events: block_proposal has an empty object without a meme', async () => {
  const population = await newPopulation();
  await population.open(await population.join(both));
  expect(population.told('block_proposal')[0]?.meme_content).toEqual({});
});

test('events: block_validation has validator and decision, and "" without a reason', async () => {
  const { population, ada, bob, hash } = await withBlock(4);
  await population.vote(ada, hash, 'reject', { reason: 'too early' });
  await population.vote(bob, hash);
  const said = { block_hash: hash, timestamp: instant(0) };
  expect(population.told('block_validation')).toEqual([
    { ...said, validator: creatorOf(ada), decision: 'reject', reason: 'too early' },
    { ...said, validator: creatorOf(bob), decision: 'approve', reason: '' },
  ]);
});

test('events: consensus_discussion has the message, and [] without references', async () => {
  const { population, ada, hash } = await withBlock(4);
  const meme = await population.meme(ada, 'gm');
  const words = { block_hash: hash, message: 'why?', sentiment: 'negative' as const };
  await population.discuss(ada, { ...words, meme_references: [meme] });
  await population.discuss(ada, words);
  const said = { ...words, agent: creatorOf(ada), timestamp: instant(0) };
  expect(population.told('consensus_discussion')).toEqual([
    { ...said, meme_references: [meme] },
    { ...said, meme_references: [] },
  ]);
});

test('events: meme_posted has the URL of the meme', async () => {
  const { population, ada } = await withBlock(1);
  const meme_id = await population.meme(ada, 'gm');
  const url = `/api/v1/social/memes/${meme_id}/content`;
  expect(population.told('meme_posted')).toEqual([
    {
      meme_id,
      creator: creatorOf(ada),
      content: { type: 'text', url, caption: 'gm' },
      tags: [],
      timestamp: instant(0),
    },
  ]);
});

test('events: alliance_update has the members', async () => {
  const { population, ada, bob } = await withBlock(2);
  const alliance_id = await population.allied(ada, [bob], { purpose: 'peace', duration: 'P1D' });
  expect(population.told('alliance_update').at(-1)).toEqual({
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

test('events: block_status and network_metrics have the final figures', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(4, both);
  const transactions = ['1', '2', '3'].map((data) => population.transaction(ada!, data));
  const hash = await population.open(ada!, { transactions });
  await population.open(bob!, { transactions: transactions.slice(1) });
  await population.wait(9);
  await population.vote(cem!, hash, 'reject');
  const mark = population.mark();
  answerOf(await population.vote(ada!, hash, 'reject'));
  const timestamp = instant(9);
  expect(population.told('block_status', mark)).toEqual([
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
  expect(population.told('network_metrics', mark)).toEqual([
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

test('events: reputation_update has scores from 0 to 100', async () => {
  const { population, ada, hash } = await withBlock(4);
  await population.vote(ada, hash);
  await population.vote(ada, hash, 'reject');
  expect(population.told('reputation_update')).toEqual([
    {
      agent_id: ada.id,
      old_score: 50,
      new_score: 25,
      reason: expect.any(String),
      timestamp: instant(0),
    },
  ]);
});
