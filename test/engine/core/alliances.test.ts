/** Alliances: joining, ending, limits and duplicate requests. */
import { join } from 'node:path';
import {
  type Answer,
  type AnswerOf,
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  type SignedRequest,
} from 'folkmoot';
import { type Citizen, instant } from '../../support/citizens.js';
import { temporaryFolder, testNetwork } from '../../support/fixture.js';
import { answerOf, newPopulation, type Population, populated, refusalOf } from '../helpers.js';

const as = (
  role: 'founder' | 'member' | 'invited',
  ...citizens: readonly (Citizen | undefined)[]
) => citizens.map((citizen) => ({ id: citizen!.id, role }));

const ascending = (citizens: readonly Citizen[]) =>
  [...citizens].sort((a, b) => (a.id < b.id ? -1 : 1));

test('alliance: a proposal lists founder and invited agents in ascending order', async () => {
  const population = await newPopulation();
  const [ada, ...others] = await population.joinMany(4);
  await population.wait(5);
  const outcome = await population.ally(ada!, [...ascending(others)].reverse());
  expect(answerOf<'alliance_propose'>(outcome)).toEqual({
    alliance_id: expect.stringMatching(/^ally_[0-9a-f]{32}$/),
    ...{ members: [...as('founder', ada), ...as('invited', ...ascending(others))], purpose: 'win' },
    ...{ duration: 'PT1H', status: 'proposed', timestamp: instant(5) },
  });
});

populated('alliance: points at an unknown invitee', async (population) => {
  const [ada, bob] = await population.joinMany(2);
  for (const id of [`agent_${'0'.repeat(32)}`, `agent_${'f'.repeat(32)}`]) {
    const unknown = { ...bob!, id };
    expect(refusalOf(await population.ally(ada!, [bob!, unknown]))).toMatchObject({
      status: 404,
      pointer: '/target_ids/1',
    });
  }
});

populated('alliance: refuses an invitation of the founder', async (population) => {
  const [ada, bob] = await population.joinMany(2);
  for (const targets of [[bob!, ada!], [ada!]]) {
    expect(refusalOf(await population.ally(ada!, targets))).toMatchObject({
      status: 400,
      pointer: `/target_ids/${targets.length - 1}`,
    });
  }
});

populated('alliance: accepts 31 invitees, which makes 32 members', async (population) => {
  const [ada, ...others] = await population.joinMany(32);
  await population.allied(ada!, others);
  expect(population.told('alliance_update').at(-1)?.members).toHaveLength(32);
});

populated('alliance: lasts an hour by default', async (population) => {
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
