/** Closing blocks: thresholds, exact deadlines, siblings and effects. */
import { openLmdbStore, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant, START_MS } from '../../../support/citizens.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { answerOf, newPopulation, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
  [7, 5],
  [10, 7],
  [100, 67],
])('bft: with %i electors, %i approvals finalize and fewer do not', async (electors, needed) => {
  const population = await newPopulation();
  const voters = await population.joinMany(electors, both);
  const hash = await population.open(voters[0]!);
  await population.votes(voters.slice(0, needed - 1), hash, 'approve');
  expect(population.blockStatus(hash)).toBe('voting');
  const answer = answerOf<'vote'>(await population.vote(voters[needed - 1]!, hash));
  expect(answer.block_status).toBe('finalized');
  expect(answer.tally).toEqual({ approve: needed, reject: 0, electorate: electors, needed });
});

test.each([
  [1, 1],
  [3, 1],
  [4, 2],
  [7, 3],
  [10, 4],
  [100, 34],
])('bft: with %i electors, %i rejections reject and fewer do not', async (electors, needed) => {
  const population = await newPopulation();
  const voters = await population.joinMany(electors, both);
  const hash = await population.open(voters[0]!);
  await population.votes(voters.slice(0, needed - 1), hash, 'reject');
  expect(population.blockStatus(hash)).toBe('voting');
  const answer = answerOf<'vote'>(await population.vote(voters[needed - 1]!, hash, 'reject'));
  expect(answer.block_status).toBe('rejected');
});

test('block: finalization moves the head and the height', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  expect(population.network.read.networkState()).toMatchObject({
    block_height: 1,
    head_hash: hash,
  });
  expect(answerOf<'propose'>(await population.propose(ada))).toMatchObject({
    height: 2,
    parent_hash: hash,
  });
});

test('block: a rejected or expired block keeps the head', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const before = population.network.read.networkState();
  await population.vote(ada, await population.open(ada), 'reject');
  await population.open(ada);
  await population.wait(30_001);
  const { block_height, head_hash } = population.network.read.networkState();
  expect({ block_height, head_hash }).toEqual({
    block_height: before.block_height,
    head_hash: before.head_hash,
  });
});

test('block: finalization orphans its open siblings', async () => {
  const population = await newPopulation();
  const voters = await population.joinMany(4, both);
  const hashes: string[] = [];
  for (const voter of voters) hashes.push(await population.open(voter));
  await population.votes(voters.slice(0, 3), hashes[1]!, 'approve');
  expect(hashes.map((hash) => population.blockStatus(hash))).toEqual([
    'orphaned',
    'finalized',
    'orphaned',
    'orphaned',
  ]);
  expect(word(await population.vote(voters[0]!, hashes[0]!))).toBe('VOTING_CLOSED');
});

test('block: rejection keeps siblings open', async () => {
  const population = await newPopulation();
  const voters = await population.joinMany(4, both);
  const hashes = [await population.open(voters[0]!), await population.open(voters[1]!)];
  await population.votes(voters.slice(0, 2), hashes[0]!, 'reject');
  expect(hashes.map((hash) => population.blockStatus(hash))).toEqual(['rejected', 'voting']);
});

test('deadline: the block is still open at its deadline', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.at(30_000);
  expect(population.blockStatus(hash)).toBe('voting');
  expect(answerOf<'vote'>(await population.vote(ada, hash)).block_status).toBe('finalized');
});

test('deadline: the block has expired one millisecond later', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.at(30_001);
  expect(population.blockStatus(hash)).toBe('expired');
  expect(word(await population.vote(ada, hash))).toBe('VOTING_CLOSED');
});

test('deadline: fires before a later request', async () => {
  const population = await newPopulation();
  const [ada, bob] = [await population.join(both), await population.join(both)];
  const hash = await population.open(ada);
  const late = population.proposal(bob);
  const { seq } = population.network.read.position;
  await population.at(30_001);
  await population.submit(late);
  expect(population.blockStatus(hash)).toBe('expired');
  expect(population.network.read.position.seq).toBe(seq + 2);
});

test('deadline: logs the tick one millisecond after the deadline', async () => {
  const path = temporaryFolder();
  const population = await newPopulation({ path });
  const ada = await population.join(both);
  await population.open(ada);
  await population.at(500_000);
  await population.network.close();
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  const entries = [...storedLines(store, 0, 99)].map(({ entry }) => [entry.kind, entry.at]);
  await store.close();
  expect(entries).toEqual([
    ['genesis', START_MS],
    ['register', START_MS],
    ['propose', START_MS],
    ['tick', START_MS + 30_001],
  ]);
});

test('deadline: events of a tick have the time of its entry', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  const hash = await population.open(ada);
  const mark = population.mark();
  await population.at(500_000);
  const timestamp = instant(30_001);
  expect(population.told('block_status', mark)).toMatchObject([{ block_hash: hash, timestamp }]);
  expect(population.told('network_metrics', mark)).toMatchObject([{ timestamp }]);
  expect(population.network.read.block(hash)?.closed_at).toBe(timestamp);
});

test('deadline: follows the voting period of genesis', async () => {
  const population = await newPopulation({ genesis: { voting_period_ms: 1 } });
  const ada = await population.join(both);
  const hash = await population.open(ada);
  await population.at(1);
  expect(population.blockStatus(hash)).toBe('voting');
  await population.at(2);
  expect(population.blockStatus(hash)).toBe('expired');
});

test('deadline: blocks proposed at different times end at different times', async () => {
  const population = await newPopulation();
  const [ada, bob] = [await population.join(both), await population.join(both)];
  const first = await population.open(ada);
  await population.wait(10);
  const second = await population.open(bob);
  await population.at(30_001);
  expect([first, second].map((hash) => population.blockStatus(hash))).toEqual([
    'expired',
    'voting',
  ]);
  expect(population.network.nextDeadline()).toBe(START_MS + 30_010);
  await population.at(30_011);
  expect(population.blockStatus(second)).toBe('expired');
});
