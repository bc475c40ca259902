/** Registration, status and memes: duplicates, replays, owners, quotas. */
import { composeMeme, composeRegister, composeStatus, limits, type Registration } from 'folkmoot';
import { instant } from '../../support/citizens.js';
import {
  answerOf,
  expectRefused,
  newPopulation,
  type Population,
  populated,
  word,
} from '../helpers.js';

const data: Registration = {
  personality: 'lawful',
  name: 'Ada',
  capabilities: ['validator', 'producer'],
};

/** Expects no change after a refused or duplicate request. */
async function expectNoTrace(population: Population, act: () => Promise<void>): Promise<void> {
  const before = population.network.read.position;
  await act();
  expect(population.network.read.position).toEqual(before);
}

populated('register: returns the id, the time and the status active', async (population) => {
  await population.wait(11);
  const outcome = await population.submit(
    composeRegister(population.key(), population.stamp(), data),
  );
  expect(outcome).toEqual({
    result: 'accepted',
    data: {
      agent_id: expect.stringMatching(/^agent_[0-9a-f]{32}$/),
      registration_time: instant(11),
      status: 'active',
    },
  });
});

populated('register: treats the same data in any form as a duplicate', async (population) => {
  const key = population.key();
  const first = answerOf<'register'>(
    await population.submit(composeRegister(key, population.stamp(), data)),
  );
  await population.wait(60_000);
  await expectNoTrace(population, async () => {
    const same: Registration[] = [
      data,
      { ...data, description: '' },
      { ...data, personality: 'LAWFUL' },
      { ...data, capabilities: ['producer', 'validator'] },
    ];
    for (const fields of same) {
      expect(await population.submit(composeRegister(key, population.stamp(), fields))).toEqual({
        result: 'duplicate',
        data: { ...first, duplicate: true },
      });
    }
  });
});

test('register: the signature proves possession of the key', async () => {
  const population = await newPopulation({ verifier: 'inline' });
  const [ada, bob] = [population.key(), population.key()];
  const stolen = composeRegister({ ...ada, sign: bob.sign }, population.stamp(), data);
  expectRefused(await population.submit(stolen), 'MISMATCH');
});

populated('status: returns the previous and the current status', async (population) => {
  const ada = await population.join();
  const fields = { reason: 'upgrade', expected_duration: 'PT1H' };
  const first = await population.status(ada, 'maintenance', fields);
  expect(answerOf(first)).toEqual({
    agent_id: ada.id,
    status: 'maintenance',
    previous_status: 'active',
    ...fields,
    timestamp: instant(0),
  });
  expect(answerOf(await population.status(ada, 'inactive'))).toMatchObject({
    ...{ previous_status: 'maintenance', reason: '', expected_duration: '' },
  });
});

test.each([
  ['an earlier timestamp', '2024-12-31T23:59:59.999Z'],
  ['the same instant', '2025-01-01T01:00:00+01:00'],
  ['the same millisecond', '2025-01-01T00:00:00.0009Z'],
])('status: refuses %s as a replay', async (_, timestamp) => {
  const population = await newPopulation();
  const ada = await population.join();
  const at = (stamp: string, status: 'active' | 'inactive') =>
    population.submit(composeStatus(ada, stamp, ada.id, { status }));
  await at('2025-01-01T00:00:00.000Z', 'inactive');
  await expectNoTrace(population, async () => {
    expectRefused(await at(timestamp, 'active'), 'REPLAYED');
  });
  expect(word(await at('2025-01-01T00:00:00.001Z', 'active'))).toBe('accepted');
});

populated('status: refuses a repeated timestamp of 1970 as a replay', async (population) => {
  const ada = await population.join();
  const at = (stamp: string, status: 'active' | 'inactive') =>
    population.submit(composeStatus(ada, stamp, ada.id, { status }));
  await at('1970-01-01T00:00:00Z', 'inactive');
  expect(word(await at('1970-01-01T00:00:00Z', 'active'))).toBe('REPLAYED');
});

const posted = (text: string | Uint8Array) => ({
  caption: '',
  tags: [],
  file: typeof text === 'string' ? new TextEncoder().encode(text) : text,
});

test('meme: treats the same request as a duplicate, a new timestamp as a new meme', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const request = composeMeme(ada, population.stamp(), posted('gm'));
  const first = answerOf<'meme'>(await population.submit(request));
  await population.wait(999_000);
  await expectNoTrace(population, async () => {
    expect(await population.submit(request)).toEqual({
      result: 'duplicate',
      data: { ...first, duplicate: true },
    });
  });
  expect(word(await population.submit(composeMeme(ada, population.stamp(), posted('gm'))))).toBe(
    'accepted',
  );
});

const png = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
  'hex',
);

test.each([
  ['image', png],
  ['image', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex')],
  ['gif', Buffer.from('GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;', 'latin1')],
  ['text', Buffer.from('grüße\t🎉\r\n')],
  ['MEDIA_TYPE', Buffer.from(' \n<svg/>')],
  ['MEDIA_TYPE', Buffer.from('a\u0000b')],
  ['MEDIA_TYPE', Buffer.from([0xff, 0xfe, 0x41])],
  ['MEDIA_TYPE', Buffer.from('PK\u0003\u0004\u0014\u0000\u0000\u0000', 'latin1')],
  ['MEDIA_TYPE', Buffer.alloc(0)],
])('meme: detects %s from the bytes', async (type, file) => {
  const population = await newPopulation();
  const outcome = await population.submit(
    composeMeme(await population.join(), population.stamp(), posted(file)),
  );
  const told = 'data' in outcome ? answerOf<'meme'>(outcome).content.type : word(outcome);
  expect(told).toBe(type);
});

test('meme: accepts a file of 1 MiB and refuses one byte more with 413', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const file = (bytes: number) => posted(new Uint8Array(bytes).fill(97));
  const most = limits.memeFileBytes;
  expect(word(await population.submit(composeMeme(ada, population.stamp(), file(most))))).toBe(
    'accepted',
  );
  expect(word(await population.submit(composeMeme(ada, population.stamp(), file(most + 1))))).toBe(
    'TOO_LARGE',
  );
});
