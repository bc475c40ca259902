/** Events: types and order for each cause, and numbers. */
import { expect, test } from 'vitest';
import { newPopulation } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** Creates a population with one open block. */
async function withBlock(electors: number) {
  const population = await newPopulation();
  const voters = await population.joinMany(electors, both, { personality: 'lawful' });
  const hash = await population.open(voters[0]!);
  return { population, voters, hash, ada: voters[0]!, bob: voters[1]! };
}

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

test('events: are numbered from 1 without gaps', async () => {
  const { population, voters, hash } = await withBlock(4);
  await population.votes(voters, hash, 'approve');
  await population.at(100_000);
  const numbers = population.since(0).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
