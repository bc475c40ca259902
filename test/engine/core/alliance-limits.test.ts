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
import { answerOf, newPopulation, type Population } from '../helpers.js';

test('alliance: accepts 31 invitees, which makes 32 members', async () => {
  const population = await newPopulation();
  const [ada, ...others] = await population.joinMany(32);
  await population.allied(ada!, others);
  expect(population.told('alliance_update').at(-1)?.members).toHaveLength(32);
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
