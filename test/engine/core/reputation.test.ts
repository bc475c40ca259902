/** Reputation, compared with an independent model. */
import type { Decision } from 'folkmoot';
import { expect, test } from 'vitest';
import type { Citizen } from '../../support/citizens.js';
import { newPopulation, type Population } from '../helpers.js';
import { Model } from './reputation-model.js';

const both = ['validator', 'producer'] as const;

/** Runs a block with these votes in the network and in the model. */
async function play(population: Population, model: Model, block: Parameters<Model['close']>[0]) {
  const hash = await population.open(block.producer);
  for (const { voter, decision, memes = [] } of block.votes) {
    await population.vote(voter, hash, decision, { meme_references: memes });
  }
  expect(population.blockStatus(hash)).toBe(block.outcome);
  model.close(block);
}

function expectScores(population: Population, model: Model): void {
  for (const citizen of population.citizens) {
    expect(population.network.read.reputation(citizen.id), citizen.id).toEqual(
      model.shown(citizen),
    );
  }
}

const vote = (voter: Citizen, decision: Decision, memes: string[] = []) => ({
  voter,
  decision,
  memes,
});

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

test('reputation: ignores an expired block', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(4, both);
  const hash = await population.open(ada!);
  await population.vote(bob!, hash);
  await population.at(30_001);
  expect(population.network.read.reputation(bob!.id)?.overall_score).toBe(50);
  expect(population.network.read.reputation(ada!.id)?.alliance_strength).toBe(50);
});

test('reputation: ignores an orphaned block', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan] = await population.joinMany(4, both);
  const [orphan, hash] = [await population.open(ada!), await population.open(bob!)];
  await population.vote(dan!, orphan);
  await population.votes([ada!, bob!, cem!], hash, 'approve');
  expect(population.network.read.reputation(dan!.id)?.decision_consistency).toBe(50);
});

test('reputation: ignores agents that did not vote', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan] = await population.joinMany(4, both);
  await population.votes([ada!, bob!, cem!], await population.open(ada!), 'approve');
  expect(population.network.read.reputation(dan!.id)?.overall_score).toBe(50);
});

test('reputation: a lone voter has no peers', async () => {
  const population = await newPopulation();
  const ada = await population.join(both);
  await population.vote(ada, await population.open(ada));
  expect(population.network.read.reputation(ada.id)).toMatchObject({
    peer_ratings: 50,
    decision_consistency: 53.125,
  });
});

test('reputation: conformity can be switched off', async () => {
  const population = await newPopulation({ genesis: { consistency: 'off' } });
  const ada = await population.join(both);
  await population.vote(ada, await population.open(ada));
  expect(population.network.read.reputation(ada.id)?.decision_consistency).toBe(50);
});

test('reputation: matches the model over many blocks', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan, eve] = await population.joinMany(5, both);
  const maker = await population.join(['producer']);
  const model = new Model();
  for (let round = 0; round < 12; round += 1) {
    const producer = round % 3 === 0 ? maker : ada!;
    const votes = [vote(eve!, round % 2 === 0 ? 'reject' : 'approve'), vote(ada!, 'approve')];
    votes.push(vote(bob!, 'approve'), vote(cem!, 'approve'));
    if (round % 2 === 0) votes.push(vote(dan!, 'approve'));
    await play(population, model, { producer, votes, outcome: 'finalized' });
    const against = [vote(bob!, 'approve'), vote(dan!, 'reject'), vote(eve!, 'reject')];
    await play(population, model, { producer: maker, votes: against, outcome: 'rejected' });
    expectScores(population, model);
  }
});

test('reputation: rates a meme without votes of its creator and its allies', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan, eve, fay] = await population.joinMany(7, both);
  const model = new Model();
  const memes = [await population.meme(ada!, 'one'), await population.meme(ada!, 'two')];
  memes.push(await population.meme(fay!, 'three'));
  memes.sort();
  for (const meme of memes) {
    const { creator } = population.network.read.record('memes', meme)!;
    model.meme(meme, creator === ada!.id ? ada! : fay!);
  }
  await population.allied(ada!, [bob!]);
  model.ally([ada!, bob!]);
  const votes = [
    vote(ada!, 'approve', memes),
    vote(bob!, 'approve', [memes[0]!, memes[1]!, memes[1]!]),
    vote(cem!, 'reject', [memes[0]!]),
    vote(dan!, 'approve', [memes[0]!, memes[2]!, memes[0]!]),
    vote(eve!, 'approve', [memes[2]!]),
    vote(population.citizens[6]!, 'approve', [memes[1]!]),
  ];
  await play(population, model, { producer: dan!, votes, outcome: 'finalized' });
  expectScores(population, model);
  expect(population.network.read.reputation(fay!.id)?.decision_consistency).toBe(50);
});

test('reputation: does not rate a meme that only its creator and allies refer to', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3, both);
  const meme = await population.meme(ada!, 'gm');
  await population.allied(ada!, [bob!]);
  const hash = await population.open(cem!);
  for (const voter of [ada!, bob!])
    await population.vote(voter, hash, 'approve', { meme_references: [meme] });
  await population.vote(cem!, hash);
  expect(population.network.read.reputation(ada!.id)?.meme_quality).toBe(50);
});

test('reputation: counts the best alliance with two voting members', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan, eve] = await population.joinMany(7, both);
  const model = new Model();
  const alliances = [
    [ada!, bob!, cem!],
    [dan!, ada!],
    [eve!, population.citizens[6]!],
  ];
  for (const [founder, ...others] of alliances) {
    await population.allied(founder!, others);
    model.ally([founder!, ...others]);
  }
  const votes = [vote(ada!, 'reject'), vote(bob!, 'approve'), vote(cem!, 'approve')];
  votes.push(
    vote(dan!, 'approve'),
    vote(eve!, 'approve'),
    vote(population.citizens[5]!, 'approve'),
  );
  await play(population, model, { producer: ada!, votes, outcome: 'finalized' });
  expectScores(population, model);
});

test('reputation: ignores an ended alliance', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2, both);
  const id = await population.allied(ada!, [bob!]);
  const hash = await population.open(ada!);
  await population.vote(ada!, hash);
  await population.leave(bob!, id);
  await population.vote(bob!, hash);
  expect(population.network.read.reputation(ada!.id)?.alliance_strength).toBe(49.2188);
});

test('reputation: a penalty decays when its agent participates', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(4, both);
  const model = new Model();
  const hash = await population.open(cem!);
  await population.vote(ada!, hash);
  await population.vote(ada!, hash, 'reject');
  model.equivocate(ada!);
  expectScores(population, model);
  await population.at(30_001);
  for (let round = 0; round < 4; round += 1) {
    const who = round === 2 ? [population.citizens[3]!, bob!, cem!] : [ada!, bob!, cem!];
    const votes = who.map((voter) => vote(voter, 'approve'));
    await play(population, model, { producer: cem!, votes, outcome: 'finalized' });
    expectScores(population, model);
  }
});

test.each([
  'reputation',
  'alliance_bonus',
] as const)('reputation: weights samples by %s', async (weights) => {
  const population = await newPopulation({ genesis: { weights } });
  const [ada, bob, cem, dan] = await population.joinMany(5, both);
  await population.allied(ada!, [bob!, cem!]);
  const model = new Model();
  model.ally([ada!, bob!, cem!]);
  if (weights === 'reputation') {
    const hash = await population.open(ada!);
    await population.vote(ada!, hash);
    await population.vote(ada!, hash, 'reject');
    model.equivocate(ada!);
    await population.at(30_001);
  }
  const weightOf = (citizen: Citizen) => {
    if (weights === 'reputation') return citizen === ada ? 25 : 50;
    return [ada, bob, cem].includes(citizen) ? 104 : 100;
  };
  const votes = [vote(ada!, 'reject'), vote(bob!, 'approve'), vote(cem!, 'approve')];
  votes.push(vote(dan!, 'approve'), vote(population.citizens[4]!, 'approve'));
  const counted = votes.map((one) => ({ ...one, weight: weightOf(one.voter) }));
  await play(population, model, { producer: dan!, votes: counted, outcome: 'finalized' });
  expectScores(population, model);
});

test('reputation: emits changes of 0.1 or more, ascending by id', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(4, both);
  const maker = await population.join(['producer']);
  const model = new Model();
  for (let round = 0; round < 40; round += 1) {
    const votes = [ada!, bob!, cem!].map((voter) => vote(voter, 'approve'));
    const mark = population.mark();
    await play(population, model, { producer: maker, votes, outcome: 'finalized' });
    const told = population.told('reputation_update', mark);
    expect(
      told.map(({ agent_id, old_score, new_score }) => [agent_id, old_score, new_score]),
    ).toEqual(model.told());
  }
});
