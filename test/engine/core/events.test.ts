/** Events: exact data, order, size and numbers. */
import { newPopulation, populated } from '../helpers.js';

const both = ['validator', 'producer'] as const;

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

populated('events: the event for the largest proposal fits in 256 KiB', async (population) => {
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

// ---- Reputation: initial scores, one block by hand, and without conformity.

populated('reputation: matches a manual calculation of one finalized block', async (population) => {
  const [ada, bob, cem, dan] = await population.joinMany(4, both);
  const hash = await population.open(dan!);
  await population.vote(ada!, hash, 'reject');
  await population.votes([bob!, cem!, dan!], hash, 'approve');
  // Consistency is 500,000 + trunc(±500,000 / 16). Alliance is 500,000 - trunc(500,000 / 64).
  // Peers: no vote equals ada's; two votes among bob's three peers equal bob's, which gives
  // 666,666.
  expect(population.network.read.reputation(ada!.id)).toEqual({
    ...{ decision_consistency: 46.875, peer_ratings: 46.875, meme_quality: 50 },
    ...{ alliance_strength: 49.2188, overall_score: 47.8515 },
  });
  expect(population.network.read.reputation(bob!.id)).toEqual({
    ...{ decision_consistency: 53.125, peer_ratings: 51.0416, meme_quality: 50 },
    ...{ alliance_strength: 49.2188, overall_score: 51.3932 },
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
