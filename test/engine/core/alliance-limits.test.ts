/** Alliance limits, and duplicate requests. */
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
import {
  answerOf,
  expectRefused,
  newPopulation,
  type Population,
  refusalOf,
  word,
} from '../helpers.js';

test('alliance: accepts 31 invitees, which makes 32 members', async () => {
  const population = await newPopulation();
  const [ada, ...others] = await population.joinMany(32);
  await population.allied(ada!, others);
  expect(population.told('alliance_update').at(-1)?.members).toHaveLength(32);
});

test('alliance: refuses membership in a sixth active alliance', async () => {
  const population = await newPopulation();
  const [bob, ...founders] = await population.joinMany(7);
  for (const founder of founders.slice(0, 5)) await population.allied(founder, [bob!]);
  const { alliance_id } = answerOf<'alliance_propose'>(await population.ally(founders[5]!, [bob!]));
  expectRefused(await population.respond(bob!, alliance_id, true), 'TOO_MANY_ALLIANCES');
  expect(word(await population.respond(bob!, alliance_id, false))).toBe('accepted');
});

test('alliance: counts a proposed alliance for its founder, not for invited agents', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  for (let count = 0; count < 5; count += 1) {
    expect(word(await population.ally(ada!, [bob!]))).toBe('accepted');
  }
  expect(word(await population.ally(ada!, [bob!]))).toBe('TOO_MANY_ALLIANCES');
  expect(word(await population.ally(bob!, [ada!]))).toBe('accepted');
});

test('alliance: does not count an alliance that has ended', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.push(await population.allied(ada!, [bob!]));
  await population.leave(bob!, ids[0]!);
  expect(word(await population.ally(ada!, [bob!]))).toBe('accepted');
  expect(word(await population.ally(ada!, [bob!]))).toBe('TOO_MANY_ALLIANCES');
  await population.wait(60_001);
  expect(word(await population.ally(ada!, [bob!]))).toBe('accepted');
});

test.each([
  'PT1M',
  'PT60S',
  'P30D',
  'P4W',
  'P1DT1H1M1S',
  'P1W',
])('alliance: accepts the duration %s and shows it as sent', async (duration) => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  expect(answerOf(await population.ally(ada!, [bob!], { duration }))).toMatchObject({ duration });
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
])('alliance: refuses the duration %j', async (duration) => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  expect(refusalOf(await population.ally(ada!, [bob!], { duration }))).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 400,
    pointer: '/duration',
  });
});

test('alliance: lasts an hour by default', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  await population.allied(ada!, [bob!]);
  expect(population.told('alliance_update').at(-1)).toMatchObject({ duration: 'PT1H' });
  await population.at(3_600_000);
  expect(population.told('alliance_update').at(-1)?.status).toBe('active');
  await population.at(3_600_001);
  expect(population.told('alliance_update').at(-1)?.status).toBe('expired');
});

/** Expects no change after a refused or duplicate request. */
async function expectNothing(population: Population, act: () => Promise<void>): Promise<void> {
  const before = population.network.read.position;
  await act();
  expect(population.network.read.position).toEqual(before);
}

/** Sends all requests in an alliance's life. Returns the requests with their responses. */
async function lifeOfAlliance(population: Population, duration: string) {
  const [ada, bob, cem, dan] = await population.joinMany(4);
  const target_ids = [dan!.id, cem!.id, bob!.id];
  const done: { request: SignedRequest; data: Answer }[] = [];
  const ask = async (request: SignedRequest) => {
    await population.wait(10);
    done.push({ request, data: answerOf(await population.submit(request)) });
    return done.at(-1)!.data as AnswerOf['alliance_propose'];
  };
  const fields = { target_ids, purpose: 'win', duration };
  const { alliance_id } = await ask(composeAlliancePropose(ada!, population.stamp(), fields));
  await ask(composeAllianceRespond(cem!, population.stamp(), alliance_id, true));
  await ask(composeAllianceRespond(bob!, population.stamp(), alliance_id, false));
  await ask(composeAllianceRespond(dan!, population.stamp(), alliance_id, true));
  await ask(composeAllianceLeave(cem!, population.stamp(), alliance_id));
  return { done, ada: ada!, alliance_id };
}

test.each([
  ['is active', 'PT1H'],
  ['has expired', 'PT1M'],
])('alliance: returns the first response to a duplicate when it %s', async (_, duration) => {
  const path = join(temporaryFolder(), 'network');
  const genesis = { weights: 'alliance_bonus' } as const;
  let population = await newPopulation({ path, genesis });
  const { done } = await lifeOfAlliance(population, duration);
  await population.wait(600_000 - 50);
  for (const when of ['before', 'after']) {
    await expectNothing(population, async () => {
      for (const { request, data } of done) {
        const repeat = { result: 'duplicate', data: { ...data, duplicate: true } };
        expect(await population.submit(request), `${when} the restart`).toEqual(repeat);
      }
    });
    if (when === 'after') break;
    const { now } = population;
    await population.network.close();
    population = population.moved(await testNetwork({ path, genesis, verifier: 'off' }));
    await population.at(now);
  }
  const events = population.told('alliance_update').filter((_, index) => index < done.length);
  expect(done.map(({ data }) => data)).toEqual(events);
});

test('alliance: returns the first response to a duplicate when it is dissolved', async () => {
  const population = await newPopulation();
  const { done, ada, alliance_id } = await lifeOfAlliance(population, 'PT1H');
  await population.leave(ada, alliance_id);
  for (const { request, data } of done) {
    const repeat = { result: 'duplicate', data: { ...data, duplicate: true } };
    expect(await population.submit(request)).toEqual(repeat);
  }
});

test('alliance: treats the same leave as a duplicate and refuses a new one', async () => {
  const population = await newPopulation();
  const [ada, bob, cem] = await population.joinMany(3);
  const id = await population.allied(ada!, [bob!, cem!]);
  const leave = composeAllianceLeave(bob!, population.stamp(), id);
  await population.submit(leave);
  await expectNothing(population, async () => {
    expect(word(await population.submit(leave))).toBe('duplicate');
    expect(word(await population.leave(bob!, id))).toBe('NOT_MEMBER');
  });
});

test('alliance: treats the same fields with a new timestamp as a new alliance', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const ids = [await population.ally(ada!, [bob!]), await population.ally(ada!, [bob!])].map(
    (outcome) => answerOf<'alliance_propose'>(outcome).alliance_id,
  );
  expect(new Set(ids).size).toBe(2);
});

test('discuss: detects a duplicate for 600 seconds', async () => {
  const population = await newPopulation({ genesis: { voting_period_ms: 3_600_000 } });
  const ada = await population.join(['validator', 'producer']);
  await population.join();
  const block_hash = await population.open(ada);
  const stamps = population.stamp;
  population.stamp = () => '2025-01-01T00:00:00Z';
  const first = answerOf<'discuss'>(await population.discuss(ada, { block_hash }));
  await population.at(600_000);
  expect(await population.discuss(ada, { block_hash })).toEqual({
    result: 'duplicate',
    data: { ...first, duplicate: true },
  });
  await population.at(600_001);
  expect(word(await population.discuss(ada, { block_hash }))).toBe('accepted');
  population.stamp = stamps;
});

test('discuss: requires an open block, an active agent and known memes', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2, ['validator', 'producer']);
  expect(word(await population.discuss(ada!, { block_hash: 'f'.repeat(64) }))).toBe(
    'UNKNOWN_BLOCK',
  );
  const block_hash = await population.open(ada!);
  const meme_references = [`meme_${'0'.repeat(32)}`];
  expect(word(await population.discuss(ada!, { block_hash, meme_references }))).toBe(
    'UNKNOWN_MEME',
  );
  await population.status(bob!, 'inactive');
  expect(word(await population.discuss(bob!, { block_hash, meme_references }))).toBe('NOT_ACTIVE');
  await population.vote(ada!, block_hash, 'reject');
  expectRefused(await population.discuss(bob!, { block_hash }), 'VOTING_CLOSED');
});
