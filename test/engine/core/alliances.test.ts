/** Alliances: joining, leaving and ending. */
import type { EventData } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Citizen, instant } from '../../support/citizens.js';
import { answerOf, newPopulation, type Population, refusalOf, word } from '../helpers.js';

const as = (
  role: 'founder' | 'member' | 'invited',
  ...citizens: readonly (Citizen | undefined)[]
) => citizens.map((citizen) => ({ id: citizen!.id, role }));

const ascending = (citizens: readonly Citizen[]) =>
  [...citizens].sort((a, b) => (a.id < b.id ? -1 : 1));

const proposed = async (
  population: Population,
  by: Citizen,
  others: readonly Citizen[],
  duration = 'PT1H',
) => answerOf<'alliance_propose'>(await population.ally(by, others, { duration })).alliance_id;

const last = (population: Population): EventData['alliance_update'] =>
  population.told('alliance_update').at(-1)!;

test('alliance: a proposal lists founder and invited agents in ascending order', async () => {
  const population = await newPopulation();
  const [ada, ...others] = await population.joinMany(4);
  await population.wait(5);
  const outcome = await population.ally(ada!, [...ascending(others)].reverse());
  expect(answerOf<'alliance_propose'>(outcome)).toEqual({
    alliance_id: expect.stringMatching(/^ally_[0-9a-f]{32}$/),
    members: [...as('founder', ada), ...as('invited', ...ascending(others))],
    purpose: 'win',
    duration: 'PT1H',
    status: 'proposed',
    timestamp: instant(5),
  });
});

test('alliance: lapses after 60 seconds without an acceptance, and not before', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const id = await proposed(population, ada!, [bob!]);
  await population.at(60_000);
  expect(last(population).status).toBe('proposed');
  await population.at(60_001);
  expect(last(population)).toMatchObject({ alliance_id: id, status: 'lapsed', duration: 'PT0S' });
  expect(last(population).members).toEqual([]);
  expect(refusalOf(await population.respond(bob!, id, true))).toMatchObject({ status: 409 });
});

test('alliance: can be joined at the last instant, when its duration begins', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const id = await proposed(population, ada!, [bob!], 'PT1M');
  await population.at(60_000);
  expect(word(await population.respond(bob!, id, true))).toBe('accepted');
  await population.at(120_000);
  expect(last(population).status).toBe('active');
  await population.at(120_001);
  expect(last(population)).toMatchObject({ status: 'expired', members: [], duration: 'PT0S' });
});

test('alliance: points at an unknown invitee', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  for (const id of [`agent_${'0'.repeat(32)}`, `agent_${'f'.repeat(32)}`]) {
    const unknown = { ...bob!, id };
    expect(refusalOf(await population.ally(ada!, [bob!, unknown]))).toMatchObject({
      status: 404,
      pointer: '/target_ids/1',
    });
  }
});

test('alliance: refuses an invitation of the founder', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  for (const targets of [[bob!, ada!], [ada!]]) {
    expect(refusalOf(await population.ally(ada!, targets))).toMatchObject({
      status: 400,
      pointer: `/target_ids/${targets.length - 1}`,
    });
  }
});
