/** The policies majority and veto, and all weights. */
import { expect, test } from 'vitest';
import type { Citizen } from '../../../support/citizens.js';
import { answerOf, newPopulation, type Population } from '../../helpers.js';

const both = ['validator', 'producer'] as const;
const majority = { genesis: { policy: 'majority' as const } };

/** Runs a block with given numbers of electors, approvals and rejections. */
async function poll(population: Population, electors: number, approve: number, reject: number) {
  const voters = await population.joinMany(electors, both);
  const hash = await population.open(voters[0]!);
  await population.votes(voters.slice(0, approve), hash, 'approve');
  await population.votes(voters.slice(approve, approve + reject), hash, 'reject');
  return { hash, voters };
}

test('majority: `needed` is the smallest finalizing weight', async () => {
  const population = await newPopulation(majority);
  const { hash, voters } = await poll(population, 10, 0, 1);
  const needed = async (voter: Citizen, decision: 'approve' | 'reject') =>
    answerOf<'vote'>(await population.vote(voter, hash, decision)).tally.needed;
  expect(await needed(voters[1]!, 'reject')).toBe(3);
  expect(await needed(voters[2]!, 'reject')).toBe(4);
  expect(await needed(voters[3]!, 'approve')).toBe(4);
});

test('veto: a unanimous rejection of a personality of three rejects the block', async () => {
  const population = await newPopulation({ genesis: { policy: 'veto' } });
  const chaotic = await population.joinMany(3, both, { personality: 'chaotic' });
  await population.joinMany(17, both);
  const hash = await population.open(chaotic[0]!);
  await population.votes(chaotic.slice(0, 2), hash, 'reject');
  expect(population.blockStatus(hash)).toBe('voting');
  await population.vote(chaotic[2]!, hash, 'reject');
  expect(population.blockStatus(hash)).toBe('rejected');
});

test('weights: reputation counts whole points, 50 at first and at least 1', async () => {
  const population = await newPopulation({ genesis: { weights: 'reputation', dormant_after: 0 } });
  const [ada, bob] = await population.joinMany(7, both);
  const hashes = [await population.open(ada!), await population.open(bob!)];
  expect(population.network.read.block(hashes[0]!)?.tally.electorate).toBe(350);
  for (const hash of hashes) await population.votes([ada!], hash, 'approve');
  await population.vote(ada!, hashes[0]!, 'reject');
  await population.at(30_001);
  const lower = await population.open(ada!);
  expect(population.network.read.block(lower)?.tally.electorate).toBe(325);
  await population.vote(ada!, hashes[1]!, 'reject');
  await population.at(60_002);
  const lowest = await population.open(ada!);
  expect(population.network.read.block(lowest)?.tally.electorate).toBe(301);
});

test('weights: alliance_bonus adds two for each allied elector, at most ten', async () => {
  const population = await newPopulation({ genesis: { weights: 'alliance_bonus' } });
  const voters = await population.joinMany(9, both);
  const weight = async (by: Citizen) =>
    answerOf<'propose'>(await population.propose(by)).electorate;
  expect(await weight(voters[0]!)).toBe(900);
  await population.allied(voters[0]!, [voters[1]!, voters[2]!]);
  expect(await weight(voters[1]!)).toBe(900 + 3 * 4);
  await population.allied(voters[0]!, voters.slice(2, 8));
  // The first agent has 7 allies (10 points at most), the second still 2, the third 7, and five
  // more agents 6 each.
  expect(await weight(voters[2]!)).toBe(900 + 10 + 4 + 10 + 5 * 10);
});
