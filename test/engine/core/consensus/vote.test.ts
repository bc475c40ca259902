/** Votes: permission, order of checks, duplicates and equivocation. */
import { composeVote } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant, paperSignatory } from '../../../support/citizens.js';
import { answerOf, expectRefused, newPopulation, refusalOf, word } from '../../helpers.js';

const nowhere = 'f'.repeat(64);

test('vote: is counted, and returns the tally', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.wait(10);
  expect(await population.vote(bob!, hash, 'reject')).toEqual({
    result: 'accepted',
    data: {
      block_hash: hash,
      agent_id: bob!.id,
      decision: 'reject',
      block_status: 'voting',
      tally: { approve: 0, reject: 1, electorate: 4, needed: 3 },
      timestamp: instant(10),
    },
  });
});

test('vote: accepts the producer on its block', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const answer = answerOf<'vote'>(await population.vote(ada, await population.open(ada)));
  expect(answer.block_status).toBe('finalized');
});

test('vote: checks the key before the block', async () => {
  const population = await newPopulation();
  expectRefused(await population.vote(paperSignatory(99), nowhere), 'UNKNOWN_KEY');
});

test('vote: checks the block before the capability', async () => {
  const population = await newPopulation();
  const ada = await population.join(['producer']);
  expectRefused(await population.vote(ada, nowhere), 'UNKNOWN_BLOCK', { pointer: '/block_hash' });
});

test('vote: checks the capability before the electorate', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  const late = await population.join(['producer']);
  expectRefused(await population.vote(late, hash), 'NOT_VALIDATOR');
});

test('vote: checks the electorate before a closed block', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  const late = await population.join();
  await population.vote(ada, hash);
  expectRefused(await population.vote(late, hash), 'NOT_IN_ELECTORATE');
});

test('vote: checks a conflicting vote before a closed block and before the status', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  await population.status(ada, 'inactive');
  const outcome = await population.vote(ada, hash, 'reject');
  expect(outcome.result).toBe('equivocation');
  expectRefused(outcome, 'ALREADY_VOTED');
});

test('vote: checks a closed block before the status, and returns its outcome', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash, 'reject');
  await population.status(bob!, 'inactive');
  expectRefused(await population.vote(bob!, hash), 'VOTING_CLOSED', {
    details: { block_status: 'rejected' },
  });
});

test('vote: checks the status before memes', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.status(bob!, 'maintenance');
  const memes = { meme_references: [`meme_${'0'.repeat(32)}`] };
  expectRefused(await population.vote(bob!, hash, 'approve', memes), 'NOT_ACTIVE');
});

test('vote: refuses an unknown meme', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  const known = await population.meme(ada, 'gm');
  const unknown = `meme_${'0'.repeat(32)}`;
  const memes = { meme_references: [known, unknown] };
  expectRefused(await population.vote(ada, hash, 'approve', memes), 'UNKNOWN_MEME', {
    pointer: expect.stringMatching(/^\/meme_references/),
    details: { meme_id: unknown },
  });
});

test('vote: an inactive agent stays in the electorate and can vote when active again', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.status(bob!, 'inactive');
  expect(word(await population.vote(bob!, hash))).toBe('NOT_ACTIVE');
  expect(answerOf<'vote'>(await population.vote(ada!, hash)).tally.electorate).toBe(4);
  await population.status(bob!, 'active');
  expect(word(await population.vote(bob!, hash))).toBe('accepted');
});

test('vote: treats the same decision as a duplicate', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash);
  const before = population.network.read.position;
  const again = await population.vote(ada!, hash, 'approve', { reason: 'still' });
  expect(again.result).toBe('duplicate');
  expect(answerOf<'vote'>(again)).toMatchObject({ duplicate: true, decision: 'approve' });
  expect(population.network.read.position).toEqual(before);
});

test('vote: returns the record and time of the first vote for a duplicate', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  const first = answerOf<'vote'>(await population.vote(ada!, hash));
  await population.wait(5_000);
  const again = answerOf<'vote'>(await population.vote(ada!, hash));
  expect(again).toEqual({ ...first, duplicate: true });
});

test('vote: detects a duplicate before all checks except an unknown block', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  await population.status(ada, 'inactive');
  const again = await population.vote(ada, hash);
  expect(again.result).toBe('duplicate');
  expect(answerOf<'vote'>(again).block_status).toBe('finalized');
});

test('vote: counts the first decision and logs a conflicting one as equivocation', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash);
  const seq = population.network.read.position.seq;
  const outcome = await population.vote(ada!, hash, 'reject');
  expect(outcome.result).toBe('equivocation');
  expect(population.network.read.position.seq).toBe(seq + 1);
  expect(population.network.read.block(hash)?.tally).toMatchObject({ approve: 1, reject: 0 });
  expect([...population.network.read.records('equivocations')].map(({ value }) => value)).toEqual([
    { entry: seq + 1 },
  ]);
});

test('vote: ignores a second equivocation on the same block', async () => {
  const population = await newPopulation();
  const [ada] = await population.joinMany(4, ['validator', 'producer']);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash);
  await population.vote(ada!, hash, 'reject');
  const before = population.network.read.position;
  const outcome = await population.vote(ada!, hash, 'reject', { reason: 'really' });
  expect(outcome.result).toBe('refused');
  expect(refusalOf(outcome).reason).toBe('ALREADY_VOTED');
  expect(population.network.read.position).toEqual(before);
});

test('vote: detects an equivocation after the close, once', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  await population.vote(ada, hash);
  await population.wait(600_000);
  expect((await population.vote(ada, hash, 'reject')).result).toBe('equivocation');
  expect((await population.vote(ada, hash, 'reject')).result).toBe('refused');
});

test('vote: an equivocation costs a quarter of the scale, and several at most half', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(7, ['validator', 'producer']);
  const hashes = [
    await population.open(ada!),
    await population.open(bob!),
    await population.open(cem!),
  ];
  for (const hash of hashes) await population.vote(ada!, hash);
  const scores: number[] = [];
  for (const hash of hashes) {
    await population.vote(ada!, hash, 'reject');
    scores.push(population.network.read.reputation(ada!.id)!.overall_score);
  }
  expect(scores).toEqual([25, 0, 0]);
});

test('vote: accepts approvals of two siblings', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(4, ['validator', 'producer']);
  const hashes = [await population.open(ada!), await population.open(bob!)];
  for (const hash of hashes) expect(word(await population.vote(ada!, hash))).toBe('accepted');
});

test('vote: accepts an upper-case hash', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator', 'producer']);
  const hash = await population.open(ada);
  const fields = { block_hash: hash.toUpperCase(), decision: 'approve' as const };
  const outcome = await population.submit(composeVote(ada, population.stamp(), fields));
  expect(answerOf<'vote'>(outcome).block_hash).toBe(hash);
});
