/** Registration, status and memes: duplicates, replays, owners, quotas. */
import { composeMeme, composeRegister, composeStatus, limits, type Registration } from 'folkmoot';
import { expect, test } from 'vitest';
import { instant } from '../../support/citizens.js';
import {
  answerOf,
  expectRefused,
  newPopulation,
  type Population,
  refusalOf,
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

test('register: returns the id, the time and the status active', async () => {
  const population = await newPopulation();
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

test('register: treats the same data in any form as a duplicate', async () => {
  const population = await newPopulation();
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

test('register: returns the current status for a duplicate', async () => {
  const population = await newPopulation();
  const ada = await population.join(['validator'], data);
  await population.status(ada, 'maintenance');
  const again = await population.submit(composeRegister(ada, population.stamp(), data));
  expect(answerOf<'register'>(again).status).toBe('maintenance');
});

test.each([
  { personality: 'greedy' },
  { name: 'ada' },
  { description: 'x' },
  { capabilities: ['validator'] as const },
])('register: refuses other data for the same key: %j', async (change) => {
  const population = await newPopulation();
  const key = population.key();
  await population.submit(composeRegister(key, population.stamp(), data));
  const other = await population.submit(
    composeRegister(key, population.stamp(), { ...data, ...change }),
  );
  expectRefused(other, 'AGENT_EXISTS');
});

test('register: accepts the same name with a different key', async () => {
  const population = await newPopulation();
  for (const key of [population.key(), population.key()]) {
    expect(word(await population.submit(composeRegister(key, population.stamp(), data)))).toBe(
      'accepted',
    );
  }
});

test('register: the signature proves possession of the key', async () => {
  const population = await newPopulation({ verifier: 'inline' });
  const [ada, bob] = [population.key(), population.key()];
  const stolen = composeRegister({ ...ada, sign: bob.sign }, population.stamp(), data);
  expectRefused(await population.submit(stolen), 'MISMATCH');
});

test('status: returns the previous and the current status', async () => {
  const population = await newPopulation();
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
    previous_status: 'maintenance',
    reason: '',
    expected_duration: '',
  });
});

test('status: refuses a different signer', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const request = composeStatus(bob!, population.stamp(), ada!.id, { status: 'inactive' });
  expectRefused(await population.submit(request), 'NOT_OWNER');
});

test('status: refuses an unknown agent with 404', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const id = `agent_${'0'.repeat(32)}`;
  const request = composeStatus(ada, population.stamp(), id, { status: 'inactive' });
  expectRefused(await population.submit(request), 'UNKNOWN_AGENT');
});

test('status: treats the same request as a duplicate', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const request = composeStatus(ada, population.stamp(), ada.id, { status: 'inactive' });
  const first = answerOf(await population.submit(request));
  await population.wait(5_000);
  await expectNoTrace(population, async () => {
    expect(await population.submit(request)).toEqual({
      result: 'duplicate',
      data: { ...first, duplicate: true },
    });
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

test('status: refuses an older accepted request as a replay', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const first = composeStatus(ada, population.stamp(), ada.id, { status: 'inactive' });
  await population.submit(first);
  await population.status(ada, 'active');
  expect(word(await population.submit(first))).toBe('REPLAYED');
});

test('status: refuses a repeated timestamp of 1970 as a replay', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const at = (stamp: string, status: 'active' | 'inactive') =>
    population.submit(composeStatus(ada, stamp, ada.id, { status }));
  await at('1970-01-01T00:00:00Z', 'inactive');
  expect(word(await at('1970-01-01T00:00:00Z', 'active'))).toBe('REPLAYED');
});

test('status: a refused update does not count as the last update of its signer', async () => {
  const population = await newPopulation();
  const [ada, bob] = await population.joinMany(2);
  const late = instant(999_000);
  await population.submit(composeStatus(bob!, late, ada!.id, { status: 'inactive' }));
  expect(word(await population.status(bob!, 'inactive'))).toBe('accepted');
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

test('meme: requires an active agent, except for a duplicate', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const request = composeMeme(ada, population.stamp(), posted('gm'));
  await population.submit(request);
  await population.status(ada, 'inactive');
  expect(word(await population.submit(request))).toBe('duplicate');
  expect(
    refusalOf(await population.submit(composeMeme(ada, population.stamp(), posted('gn')))),
  ).toMatchObject({
    code: 'INVALID_AGENT',
    status: 403,
    reason: 'NOT_ACTIVE',
  });
});

test('meme: accepts 64 MiB per agent', async () => {
  const population = await newPopulation();
  const ada = await population.join();
  const file = new Uint8Array(limits.memeFileBytes).fill(97);
  for (let count = 0; count < 64; count += 1) {
    expect(word(await population.submit(composeMeme(ada, population.stamp(), posted(file))))).toBe(
      'accepted',
    );
  }
  expect(
    refusalOf(await population.submit(composeMeme(ada, population.stamp(), posted('x')))),
  ).toMatchObject({
    code: 'INVALID_REQUEST',
    status: 409,
    reason: 'QUOTA',
  });
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
