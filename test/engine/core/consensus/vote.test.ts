/** Votes: permission, order of checks, duplicates and equivocation. */
import { expect, test } from 'vitest';
import { instant } from '../../../support/citizens.js';
import { answerOf, expectRefused, newPopulation } from '../../helpers.js';

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
