/** How blocks end: thresholds, deadlines to the millisecond, siblings; and what the end changes. */
import { openLmdbStore, SCHEMA_VERSION, storedLines, tables } from 'folkmoot';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/fixture.js';
import { answerOf, foundTown, instant, START_MS, word } from '../../helpers.js';

const both = ['validator', 'producer'] as const;

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
  [7, 5],
  [10, 7],
  [100, 67],
])('bft: of %i electors, %i approvals finalize and fewer do not', async (electors, needed) => {
  const town = await foundTown();
  const voters = await town.joinMany(electors, both);
  const hash = await town.open(voters[0]!);
  await town.votes(voters.slice(0, needed - 1), hash, 'approve');
  expect(town.blockStatus(hash)).toBe('voting');
  const answer = answerOf<'vote'>(await town.vote(voters[needed - 1]!, hash));
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
])('bft: of %i electors, %i rejections reject and fewer do not', async (electors, needed) => {
  const town = await foundTown();
  const voters = await town.joinMany(electors, both);
  const hash = await town.open(voters[0]!);
  await town.votes(voters.slice(0, needed - 1), hash, 'reject');
  expect(town.blockStatus(hash)).toBe('voting');
  const answer = answerOf<'vote'>(await town.vote(voters[needed - 1]!, hash, 'reject'));
  expect(answer.block_status).toBe('rejected');
});

test('block: finalization moves the head and the height', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const hash = await town.open(ada);
  await town.vote(ada, hash);
  expect(town.network.read.networkState()).toMatchObject({ block_height: 1, head_hash: hash });
  expect(answerOf<'propose'>(await town.propose(ada))).toMatchObject({
    height: 2,
    parent_hash: hash,
  });
});

test('block: a rejected or expired one leaves the head where it is', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const before = town.network.read.networkState();
  await town.vote(ada, await town.open(ada), 'reject');
  await town.open(ada);
  await town.wait(30_001);
  const { block_height, head_hash } = town.network.read.networkState();
  expect({ block_height, head_hash }).toEqual({
    block_height: before.block_height,
    head_hash: before.head_hash,
  });
});

test('block: finalization orphans its open siblings', async () => {
  const town = await foundTown();
  const voters = await town.joinMany(4, both);
  const hashes: string[] = [];
  for (const voter of voters) hashes.push(await town.open(voter));
  await town.votes(voters.slice(0, 3), hashes[1]!, 'approve');
  expect(hashes.map((hash) => town.blockStatus(hash))).toEqual([
    'orphaned',
    'finalized',
    'orphaned',
    'orphaned',
  ]);
  expect(word(await town.vote(voters[0]!, hashes[0]!))).toBe('VOTING_CLOSED');
});

test('block: rejection leaves its siblings open', async () => {
  const town = await foundTown();
  const voters = await town.joinMany(4, both);
  const hashes = [await town.open(voters[0]!), await town.open(voters[1]!)];
  await town.votes(voters.slice(0, 2), hashes[0]!, 'reject');
  expect(hashes.map((hash) => town.blockStatus(hash))).toEqual(['rejected', 'voting']);
});

test('deadline: at the very instant of it the block is still open', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const hash = await town.open(ada);
  await town.at(30_000);
  expect(town.blockStatus(hash)).toBe('voting');
  expect(answerOf<'vote'>(await town.vote(ada, hash)).block_status).toBe('finalized');
});

test('deadline: one millisecond later the block has expired', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const hash = await town.open(ada);
  await town.at(30_001);
  expect(town.blockStatus(hash)).toBe('expired');
  expect(word(await town.vote(ada, hash))).toBe('VOTING_CLOSED');
});

test('deadline: fires before a message that comes later, without anyone asking', async () => {
  const town = await foundTown();
  const [ada, bob] = [await town.join(both), await town.join(both)];
  const hash = await town.open(ada);
  const late = town.proposal(bob);
  const { seq } = town.network.read.position;
  await town.at(30_001);
  await town.submit(late);
  expect(town.blockStatus(hash)).toBe('expired');
  expect(town.network.read.position.seq).toBe(seq + 2);
});

test('deadline: its tick is logged one millisecond later, whenever it is noticed', async () => {
  const path = temporaryFolder();
  const town = await foundTown({ path });
  const ada = await town.join(both);
  await town.open(ada);
  await town.at(500_000);
  await town.network.close();
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

test('deadline: what a tick says carries the time of its entry', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  const hash = await town.open(ada);
  const mark = town.mark();
  await town.at(500_000);
  const timestamp = instant(30_001);
  expect(town.told('block_status', mark)).toMatchObject([{ block_hash: hash, timestamp }]);
  expect(town.told('network_metrics', mark)).toMatchObject([{ timestamp }]);
  expect(town.network.read.block(hash)?.closed_at).toBe(timestamp);
});

test('deadline: the voting period is a parameter of the network', async () => {
  const town = await foundTown({ genesis: { voting_period_ms: 1 } });
  const ada = await town.join(both);
  const hash = await town.open(ada);
  await town.at(1);
  expect(town.blockStatus(hash)).toBe('voting');
  await town.at(2);
  expect(town.blockStatus(hash)).toBe('expired');
});

test('deadline: blocks that were opened at different times end at different times', async () => {
  const town = await foundTown();
  const [ada, bob] = [await town.join(both), await town.join(both)];
  const first = await town.open(ada);
  await town.wait(10);
  const second = await town.open(bob);
  await town.at(30_001);
  expect([first, second].map((hash) => town.blockStatus(hash))).toEqual(['expired', 'voting']);
  expect(town.network.nextDeadline()).toBe(START_MS + 30_010);
  await town.at(30_011);
  expect(town.blockStatus(second)).toBe('expired');
});
