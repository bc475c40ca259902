/** Rate limits of the profile `spec`: exact sliding windows, in virtual time. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { virtualClock } from 'folkmoot';
import { resolveLimits } from '../../../dist/api/contract/limit-table.js';
import { addressKey, Limits, refund } from '../../../dist/api/limits/limits.js';
import { START_MS } from '../../support/citizens.js';
import { diskFolder, testsWith } from '../../support/fixture.js';
import { timedWorld } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  ally,
  discuss,
  meme,
  propose,
  type Request,
  register,
  status,
  vote,
} from '../../support/service/signer.js';
import { type Answer, expectError } from '../../support/service/world.js';

const check = testsWith(() => timedWorld());

/** Returns the remaining quota from the header. */
const left = ({ headers }: Answer) => Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);
const HASH = 'a'.repeat(64);
const ALLY = `ally_${'0'.repeat(32)}`;

const operations: [string, number, (by: Agent, at: string) => Request][] = [
  ['vote', 10, (by, at) => vote(by, { block_hash: HASH }, at)],
  ['propose', 5, (by, at) => propose(by, { parent_hash: HASH }, at)],
  ['meme', 20, (by, at) => meme(by, { file: at }, at)],
  ['status', 30, (by, at) => status(by, { status: 'active' }, by.agentId, at)],
  ['discuss', 20, (by, at) => discuss(by, { block_hash: HASH }, at)],
  ['alliance_propose', 5, (by, at) => ally.propose(by, { target_ids: [by.agentId] }, at)],
  ['alliance_respond', 30, (by, at) => ally.respond(by, ALLY, true, at)],
  ['alliance_leave', 30, (by, at) => ally.leave(by, ALLY, at)],
];

describe.each(operations)('%s: %i a minute', (name, most, of) => {
  check('the window is exact to the millisecond', async (scene) => {
    const { there, at, pass } = scene;
    const ada = await scene.join('Ada');
    // Sends one request per second, then none for the rest of the minute.
    for (let used = 1; used <= most; used += 1) {
      const answer = await there.send(of(ada, at()));
      expect([answer.status === 429, left(answer)], answer.text).toEqual([false, most - used]);
      expect(answer.headers.get('ratelimit-policy')).toBe(`"${name}";q=${most};w=60`);
      pass(1_000);
    }
    pass(60_000 - most * 1_000 - 1);
    const early = await there.send(of(ada, at()));
    expectError(early, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(early.headers.get('ratelimit')).toBe(`"${name}";r=0;t=1`);
    expect(early.headers.get('retry-after')).toBe('1');
    pass(1);
    // Only one use has left the window.
    expect(left(await there.send(of(ada, at())))).toBe(0);
    pass(1);
    expectError(await there.send(of(ada, at())), 429, 'RATE_LIMITED', 'QUOTA_USED');
  });

  check('counts per agent, not per address', async (scene) => {
    const [ada, bob] = [await scene.join('Ada'), await scene.join('Bob')];
    for (let used = 1; used <= most; used += 1) {
      await scene.there.send(of(ada, scene.at()));
      scene.pass(1);
    }
    expect((await scene.there.send(of(ada, scene.at()))).status).toBe(429);
    expect(left(await scene.there.send(of(bob, scene.at())))).toBe(most - 1);
  });

  check('does not count failed signatures and repeats', async (scene) => {
    const { there, at, pass } = scene;
    const ada = await scene.join('Ada');
    const forger = { ...ada, sign: agentOf('Forger').sign };
    for (let times = 1; times <= most + 1; times += 1) {
      expectError(await there.send(of(forger, at())), 401, 'INVALID_SIGNATURE', 'MISMATCH');
    }
    const request = of(ada, at());
    const first = await there.send(request);
    expect(left(first)).toBe(most - 1);
    if (first.status < 300) {
      for (let times = 1; times <= most + 1; times += 1) await there.do(request, 200);
      pass(1);
      expect(left(await there.send(of(ada, at())))).toBe(most - 2);
    }
  });
});

test('alliance_propose: is not used up by repeats in flight', async () => {
  // Runs on disk, where a commit takes a while, so that all requests in a round wait for the same
  // commits.
  const scene = await timedWorld({ path: diskFolder() });
  const { there, at, pass } = scene;
  const [ada, bob] = [await scene.join('Ada'), await scene.join('Bob')];
  const next = () => ally.propose(ada, { target_ids: [bob.agentId] }, at());
  for (let round = 1; round <= 5; round += 1) {
    const first = next();
    pass(1);
    const sent = [first, ...Array<Request>(60).fill(first), next()].map((one) => there.send(one));
    expect((await Promise.all(sent)).map(({ status: code }) => code)).not.toContain(429);
    pass(60_000);
  }
});

check('status: is not used up by replays of an older update', async (scene) => {
  const { there, at, pass } = scene;
  const ada = await scene.join('Ada');
  const next = () => status(ada, { status: 'active' }, ada.agentId, at());
  const older = next();
  await there.do(older, 200);
  pass(1);
  expect(left(await there.send(next()))).toBe(28);
  for (let times = 1; times <= 31; times += 1) {
    expectError(await there.send(older), 401, 'INVALID_SIGNATURE', 'REPLAYED');
  }
  pass(1);
  expect(left(await there.send(next()))).toBe(27);
});

test('register: charges an accepted registration, not a mistake or a repeat', async () => {
  const { there, at, pass } = await timedWorld();
  const send = (name: string, fields = {}) => there.send(register(agentOf(name), fields, at()));
  expect((await send('Ada', { name: '' })).status).toBe(400);
  expect((await there.send(register(agentOf('Ada'), {}, '2020-01-01T00:00:00Z'))).status).toBe(401);
  expect((await send('Ada')).status).toBe(201);
  // The quota is checked before the body, so a repeat must also wait.
  for (const name of ['Ada', 'Bob']) expect((await send(name)).status).toBe(429);
  pass(59_999);
  const early = await send('Bob');
  expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1']);
  pass(1);
  expect((await send('Ada', { name: 'Other' })).status).toBe(409);
  expect([(await send('Ada')).status, (await send('Bob')).status]).toEqual([200, 201]);
});

test('register: accepts one of ten concurrent registrations', async () => {
  // Runs on disk, where a commit takes a while.
  const { there, at } = await timedWorld({ path: diskFolder() });
  const ten = Array.from({ length: 10 }, (_, index) => register(agentOf(`${index}`), {}, at()));
  const codes = await Promise.all(ten.map(async (request) => (await there.send(request)).status));
  expect(codes.toSorted()).toEqual([201, ...Array(9).fill(429)]);
});

check('address, reads: 600 a minute in total', async ({ there, pass }) => {
  const paths = ['network/state', 'network/agents', 'blocks', 'meta', 'events', 'agents/agent_0'];
  for (let used = 0; used < 600; used += 50) {
    const path = `/api/v1/${paths[(used / 50) % paths.length]}`;
    const answers = await Promise.all(Array.from({ length: 50 }, () => there.get(path)));
    expect(Math.min(...answers.map(left))).toBe(600 - used - 50);
    expect(answers[0]!.headers.get('ratelimit-policy')).toBe('"read";q=600;w=60');
  }
  const refused = await there.get('/api/v1/network/state');
  expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
  expect(refused.headers.get('retry-after')).toBe('60');
  expectError(await there.get('/api/v1/debug/ws/conn_0'), 429, 'RATE_LIMITED', 'QUOTA_USED');
  expect((await there.get('/healthz')).status).toBe(200);
  pass(60_000);
  expect((await there.get('/api/v1/network/state')).status).toBe(200);
});

test.each([
  ['127.0.0.1', 'address:127.0.0.1'],
  ['::ffff:127.0.0.1', 'address:127.0.0.1'],
  ['::ffff:10.20.30.40', 'address:10.20.30.40'],
  ['0000:0000:0000:0000:0000:ffff:7f00:0001', 'address:127.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', 'address:2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', 'address:2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0000:0000:0000:0009', 'address:2001:db8:1:2::/64'],
  ['2001:db8:1:3::9', 'address:2001:db8:1:3::/64'],
  ['2001:db8::9', 'address:2001:db8:0:0::/64'],
  ['2001:DB8:1:2::A', 'address:2001:db8:1:2::/64'],
  ['::1', 'address:0:0:0:0::/64'],
])('address, counts %s as %s', (address, expected) => {
  expect(addressKey(address)).toBe(expected);
});

describe('a full table', () => {
  const MOST = 65_536;
  const table = () => {
    const clock = virtualClock(START_MS);
    const limits = new Limits('spec', resolveLimits('spec'), clock.now);
    const account = (address: string) => limits.address(addressKey(address));
    const get = (address: string) => 'use' in account(address).take('read');
    const left = (address: string) => account(address).quota('read')!.remaining;
    return { clock, limits, account, get, left, quota: limits.figures!.read };
  };
  const flood = (count: number, send: (index: number) => unknown) => {
    for (let index = 0; index < count; index += 1) send(index);
  };
  /** Addresses of one /48, of one /16, and without a common network. */
  const dense6 = (index: number) => `2001:db8:7:${index.toString(16)}::1`;
  const dense4 = (index: number) => `10.9.${index >> 8}.${index & 255}`;
  const sparse = (index: number) => `2001:${(index >> 8).toString(16)}:${index & 255}:1::1`;

  test.each([
    ['of one /48', dense6],
    ['of many /24', dense4],
    ['without a common network', sparse],
  ])('addresses %s: lock out no newcomer, and leave other counts', (_, address) => {
    const { get, left, limits, quota } = table();
    flood(20, () => get('192.0.2.1'));
    flood(MOST - 1, (index) => get(address(index)));
    expect(limits.subjects).toBe(MOST);
    get('192.0.2.1');
    expect(get(address(MOST - 1))).toBe(true);
    expect(limits.subjects).toBeLessThanOrEqual(MOST - MOST / 16 + 1);
    for (const newcomer of ['198.51.100.7', '2001:db8:8::1', '203.0.113.9']) {
      expect(left(newcomer)).toBe(quota);
      expect(get(newcomer)).toBe(true);
    }
    expect(left('192.0.2.1')).toBe(quota - 21);
    flood(3 * MOST, (index) => get(address(index % (MOST * 4))));
    expect(limits.subjects).toBeLessThanOrEqual(MOST);
    expect(get('198.51.100.8')).toBe(true);
  });

  test('a network with many addresses shares an account, until it is idle', () => {
    const { account, get, left, limits, quota, clock } = table();
    flood(MOST + 1, (index) => get(dense6(index % MOST)));
    get('198.51.100.7');
    expect(limits.subjects).toBe(2);
    flood(quota, (index) => get(dense6(index)));
    expect([left(dense6(9)), left(dense6(70_000 & 0xffff))]).toEqual([0, 0]);
    expect(account(dense6(9)).isShared).toBe(true);
    // An agent of this network has an account for its own address.
    const agent = limits.address(addressKey(dense6(9)), true);
    expect('use' in agent.take('read')).toBe(true);
    clock.set(clock.now() + 60_000);
    limits.sweep();
    expect(limits.subjects).toBe(0);
    expect([account(dense6(9)).isShared, left(dense6(9))]).toEqual([false, quota]);
  });

  test('requests in flight keep their counts when their subject is forgotten', () => {
    const { account, get, left, clock, limits, quota } = table();
    const flying = account('192.0.2.1');
    const use = flying.use('read');
    clock.set(clock.now() + 60_000);
    limits.sweep();
    get('198.51.100.7');
    refund(use);
    // A request's uses have the time of its head, so this one has expired.
    flying.use('read', 5);
    expect([left('192.0.2.1'), left('198.51.100.7')]).toEqual([quota, quota - 1]);
  });

  test('a subject takes at most 300 bytes', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const bytes = () => {
      gc();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const measure = () => {
      const { account, limits } = table();
      const before = bytes();
      flood(MOST, (index) => {
        const own = account(sparse(index));
        for (const name of ['connections', 'requests', 'read'] as const) own.take(name);
      });
      const each = (bytes() - before) / MOST;
      expect(limits.subjects).toBe(MOST);
      return each;
    };
    // Other allocations of the process only add, so the smallest figure is the most accurate.
    expect(Math.min(measure(), measure(), measure())).toBeLessThan(300);
  });
});

test('idle subjects: are forgotten by a timer, without a request', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { there, pass } = await timedWorld();
  const subjects = async () => {
    const text = await (await fetch(`${there.url}/metrics`)).text();
    return Number(/^folkmoot_limit_subjects (\d+)$/m.exec(text)?.[1]);
  };
  await there.get('/api/v1/meta');
  expect(await subjects()).toBe(1);
  pass(60_000);
  vi.advanceTimersByTime(10_000);
  // The request for the metrics may have opened a connection.
  pass(60_000);
  vi.advanceTimersByTime(10_000);
  expect(await subjects()).toBe(0);
});
