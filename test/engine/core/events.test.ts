/** Events: types and order for each cause, and numbers. */
import type { EventType } from 'folkmoot';
import { expect, test } from 'vitest';
import { newPopulation, type Population } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** Returns the types of the events that an action emits. */
async function typesAfter(
  population: Population,
  act: () => Promise<unknown>,
): Promise<EventType[]> {
  const mark = population.mark();
  await act();
  return population.since(mark).map(({ type }) => type);
}

/** Creates a population with one open block. */
async function withBlock(electors: number) {
  const population = await newPopulation();
  const voters = await population.joinMany(electors, both, { personality: 'lawful' });
  const hash = await population.open(voters[0]!);
  return { population, voters, hash, ada: voters[0]!, bob: voters[1]! };
}

test('events: a registration emits agent_status', async () => {
  const population = await newPopulation();
  expect(await typesAfter(population, () => population.join())).toEqual(['agent_status']);
});

test('events: a status update emits agent_status, also for the same status', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  expect(await typesAfter(population, () => population.status(ada, 'inactive'))).toEqual([
    'agent_status',
  ]);
  expect(await typesAfter(population, () => population.status(ada, 'inactive'))).toEqual([
    'agent_status',
  ]);
});

test('events: a proposal emits block_proposal', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  expect(await typesAfter(population, () => population.open(ada))).toEqual(['block_proposal']);
});

test('events: a vote that does not decide emits block_validation', async () => {
  const { population, ada, hash } = await withBlock(4);
  expect(await typesAfter(population, () => population.vote(ada, hash))).toEqual([
    'block_validation',
  ]);
});

test('events: a finalizing vote emits all events that close the block', async () => {
  const population = await newPopulation();
  const voters = await population.joinMany(4, both);
  const hashes: string[] = [];
  for (const voter of voters) hashes.push(await population.open(voter));
  await population.votes(voters.slice(0, 2), hashes[1]!, 'approve');
  const mark = population.mark();
  await population.vote(voters[2]!, hashes[1]!);
  const events = population.since(mark);
  expect(events.map(({ type }) => type)).toEqual([
    'block_validation',
    ...Array(4).fill('block_status'),
    'network_metrics',
    ...Array(3).fill('reputation_update'),
  ]);
  const siblings = hashes.filter((_, index) => index !== 1).sort();
  const told = population.told('block_status', mark).map((data) => [data.block_hash, data.status]);
  expect(told).toEqual([[hashes[1], 'finalized'], ...siblings.map((hash) => [hash, 'orphaned'])]);
  const ids = voters.slice(0, 3).map(({ id }) => id);
  const updates = population.told('reputation_update', mark).map(({ agent_id }) => agent_id);
  expect(updates).toEqual(ids.sort());
});

test('events: a rejecting vote emits the closing events of its block only', async () => {
  const { population, ada, bob, hash } = await withBlock(4);
  await population.vote(ada, hash, 'reject');
  expect(await typesAfter(population, () => population.vote(bob, hash, 'reject'))).toEqual([
    'block_validation',
    'block_status',
    'network_metrics',
    'reputation_update',
    'reputation_update',
  ]);
});

test('events: a deadline emits block_status and network_metrics', async () => {
  const { population, ada, hash } = await withBlock(4);
  await population.vote(ada, hash);
  expect(await typesAfter(population, () => population.at(30_001))).toEqual([
    'block_status',
    'network_metrics',
  ]);
});

test('events: a deciding deadline emits the events of a deciding vote', async () => {
  const population = await newPopulation({ genesis: { policy: 'majority' } });
  const voters = await population.joinMany(4, both);
  const hash = await population.open(voters[0]!);
  await population.wait(10);
  const sibling = await population.open(voters[3]!);
  await population.votes(voters.slice(0, 2), hash, 'approve');
  const mark = population.mark();
  await population.at(30_001);
  expect(population.since(mark).map(({ type }) => type)).toEqual([
    'block_status',
    'block_status',
    'network_metrics',
    'reputation_update',
    'reputation_update',
  ]);
  expect(population.told('block_status', mark).map(({ block_hash }) => block_hash)).toEqual([
    hash,
    sibling,
  ]);
});

test('events: the event for the largest proposal fits in 256 KiB', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const type = 'a'.repeat(32);
  const transactions = Array.from({ length: 1_000 }, (_, index) =>
    population.transaction(ada, JSON.stringify({ type, index })),
  );
  const meme_content = { type: 'text', content: '🎉'.repeat(2_048), tags: [] };
  await population.open(ada, { transactions, meme_content });
  const event = population.since(0).at(-1)!;
  expect(event.type).toBe('block_proposal');
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(256 * 1024);
});

test('events: an equivocation emits reputation_update, and a second one nothing', async () => {
  const { population, ada, hash } = await withBlock(4);
  await population.vote(ada, hash);
  expect(await typesAfter(population, () => population.vote(ada, hash, 'reject'))).toEqual([
    'reputation_update',
  ]);
  expect(await typesAfter(population, () => population.vote(ada, hash, 'reject'))).toEqual([]);
});

test('events: memes, discussion and alliances emit one event each', async () => {
  const { population, ada, bob, hash } = await withBlock(4);
  expect(await typesAfter(population, () => population.meme(ada, 'gm'))).toEqual(['meme_posted']);
  const discuss = () => population.discuss(ada, { block_hash: hash });
  expect(await typesAfter(population, discuss)).toEqual(['consensus_discussion']);
  expect(await typesAfter(population, () => population.allied(ada, [bob]))).toEqual([
    'alliance_update',
    'alliance_update',
  ]);
});

test('events: are numbered from 1 without gaps', async () => {
  const { population, voters, hash } = await withBlock(4);
  await population.votes(voters, hash, 'approve');
  await population.at(100_000);
  const numbers = population.since(0).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
