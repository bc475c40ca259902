/** Reputation: initial scores, one block by hand, and without conformity. */
import { expect, test } from 'vitest';
import { newPopulation } from '../helpers.js';

const both = ['validator', 'producer'] as const;

test('reputation: begins at 50', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  expect(population.network.read.reputation(ada.id)).toEqual({
    overall_score: 50,
    meme_quality: 50,
    decision_consistency: 50,
    peer_ratings: 50,
    alliance_strength: 50,
  });
});

test('reputation: matches a manual calculation of one finalized block', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan] = await population.joinMany(4, both);
  const hash = await population.open(dan!);
  await population.vote(ada!, hash, 'reject');
  await population.votes([bob!, cem!, dan!], hash, 'approve');
  // Consistency is 500,000 + trunc(±500,000 / 16). Alliance is 500,000 - trunc(500,000 / 64).
  // Peers: no vote equals ada's; two votes among bob's three peers equal bob's, which gives
  // 666,666.
  expect(population.network.read.reputation(ada!.id)).toEqual({
    decision_consistency: 46.875,
    peer_ratings: 46.875,
    meme_quality: 50,
    alliance_strength: 49.2188,
    overall_score: 47.8515,
  });
  expect(population.network.read.reputation(bob!.id)).toEqual({
    decision_consistency: 53.125,
    peer_ratings: 51.0416,
    meme_quality: 50,
    alliance_strength: 49.2188,
    overall_score: 51.3932,
  });
  // dan produced too: two of three others approved, first as producer, then as voter.
  expect(population.network.read.reputation(dan!.id)?.peer_ratings).toBe(52.0181);
});

test('reputation: conformity can be switched off', async () => {
  const population = await newPopulation({ genesis: { consistency: 'off' } });
  const ada = await population.join(both);
  await population.vote(ada, await population.open(ada));
  expect(population.network.read.reputation(ada.id)?.decision_consistency).toBe(50);
});
