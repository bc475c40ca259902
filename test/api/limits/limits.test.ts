/** Rate limits of the profile `spec`: exact sliding windows, in virtual time. */
import { type VirtualClock, virtualClock } from 'folkmoot';
import { describe, expect, test } from 'vitest';
import { addressKey } from '../../../api/limits/connections.js';
import { resolveLimits } from '../../../dist/api/contract/limit-table.js';
import { Limits } from '../../../dist/api/limits/limits.js';
import { START_MS } from '../../support/citizens.js';
import { diskFolder } from '../../support/fixture.js';
import { type Running, world } from '../../support/service/server.js';
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
import { type Answer, expectError, GENESIS_HASH, type World } from '../../support/service/world.js';

interface Scene {
  there: World & Running;
  clock: VirtualClock;
  /** Returns the current time as a timestamp. */
  at(): string;
  pass(milliseconds: number): void;
}

async function begin(limits: 'spec' | 'bench' | 'off' = 'spec', path?: string): Promise<Scene> {
  const clock = virtualClock(START_MS);
  const there = await world({ limits, clock, ...(path === undefined ? {} : { path }) });
  const at = () => new Date(clock.now()).toISOString();
  return { there, clock, at, pass: (milliseconds) => clock.set(clock.now() + milliseconds) };
}

async function join({ there, at, pass }: Scene, name: string): Promise<Agent> {
  const agent = agentOf(name);
  await there.do(register(agent, {}, at()));
  pass(60_000);
  return agent;
}

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
  test('the window is exact to the millisecond', async () => {
    const scene = await begin();
    const { there, at, pass } = scene;
    const ada = await join(scene, 'Ada');
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
    const second = await there.send(of(ada, at()));
    expectError(second, 429, 'RATE_LIMITED', 'QUOTA_USED');
  });

  test('counts per agent, not per address', async () => {
    const scene = await begin();
    const [ada, bob] = [await join(scene, 'Ada'), await join(scene, 'Bob')];
    for (let used = 1; used <= most; used += 1) {
      await scene.there.send(of(ada, scene.at()));
      scene.pass(1);
    }
    expect((await scene.there.send(of(ada, scene.at()))).status).toBe(429);
    expect(left(await scene.there.send(of(bob, scene.at())))).toBe(most - 1);
  });

  test('does not count failed signatures and repeats', async () => {
    const scene = await begin();
    const { there, at, pass } = scene;
    const ada = await join(scene, 'Ada');
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
  const scene = await begin('spec', diskFolder());
  const { there, at, pass } = scene;
  const [ada, bob] = [await join(scene, 'Ada'), await join(scene, 'Bob')];
  const next = () => ally.propose(ada, { target_ids: [bob.agentId] }, at());
  for (let round = 1; round <= 5; round += 1) {
    const first = next();
    pass(1);
    const sent = [first, ...Array<Request>(60).fill(first), next()].map((one) => there.send(one));
    const codes = (await Promise.all(sent)).map(({ status: code }) => code);
    expect(codes).not.toContain(429);
    pass(60_000);
  }
});

test('status: is not used up by replays of an older update', async () => {
  const scene = await begin();
  const { there, at, pass } = scene;
  const ada = await join(scene, 'Ada');
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

describe('register: 1 a minute per address', () => {
  test('charges an accepted registration, not a mistake or a repeat', async () => {
    const { there, at, pass } = await begin();
    const send = (name: string, fields = {}) => there.send(register(agentOf(name), fields, at()));
    expect((await send('Ada', { name: '' })).status).toBe(400);
    expect((await there.send(register(agentOf('Ada'), {}, '2020-01-01T00:00:00Z'))).status).toBe(
      401,
    );
    expect((await send('Ada')).status).toBe(201);
    // The quota is checked before the body, so a repeat must also wait.
    for (const name of ['Ada', 'Bob']) expect((await send(name)).status).toBe(429);
    pass(59_999);
    const early = await send('Bob');
    expect([early.status, early.headers.get('retry-after')]).toEqual([429, '1']);
    pass(1);
    expect((await send('Ada', { name: 'Other' })).status).toBe(409);
    expect((await send('Ada')).status).toBe(200);
    expect((await send('Bob')).status).toBe(201);
  });

  test('accepts one of ten concurrent registrations', async () => {
    // Runs on disk, where a commit takes a while.
    const { there, at } = await begin('spec', diskFolder());
    const ten = Array.from({ length: 10 }, (_, index) => register(agentOf(`${index}`), {}, at()));
    const codes = await Promise.all(ten.map(async (request) => (await there.send(request)).status));
    expect(codes.toSorted()).toEqual([201, ...Array(9).fill(429)]);
  });
});

describe('limits of an address', () => {
  test('reads: 600 a minute in total', async () => {
    const { there, pass } = await begin();
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
    const debug = await there.get('/api/v1/debug/ws/conn_0');
    expectError(debug, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect((await there.get('/healthz')).status).toBe(200);
    pass(60_000);
    expect((await there.get('/api/v1/network/state')).status).toBe(200);
  });

  test('failed signatures: 60 a minute, then no signed request is verified', async () => {
    const scene = await begin();
    const { there, at, pass } = scene;
    const ada = await join(scene, 'Ada');
    const forger = { ...ada, sign: agentOf('Forger').sign };
    const forged = () => there.send(vote(forger, { block_hash: HASH }, at()));
    for (let used = 1; used <= 60; used += 1) expect((await forged()).status).toBe(401);
    const refused = await there.send(status(ada, { status: 'active' }, ada.agentId, at()));
    expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
    expect(refused.headers.get('ratelimit-policy')).toBe('"failed_signature";q=60;w=60');
    expect(refused.headers.get('retry-after')).toBe('60');
    const malformed = { ...vote(ada, { block_hash: HASH }, at()), body: '{' };
    expect((await there.send(malformed)).status).toBe(429);
    expect((await there.get('/api/v1/network/state')).status).toBe(200);
    pass(60_000);
    const { status: code } = await there.send(status(ada, { status: 'active' }, ada.agentId, at()));
    expect(code).toBe(200);
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
  ])('counts %s as %s', (address, expected) => {
    expect(addressKey(address)).toBe(expected);
  });
});

test('subjects: those above the limit share one quota until idle ones are removed', () => {
  const clock = virtualClock(START_MS);
  const limits = new Limits('spec', resolveLimits('spec'), clock.now);
  const all = limits.figures!.read;
  const use = (subject: string, amount = 1) => limits.account(subject).use('read', amount);
  const remaining = (subject: string) => limits.account(subject).quota('read')?.remaining;
  for (let subject = 0; subject < 65_536; subject += 1) use(`address:${subject}`);
  use('address:a newcomer', all);
  expect([remaining('address:another'), remaining('address:0')]).toEqual([0, all - 1]);
  clock.set(clock.now() + 60_000);
  use('address:a newcomer', all);
  expect([remaining('address:a newcomer'), remaining('address:another')]).toEqual([0, all]);
});

describe('profiles', () => {
  test.each([
    ['spec', '"vote";q=10;w=60'],
    ['bench', '"vote";q=100000;w=60'],
    ['off', null],
  ] as const)('%s: is shown in /api/v1/meta', async (profile, policy) => {
    const scene = await begin(profile);
    const ada = await join(scene, 'Ada');
    const { limits } = await scene.there.read('/api/v1/meta');
    expect(limits).toMatchObject({ profile });
    const answer = await scene.there.send(vote(ada, { block_hash: GENESIS_HASH }, scene.at()));
    expect(answer.headers.get('ratelimit-policy')).toBe(policy);
  });
});
