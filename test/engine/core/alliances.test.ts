/** Alliances: joining, leaving and ending. */
import type { EventData } from 'folkmoot';
import { expect, test } from 'vitest';
import { type Citizen, instant } from '../../support/citizens.js';
import {
  answerOf,
  expectRefused,
  newPopulation,
  type Population,
  refusalOf,
  word,
} from '../helpers.js';

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

test('alliance: becomes active with the first acceptance', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  expect(answerOf(await population.respond(bob!, id, true))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', bob), ...as('invited', cem)],
    duration: 'PT1H',
  });
});

test('alliance: lists members in order of acceptance', async () => {
  const population = await newPopulation();
  const [ada, ...others] = await population.joinMany(4);
  const order = [...ascending(others)].reverse();
  await population.allied(ada!, order);
  expect(last(population).members).toEqual([...as('founder', ada), ...as('member', ...order)]);
});

test('alliance: stays proposed when one of several invitees declines', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  expect(answerOf(await population.respond(bob!, id, false))).toMatchObject({
    status: 'proposed',
    members: [...as('founder', ada), ...as('invited', cem)],
  });
});

test('alliance: lapses when all decline', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  await population.respond(bob!, id, false);
  expect(answerOf(await population.respond(cem!, id, false))).toMatchObject({
    status: 'lapsed',
    members: [],
    duration: 'PT0S',
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

test('alliance: keeps its end time after a later acceptance', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!], 'PT1M');
  await population.respond(bob!, id, true);
  await population.at(30_000);
  await population.respond(cem!, id, true);
  await population.at(60_001);
  expect(last(population).status).toBe('expired');
});

test('alliance: accepts responses while it is active', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan] = await population.joinMany(4);
  const id = await proposed(population, ada!, [bob!, cem!, dan!]);
  await population.respond(bob!, id, true);
  await population.at(60_001);
  expect(answerOf(await population.respond(cem!, id, false))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', bob), ...as('invited', dan)],
  });
  expect(answerOf(await population.respond(dan!, id, true))).toMatchObject({ status: 'active' });
});

test('alliance: continues after a member leaves', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await population.allied(ada!, [bob!, cem!]);
  expect(answerOf(await population.leave(bob!, id))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', cem)],
  });
});

test('alliance: dissolves with fewer than two members, despite open invitations', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  await population.respond(bob!, id, true);
  expect(answerOf(await population.leave(bob!, id))).toMatchObject({
    status: 'dissolved',
    members: [],
    duration: 'PT0S',
  });
});

test('alliance: dissolves when its founder leaves', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await population.allied(ada!, [bob!, cem!]);
  expect(answerOf(await population.leave(ada!, id))).toMatchObject({
    status: 'dissolved',
    members: [],
    duration: 'PT0S',
  });
  expectRefused(await population.leave(bob!, id), 'ALLIANCE_CLOSED');
});

test('alliance: refuses a second response', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  await population.respond(bob!, id, true);
  expectRefused(await population.respond(bob!, id, false), 'ALREADY_ANSWERED');
});

test('alliance: refuses an agent that declined', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await proposed(population, ada!, [bob!, cem!]);
  await population.respond(bob!, id, false);
  expect(word(await population.respond(bob!, id, true))).toBe('ALREADY_ANSWERED');
});

test('alliance: refuses an agent that left', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await population.allied(ada!, [bob!, cem!]);
  await population.leave(bob!, id);
  expect(word(await population.respond(bob!, id, true))).toBe('ALREADY_ANSWERED');
  expect(word(await population.leave(bob!, id))).toBe('NOT_MEMBER');
});

test('alliance: refuses responses of uninvited agents and leaves of non-members', async () => {
  const population = await newPopulation();
  const [ada, bob, cem, dan] = await population.joinMany(4);
  const id = await proposed(population, ada!, [bob!, cem!]);
  expectRefused(await population.respond(dan!, id, true), 'NOT_INVITED');
  await population.respond(bob!, id, true);
  expectRefused(await population.leave(cem!, id), 'NOT_MEMBER');
});

test('alliance: refuses an unknown alliance with 404', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const id = `ally_${'0'.repeat(32)}`;
  const unknown = { code: 'INVALID_REQUEST', status: 404, reason: 'UNKNOWN_ALLIANCE' };
  expect(refusalOf(await population.respond(ada, id, true))).toMatchObject(unknown);
  expect(refusalOf(await population.leave(ada, id))).toMatchObject(unknown);
});

test('alliance: refuses an inactive agent', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const id = await proposed(population, ada!, [bob!]);
  await population.status(bob!, 'inactive');
  expect(word(await population.respond(bob!, id, true))).toBe('NOT_ACTIVE');
  expect(word(await population.ally(bob!, [ada!]))).toBe('NOT_ACTIVE');
  await population.status(bob!, 'active');
  await population.respond(bob!, id, true);
  await population.status(bob!, 'maintenance');
  expect(word(await population.leave(bob!, id))).toBe('NOT_ACTIVE');
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
