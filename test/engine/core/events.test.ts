/** Events: which come in which order for each cause, and how they are numbered. */
import type { EventType } from 'folkmoot';
import { expect, test } from 'vitest';
import { foundTown, type Town } from '../helpers.js';

const both = ['validator', 'producer'] as const;

/** The types of what an act is followed by. */
async function typesAfter(town: Town, act: () => Promise<unknown>): Promise<EventType[]> {
  const mark = town.mark();
  await act();
  return town.since(mark).map(({ type }) => type);
}

/** A town with one block in voting. */
async function withBlock(electors: number) {
  const town = await foundTown();
  const voters = await town.joinMany(electors, both, { personality: 'lawful' });
  const hash = await town.open(voters[0]!);
  return { town, voters, hash, ada: voters[0]!, bob: voters[1]! };
}

test('events: registration is followed by agent_status', async () => {
  const town = await foundTown();
  expect(await typesAfter(town, () => town.join())).toEqual(['agent_status']);
});

test('events: a status update is followed by agent_status, the same status too', async () => {
  const town = await foundTown();
  const ada = await town.join();
  expect(await typesAfter(town, () => town.status(ada, 'inactive'))).toEqual(['agent_status']);
  expect(await typesAfter(town, () => town.status(ada, 'inactive'))).toEqual(['agent_status']);
});

test('events: a proposal is followed by block_proposal', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  expect(await typesAfter(town, () => town.open(ada))).toEqual(['block_proposal']);
});

test('events: a vote that decides nothing is followed by block_validation', async () => {
  const { town, ada, hash } = await withBlock(4);
  expect(await typesAfter(town, () => town.vote(ada, hash))).toEqual(['block_validation']);
});

test('events: a vote that finalizes is followed by the whole row', async () => {
  const town = await foundTown();
  const voters = await town.joinMany(4, both);
  const hashes: string[] = [];
  for (const voter of voters) hashes.push(await town.open(voter));
  await town.votes(voters.slice(0, 2), hashes[1]!, 'approve');
  const mark = town.mark();
  await town.vote(voters[2]!, hashes[1]!);
  const events = town.since(mark);
  expect(events.map(({ type }) => type)).toEqual([
    'block_validation',
    ...Array(4).fill('block_status'),
    'network_metrics',
    ...Array(3).fill('reputation_update'),
  ]);
  const siblings = hashes.filter((_, index) => index !== 1).sort();
  const told = town.told('block_status', mark).map((data) => [data.block_hash, data.status]);
  expect(told).toEqual([[hashes[1], 'finalized'], ...siblings.map((hash) => [hash, 'orphaned'])]);
  const ids = voters.slice(0, 3).map(({ id }) => id);
  const updates = town.told('reputation_update', mark).map(({ agent_id }) => agent_id);
  expect(updates).toEqual(ids.sort());
});

test('events: a vote that rejects is followed by the row without siblings', async () => {
  const { town, ada, bob, hash } = await withBlock(4);
  await town.vote(ada, hash, 'reject');
  expect(await typesAfter(town, () => town.vote(bob, hash, 'reject'))).toEqual([
    'block_validation',
    'block_status',
    'network_metrics',
    'reputation_update',
    'reputation_update',
  ]);
});

test('events: a deadline is followed by block_status and network_metrics', async () => {
  const { town, ada, hash } = await withBlock(4);
  await town.vote(ada, hash);
  expect(await typesAfter(town, () => town.at(30_001))).toEqual([
    'block_status',
    'network_metrics',
  ]);
});

test('events: a deadline that decides is followed by what a deciding vote is', async () => {
  const town = await foundTown({ genesis: { policy: 'majority' } });
  const voters = await town.joinMany(4, both);
  const hash = await town.open(voters[0]!);
  await town.wait(10);
  const sibling = await town.open(voters[3]!);
  await town.votes(voters.slice(0, 2), hash, 'approve');
  const mark = town.mark();
  await town.at(30_001);
  expect(town.since(mark).map(({ type }) => type)).toEqual([
    'block_status',
    'block_status',
    'network_metrics',
    'reputation_update',
    'reputation_update',
  ]);
  expect(town.told('block_status', mark).map(({ block_hash }) => block_hash)).toEqual([
    hash,
    sibling,
  ]);
});

test('events: the largest proposal fits into 256 KiB', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const type = 'a'.repeat(32);
  const transactions = Array.from({ length: 1_000 }, (_, index) =>
    town.transaction(ada, JSON.stringify({ type, index })),
  );
  const meme_content = { type: 'text', content: '🎉'.repeat(2_048), tags: [] };
  await town.open(ada, { transactions, meme_content });
  const event = town.since(0).at(-1)!;
  expect(event.type).toBe('block_proposal');
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThanOrEqual(256 * 1024);
});

test('events: equivocation is followed by reputation_update, a second one by nothing', async () => {
  const { town, ada, hash } = await withBlock(4);
  await town.vote(ada, hash);
  expect(await typesAfter(town, () => town.vote(ada, hash, 'reject'))).toEqual([
    'reputation_update',
  ]);
  expect(await typesAfter(town, () => town.vote(ada, hash, 'reject'))).toEqual([]);
});

test('events: memes, discussion and alliances are followed by one event each', async () => {
  const { town, ada, bob, hash } = await withBlock(4);
  expect(await typesAfter(town, () => town.meme(ada, 'gm'))).toEqual(['meme_posted']);
  const discuss = () => town.discuss(ada, { block_hash: hash });
  expect(await typesAfter(town, discuss)).toEqual(['consensus_discussion']);
  expect(await typesAfter(town, () => town.allied(ada, [bob]))).toEqual([
    'alliance_update',
    'alliance_update',
  ]);
});

test('events: are numbered from 1 without gaps', async () => {
  const { town, voters, hash } = await withBlock(4);
  await town.votes(voters, hash, 'approve');
  await town.at(100_000);
  const numbers = town.since(0).map(({ seq }) => seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
