/** Events: exact data. Absent values are "", [] or an empty object. */
import { type Event, type EventType, GENESIS_HASH } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant } from '../../support/citizens.js';
import { answerOf, newPopulation, type Population } from '../helpers.js';

const both = ['validator', 'producer'] as const;

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
