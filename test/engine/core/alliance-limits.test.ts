/** Alliances: how many, how large, and repeated requests. */
import { join } from 'node:path';
import {
  type Answer,
  type AnswerOf,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  type SignedRequest,
} from 'folkmoot';
import { expect, test } from 'vitest';
import { temporaryFolder, testNetwork } from '../../support/fixture.js';
import { answerOf, foundTown, refusalOf, type Town, word } from '../helpers.js';

test('alliance: 31 invitees make 32 members', async () => {
  const town = await foundTown();
  const [ada, ...others] = await town.joinMany(32);
  await town.allied(ada!, others);
  expect(town.told('alliance_update').at(-1)?.members).toHaveLength(32);
});

test('alliance: a sixth active one is refused when it is joined', async () => {
  const town = await foundTown();
  const [bob, ...founders] = await town.joinMany(7);
  for (const founder of founders.slice(0, 5)) await town.allied(founder, [bob!]);
  const { alliance_id } = answerOf<'alliance_propose'>(await town.ally(founders[5]!, [bob!]));
  expect(refusalOf(await town.respond(bob!, alliance_id, true))).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 409,
    reason: 'TOO_MANY_ALLIANCES',
  });
  expect(word(await town.respond(bob!, alliance_id, false))).toBe('accepted');
});

test('alliance: a proposed one counts for its founder, not for the invited', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  for (let count = 0; count < 5; count += 1) {
    expect(word(await town.ally(ada!, [bob!]))).toBe('accepted');
  }
  expect(word(await town.ally(ada!, [bob!]))).toBe('TOO_MANY_ALLIANCES');
  expect(word(await town.ally(bob!, [ada!]))).toBe('accepted');
});

test('alliance: one that is over makes room', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.push(await town.allied(ada!, [bob!]));
  await town.leave(bob!, ids[0]!);
  expect(word(await town.ally(ada!, [bob!]))).toBe('accepted');
  expect(word(await town.ally(ada!, [bob!]))).toBe('TOO_MANY_ALLIANCES');
  await town.wait(60_001);
  expect(word(await town.ally(ada!, [bob!]))).toBe('accepted');
});

test.each([
  'PT1M',
  'PT60S',
  'P30D',
  'P4W',
  'P1DT1H1M1S',
  'P1W',
])('alliance: lasts %s and shows it as sent', async (duration) => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  expect(answerOf(await town.ally(ada!, [bob!], { duration }))).toMatchObject({ duration });
});

test.each([
  'PT59S',
  'P30DT1S',
  'P5W',
  'P1M',
  'P1Y',
  '-PT5M',
  'PT0S',
  'P',
  '1h',
  '',
])('alliance: does not last %j', async (duration) => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  expect(refusalOf(await town.ally(ada!, [bob!], { duration }))).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 400,
    pointer: '/duration',
  });
});

test('alliance: lasts an hour unless it says otherwise', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  await town.allied(ada!, [bob!]);
  expect(town.told('alliance_update').at(-1)).toMatchObject({ duration: 'PT1H' });
  await town.at(3_600_000);
  expect(town.told('alliance_update').at(-1)?.status).toBe('active');
  await town.at(3_600_001);
  expect(town.told('alliance_update').at(-1)?.status).toBe('expired');
});

/** A refused or repeated request leaves no trace. */
async function expectNothing(town: Town, act: () => Promise<void>): Promise<void> {
  const before = town.network.read.position;
  await act();
  expect(town.network.read.position).toEqual(before);
}

/** An alliance through all that can be asked of it: each request, and what it was answered. */
async function lifeOfAlliance(town: Town, duration: string) {
  const [ada, bob, cem, dan] = await town.joinMany(4);
  const target_ids = [dan!.id, cem!.id, bob!.id];
  const done: { request: SignedRequest; data: Answer }[] = [];
  const ask = async (request: SignedRequest) => {
    await town.wait(10);
    done.push({ request, data: answerOf(await town.submit(request)) });
    return done.at(-1)!.data as AnswerOf['alliance_propose'];
  };
  const fields = { target_ids, purpose: 'win', duration };
  const { alliance_id } = await ask(composeAlliancePropose(ada!, town.stamp(), fields));
  await ask(composeAllianceRespond(cem!, town.stamp(), alliance_id, true));
  await ask(composeAllianceRespond(bob!, town.stamp(), alliance_id, false));
  await ask(composeAllianceRespond(dan!, town.stamp(), alliance_id, true));
  await ask(composeAllianceLeave(cem!, town.stamp(), alliance_id));
  return { done, ada: ada!, alliance_id };
}

test.each([
  ['goes on', 'PT1H'],
  ['has expired', 'PT1M'],
])('alliance: a repeat is told what was done first, when the alliance %s', async (_, duration) => {
  const path = join(temporaryFolder(), 'network');
  const genesis = { weights: 'alliance_bonus' } as const;
  let town = await foundTown({ path, genesis });
  const { done } = await lifeOfAlliance(town, duration);
  await town.wait(600_000 - 50);
  for (const when of ['before', 'after']) {
    await expectNothing(town, async () => {
      for (const { request, data } of done) {
        const repeat = { result: 'duplicate', data: { ...data, duplicate: true } };
        expect(await town.submit(request), `${when} the restart`).toEqual(repeat);
      }
    });
    if (when === 'after') break;
    const { now } = town;
    await town.network.close();
    town = town.moved(await testNetwork({ path, genesis, verifier: 'off' }));
    await town.at(now);
  }
  const events = town.told('alliance_update').filter((_, index) => index < done.length);
  expect(done.map(({ data }) => data)).toEqual(events);
});

test('alliance: a repeat is told what was done first, also when it is dissolved', async () => {
  const town = await foundTown();
  const { done, ada, alliance_id } = await lifeOfAlliance(town, 'PT1H');
  await town.leave(ada, alliance_id);
  for (const { request, data } of done) {
    const repeat = { result: 'duplicate', data: { ...data, duplicate: true } };
    expect(await town.submit(request)).toEqual(repeat);
  }
});

test('alliance: a repeated leave is a repeat, a new one is refused', async () => {
  const town = await foundTown();
  const [ada, bob, cem] = await town.joinMany(3);
  const id = await town.allied(ada!, [bob!, cem!]);
  const leave = composeAllianceLeave(bob!, town.stamp(), id);
  await town.submit(leave);
  await expectNothing(town, async () => {
    expect(word(await town.submit(leave))).toBe('duplicate');
    expect(word(await town.leave(bob!, id))).toBe('NOT_MEMBER');
  });
});

test('alliance: the same fields signed at another time make another alliance', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2);
  const ids = [await town.ally(ada!, [bob!]), await town.ally(ada!, [bob!])].map(
    (outcome) => answerOf<'alliance_propose'>(outcome).alliance_id,
  );
  expect(new Set(ids).size).toBe(2);
});

test('discuss: is remembered for 600 seconds as the same message', async () => {
  const town = await foundTown({ genesis: { voting_period_ms: 3_600_000 } });
  const ada = await town.join(['validator', 'producer']);
  await town.join();
  const block_hash = await town.open(ada);
  const stamps = town.stamp;
  town.stamp = () => '2025-01-01T00:00:00Z';
  const first = answerOf<'discuss'>(await town.discuss(ada, { block_hash }));
  await town.at(600_000);
  expect(await town.discuss(ada, { block_hash })).toEqual({
    result: 'duplicate',
    data: { ...first, duplicate: true },
  });
  await town.at(600_001);
  expect(word(await town.discuss(ada, { block_hash }))).toBe('accepted');
  town.stamp = stamps;
});

test('discuss: needs a block in voting, an active agent and known memes', async () => {
  const town = await foundTown();
  const [ada, bob] = await town.joinMany(2, ['validator', 'producer']);
  expect(word(await town.discuss(ada!, { block_hash: 'f'.repeat(64) }))).toBe('UNKNOWN_BLOCK');
  const block_hash = await town.open(ada!);
  const meme_references = [`meme_${'0'.repeat(32)}`];
  expect(word(await town.discuss(ada!, { block_hash, meme_references }))).toBe('UNKNOWN_MEME');
  await town.status(bob!, 'inactive');
  expect(word(await town.discuss(bob!, { block_hash, meme_references }))).toBe('NOT_ACTIVE');
  await town.vote(ada!, block_hash, 'reject');
  expect(refusalOf(await town.discuss(bob!, { block_hash }))).toMatchObject({
    status: 409,
    reason: 'VOTING_CLOSED',
  });
});
