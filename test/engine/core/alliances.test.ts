/** Alliances: every way in, every way out, and the limits. */
import type { EventData } from 'folkmoot';
import { expect, test } from 'vitest';
import {
  answerOf,
  type Citizen,
  foundTown,
  instant,
  refusalOf,
  type Town,
  word,
} from '../helpers.js';

const as = (
  role: 'founder' | 'member' | 'invited',
  ...citizens: readonly (Citizen | undefined)[]
) => citizens.map((citizen) => ({ id: citizen!.id, role }));

const ascending = (citizens: readonly Citizen[]) =>
  [...citizens].sort((a, b) => (a.id < b.id ? -1 : 1));

const proposed = async (town: Town, by: Citizen, others: readonly Citizen[], duration = 'PT1H') =>
  answerOf<'alliance_propose'>(await town.ally(by, others, { duration })).alliance_id;

const last = (town: Town): EventData['alliance_update'] => town.told('alliance_update').at(-1)!;

test('alliance: is proposed with its founder and the invited, ascending', async () => {
  const town = await foundTown();
  const [ada, ...others] = await town.joinMany(4);
  await town.wait(5);
  const outcome = await town.ally(ada!, [...ascending(others)].reverse());
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
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  expect(answerOf(await town.respond(bob!, id, true))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', bob), ...as('invited', cem)],
    duration: 'PT1H',
  });
});

test('alliance: members stand in order of acceptance', async () => {
  const town = await foundTown();
  const [ada, ...others] = await town.joinMany(4);
  const order = [...ascending(others)].reverse();
  await town.allied(ada!, order);
  expect(last(town).members).toEqual([...as('founder', ada), ...as('member', ...order)]);
});

test('alliance: one who declines while others are asked leaves it proposed', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  expect(answerOf(await town.respond(bob!, id, false))).toMatchObject({
    status: 'proposed',
    members: [...as('founder', ada), ...as('invited', cem)],
  });
});

test('alliance: lapses when all decline', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  await town.respond(bob!, id, false);
  expect(answerOf(await town.respond(cem!, id, false))).toMatchObject({
    status: 'lapsed',
    members: [],
    duration: 'PT0S',
  });
});

test('alliance: lapses after 60 seconds without an acceptance, and not before', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  const id = await proposed(town, ada!, [bob!]);
  await town.at(60_000);
  expect(last(town).status).toBe('proposed');
  await town.at(60_001);
  expect(last(town)).toMatchObject({ alliance_id: id, status: 'lapsed', duration: 'PT0S' });
  expect(last(town).members).toEqual([]);
  expect(refusalOf(await town.respond(bob!, id, true))).toMatchObject({ status: 409 });
});

test('alliance: can be joined at the last instant, and its duration runs from there', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  const id = await proposed(town, ada!, [bob!], 'PT1M');
  await town.at(60_000);
  expect(word(await town.respond(bob!, id, true))).toBe('accepted');
  await town.at(120_000);
  expect(last(town).status).toBe('active');
  await town.at(120_001);
  expect(last(town)).toMatchObject({ status: 'expired', members: [], duration: 'PT0S' });
});

test('alliance: a later acceptance does not prolong it', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!], 'PT1M');
  await town.respond(bob!, id, true);
  await town.at(30_000);
  await town.respond(cem!, id, true);
  await town.at(60_001);
  expect(last(town).status).toBe('expired');
});

test('alliance: the invited may still answer while it is active', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan] = await town.joinMany(4);
  const id = await proposed(town, ada!, [bob!, cem!, dan!]);
  await town.respond(bob!, id, true);
  await town.at(60_001);
  expect(answerOf(await town.respond(cem!, id, false))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', bob), ...as('invited', dan)],
  });
  expect(answerOf(await town.respond(dan!, id, true))).toMatchObject({ status: 'active' });
});

test('alliance: a member may leave, and those who stay go on', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await town.allied(ada!, [bob!, cem!]);
  expect(answerOf(await town.leave(bob!, id))).toMatchObject({
    status: 'active',
    members: [...as('founder', ada), ...as('member', cem)],
  });
});

test('alliance: dissolves when fewer than two members stay, whoever is still invited', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  await town.respond(bob!, id, true);
  expect(answerOf(await town.leave(bob!, id))).toMatchObject({
    status: 'dissolved',
    members: [],
    duration: 'PT0S',
  });
});

test('alliance: dissolves when its founder leaves', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await town.allied(ada!, [bob!, cem!]);
  expect(answerOf(await town.leave(ada!, id))).toMatchObject({
    status: 'dissolved',
    members: [],
    duration: 'PT0S',
  });
  expect(refusalOf(await town.leave(bob!, id))).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 409,
    reason: 'ALLIANCE_CLOSED',
  });
});

test('alliance: an answer is given once', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  await town.respond(bob!, id, true);
  expect(refusalOf(await town.respond(bob!, id, false))).toMatchObject({
    status: 409,
    reason: 'ALREADY_ANSWERED',
  });
});

test('alliance: who declined cannot join after all', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await proposed(town, ada!, [bob!, cem!]);
  await town.respond(bob!, id, false);
  expect(word(await town.respond(bob!, id, true))).toBe('ALREADY_ANSWERED');
});

test('alliance: who left cannot rejoin', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await town.allied(ada!, [bob!, cem!]);
  await town.leave(bob!, id);
  expect(word(await town.respond(bob!, id, true))).toBe('ALREADY_ANSWERED');
  expect(word(await town.leave(bob!, id))).toBe('NOT_MEMBER');
});

test('alliance: only the invited may answer, and only members leave', async () => {
  const town = await foundTown();
  const [ada, bob, cem, dan] = await town.joinMany(4);
  const id = await proposed(town, ada!, [bob!, cem!]);
  expect(refusalOf(await town.respond(dan!, id, true))).toMatchObject({
    code: 'INVALID_AGENT',
    status: 403,
    reason: 'NOT_INVITED',
  });
  await town.respond(bob!, id, true);
  expect(refusalOf(await town.leave(cem!, id))).toMatchObject({
    code: 'INVALID_AGENT',
    status: 403,
    reason: 'NOT_MEMBER',
  });
});

test('alliance: an unknown one is 404', async () => {
  const town = await foundTown();
  const ada = await town.join();
  const id = `ally_${'0'.repeat(32)}`;
  const unknown = { code: 'INVALID_REQUEST', status: 404, reason: 'UNKNOWN_ALLIANCE' };
  expect(refusalOf(await town.respond(ada, id, true))).toMatchObject(unknown);
  expect(refusalOf(await town.leave(ada, id))).toMatchObject(unknown);
});

test('alliance: who is not active takes no part', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  const id = await proposed(town, ada!, [bob!]);
  await town.status(bob!, 'inactive');
  expect(word(await town.respond(bob!, id, true))).toBe('NOT_ACTIVE');
  expect(word(await town.ally(bob!, [ada!]))).toBe('NOT_ACTIVE');
  await town.status(bob!, 'active');
  await town.respond(bob!, id, true);
  await town.status(bob!, 'maintenance');
  expect(word(await town.leave(bob!, id))).toBe('NOT_ACTIVE');
});

test('alliance: an unknown invitee is named where it stands in the request', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  for (const id of [`agent_${'0'.repeat(32)}`, `agent_${'f'.repeat(32)}`]) {
    const unknown = { ...bob!, id };
    expect(refusalOf(await town.ally(ada!, [bob!, unknown]))).toMatchObject({
      status: 404,
      pointer: '/target_ids/1',
    });
  }
});

test('alliance: the founder cannot be invited', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  for (const targets of [[bob!, ada!], [ada!]]) {
    expect(refusalOf(await town.ally(ada!, targets))).toMatchObject({
      status: 400,
      pointer: `/target_ids/${targets.length - 1}`,
    });
  }
});
