/** Reputation, held against a model that knows the rules and nothing of the engine. */
import type { Decision } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Citizen, foundTown, type Town } from '../helpers.js';
import { Model } from './reputation-model.js';

const both = ['validator', 'producer'] as const;

/** A block that gets these votes, in the network and in the model alike. */
async function play(town: Town, model: Model, block: Parameters<Model['close']>[0]) {
  const hash = await town.open(block.producer);
  for (const { voter, decision, memes = [] } of block.votes) {
    await town.vote(voter, hash, decision, { meme_references: memes });
  }
  expect(town.blockStatus(hash)).toBe(block.outcome);
  model.close(block);
}

function expectScores(town: Town, model: Model): void {
  for (const citizen of town.citizens) {
    expect(town.network.read.reputation(citizen.id), citizen.id).toEqual(model.shown(citizen));
  }
}

const vote = (voter: Citizen, decision: Decision, memes: string[] = []) => ({
  voter,
  decision,
  memes,
});

test('reputation: everyone begins at 50', async () => {
  const town = await foundTown();
  const ada = await town.join();
  expect(town.network.read.reputation(ada.id)).toEqual({
    overall_score: 50,
    meme_quality: 50,
    decision_consistency: 50,
    peer_ratings: 50,
    alliance_strength: 50,
  });
});

test('reputation: the numbers of one finalized block, by hand', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan] = await town.joinMany(4, both);
  const hash = await town.open(dan!);
  await town.vote(ada!, hash, 'reject');
  await town.votes([bob!, cem!, dan!], hash, 'approve');
  // Consistency 500,000 + trunc(±500,000 / 16). Alliance 500,000 - trunc(500,000 / 64).
  // Peers: nobody voted like ada; of bob's three others two did: 666,666.
  expect(town.network.read.reputation(ada!.id)).toEqual({
    decision_consistency: 46.875,
    peer_ratings: 46.875,
    meme_quality: 50,
    alliance_strength: 49.2188,
    overall_score: 47.8515,
  });
  expect(town.network.read.reputation(bob!.id)).toEqual({
    decision_consistency: 53.125,
    peer_ratings: 51.0416,
    meme_quality: 50,
    alliance_strength: 49.2188,
    overall_score: 51.3932,
  });
  // dan produced too: of three others two approved, first as producer, then as voter.
  expect(town.network.read.reputation(dan!.id)?.peer_ratings).toBe(52.0181);
});

test('reputation: an expired block changes nothing', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(4, both);
  const hash = await town.open(ada!);
  await town.vote(bob!, hash);
  await town.at(30_001);
  expect(town.network.read.reputation(bob!.id)?.overall_score).toBe(50);
  expect(town.network.read.reputation(ada!.id)?.alliance_strength).toBe(50);
});

test('reputation: an orphaned block changes nothing', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan] = await town.joinMany(4, both);
  const [orphan, hash] = [await town.open(ada!), await town.open(bob!)];
  await town.vote(dan!, orphan);
  await town.votes([ada!, bob!, cem!], hash, 'approve');
  expect(town.network.read.reputation(dan!.id)?.decision_consistency).toBe(50);
});

test('reputation: those who did not vote stay as they are', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan] = await town.joinMany(4, both);
  await town.votes([ada!, bob!, cem!], await town.open(ada!), 'approve');
  expect(town.network.read.reputation(dan!.id)?.overall_score).toBe(50);
});

test('reputation: a lone voter has no peers', async () => {
  const town = await foundTown();
  const ada = await town.join(both);
  await town.vote(ada, await town.open(ada));
  expect(town.network.read.reputation(ada.id)).toMatchObject({
    peer_ratings: 50,
    decision_consistency: 53.125,
  });
});

test('reputation: conformity can be switched off', async () => {
  const town = await foundTown({ genesis: { consistency: 'off' } });
  const ada = await town.join(both);
  await town.vote(ada, await town.open(ada));
  expect(town.network.read.reputation(ada.id)?.decision_consistency).toBe(50);
});

test('reputation: many blocks agree with the model', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan, eve] = await town.joinMany(5, both);
  const maker = await town.join(['producer']);
  const model = new Model();
  for (let round = 0; round < 12; round += 1) {
    const producer = round % 3 === 0 ? maker : ada!;
    const votes = [vote(eve!, round % 2 === 0 ? 'reject' : 'approve'), vote(ada!, 'approve')];
    votes.push(vote(bob!, 'approve'), vote(cem!, 'approve'));
    if (round % 2 === 0) votes.push(vote(dan!, 'approve'));
    await play(town, model, { producer, votes, outcome: 'finalized' });
    const against = [vote(bob!, 'approve'), vote(dan!, 'reject'), vote(eve!, 'reject')];
    await play(town, model, { producer: maker, votes: against, outcome: 'rejected' });
    expectScores(town, model);
  }
});

test('reputation: memes are rated without their creators and their allies', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan, eve, fay] = await town.joinMany(7, both);
  const model = new Model();
  const memes = [await town.meme(ada!, 'one'), await town.meme(ada!, 'two')];
  memes.push(await town.meme(fay!, 'three'));
  memes.sort();
  for (const meme of memes) {
    const { creator } = town.network.read.record('memes', meme)!;
    model.meme(meme, creator === ada!.id ? ada! : fay!);
  }
  await town.allied(ada!, [bob!]);
  model.ally([ada!, bob!]);
  const votes = [
    vote(ada!, 'approve', memes),
    vote(bob!, 'approve', [memes[0]!, memes[1]!, memes[1]!]),
    vote(cem!, 'reject', [memes[0]!]),
    vote(dan!, 'approve', [memes[0]!, memes[2]!, memes[0]!]),
    vote(eve!, 'approve', [memes[2]!]),
    vote(town.citizens[6]!, 'approve', [memes[1]!]),
  ];
  await play(town, model, { producer: dan!, votes, outcome: 'finalized' });
  expectScores(town, model);
  expect(town.network.read.reputation(fay!.id)?.decision_consistency).toBe(50);
});

test('reputation: references only of the creator and its allies rate nothing', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3, both);
  const meme = await town.meme(ada!, 'gm');
  await town.allied(ada!, [bob!]);
  const hash = await town.open(cem!);
  for (const voter of [ada!, bob!])
    await town.vote(voter, hash, 'approve', { meme_references: [meme] });
  await town.vote(cem!, hash);
  expect(town.network.read.reputation(ada!.id)?.meme_quality).toBe(50);
});

test('reputation: the best alliance with two voting members counts', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan, eve] = await town.joinMany(7, both);
  const model = new Model();
  const alliances = [
    [ada!, bob!, cem!],
    [dan!, ada!],
    [eve!, town.citizens[6]!],
  ];
  for (const [founder, ...others] of alliances) {
    await town.allied(founder!, others);
    model.ally([founder!, ...others]);
  }
  const votes = [vote(ada!, 'reject'), vote(bob!, 'approve'), vote(cem!, 'approve')];
  votes.push(vote(dan!, 'approve'), vote(eve!, 'approve'), vote(town.citizens[5]!, 'approve'));
  await play(town, model, { producer: ada!, votes, outcome: 'finalized' });
  expectScores(town, model);
});

test('reputation: an alliance that is over no longer counts', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2, both);
  const id = await town.allied(ada!, [bob!]);
  const hash = await town.open(ada!);
  await town.vote(ada!, hash);
  await town.leave(bob!, id);
  await town.vote(bob!, hash);
  expect(town.network.read.reputation(ada!.id)?.alliance_strength).toBe(49.2188);
});

test('reputation: a penalty decays whenever its holder takes part', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(4, both);
  const model = new Model();
  const hash = await town.open(cem!);
  await town.vote(ada!, hash);
  await town.vote(ada!, hash, 'reject');
  model.equivocate(ada!);
  expectScores(town, model);
  await town.at(30_001);
  for (let round = 0; round < 4; round += 1) {
    const who = round === 2 ? [town.citizens[3]!, bob!, cem!] : [ada!, bob!, cem!];
    const votes = who.map((voter) => vote(voter, 'approve'));
    await play(town, model, { producer: cem!, votes, outcome: 'finalized' });
    expectScores(town, model);
  }
});

test.each([
  'reputation',
  'alliance_bonus',
] as const)('reputation: samples count weights, here those of %s', async (weights) => {
  const town = await foundTown({ genesis: { weights } });
  const [ada, bob, cem, dan] = await town.joinMany(5, both);
  await town.allied(ada!, [bob!, cem!]);
  const model = new Model();
  model.ally([ada!, bob!, cem!]);
  if (weights === 'reputation') {
    const hash = await town.open(ada!);
    await town.vote(ada!, hash);
    await town.vote(ada!, hash, 'reject');
    model.equivocate(ada!);
    await town.at(30_001);
  }
  const weightOf = (citizen: Citizen) => {
    if (weights === 'reputation') return citizen === ada ? 25 : 50;
    return [ada, bob, cem].includes(citizen) ? 104 : 100;
  };
  const votes = [vote(ada!, 'reject'), vote(bob!, 'approve'), vote(cem!, 'approve')];
  votes.push(vote(dan!, 'approve'), vote(town.citizens[4]!, 'approve'));
  const counted = votes.map((one) => ({ ...one, weight: weightOf(one.voter) }));
  await play(town, model, { producer: dan!, votes: counted, outcome: 'finalized' });
  expectScores(town, model);
});

test('reputation: is told where it moved by 0.1 since last told, ascending by id', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(4, both);
  const maker = await town.join(['producer']);
  const model = new Model();
  for (let round = 0; round < 40; round += 1) {
    const votes = [ada!, bob!, cem!].map((voter) => vote(voter, 'approve'));
    const mark = town.mark();
    await play(town, model, { producer: maker, votes, outcome: 'finalized' });
    const told = town.told('reputation_update', mark);
    expect(
      told.map(({ agent_id, old_score, new_score }) => [agent_id, old_score, new_score]),
    ).toEqual(model.told());
  }
});
