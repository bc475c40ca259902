/** How many blocks a network opens, and how they are shared, in a time that stands still. */
import { virtualClock } from 'folkmoot';
import { expect, test } from 'vitest';
import { BlockShare } from '../../../dist/api/limits/block-share.js';
import { START_MS } from '../../support/citizens.js';
import { type Running, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  discuss,
  propose,
  register,
  vote,
} from '../../support/service/signer.js';
import { expectError, type World } from '../../support/service/world.js';

/** A share of ten blocks a minute, and what comes of asking. */
function shareOfTen() {
  const clock = virtualClock(0);
  const share = new BlockShare(10, clock.now);
  const scores = new Map<string, number>();
  return {
    share,
    scores,
    now: () => clock.now(),
    wait: (ms: number) => clock.set(clock.now() + ms),
    take: (producer: string) => share.take(producer, scores.get(producer) ?? 50),
  };
}

test('blocks: five in any half minute, and no more than ten in any minute', () => {
  const { take, wait, now } = shareOfTen();
  const opened: number[] = [];
  for (let step = 0; step < 1_000; step += 1) {
    if (take(`p${step % 3}`) === 0) opened.push(now());
    wait(step % 7 === 0 ? 901 : 277);
  }
  const within = (ms: number, from: number) =>
    opened.filter((at) => at >= from && at < from + ms).length;
  expect(Math.max(...opened.map((at) => within(30_000, at)))).toBe(5);
  expect(Math.max(...opened.map((at) => within(60_000, at)))).toBe(10);
});

test('blocks: one alone has all of them, and learns when a slot is free again', () => {
  const { take, wait } = shareOfTen();
  for (let block = 0; block < 5; block += 1) {
    expect(take('ada')).toBe(0);
    wait(1_000);
  }
  expect(take('ada')).toBe(25_000);
  wait(24_999);
  expect(take('ada')).toBe(1_000);
  wait(1);
  expect(take('ada')).toBe(0);
});

test('blocks: what was not opened after all is given back', () => {
  const { share, take } = shareOfTen();
  for (let tries = 0; tries < 20; tries += 1) {
    expect(take('ada')).toBe(0);
    share.refund('ada');
  }
});

/** What each was given in a span; all ask at each step, in their order. */
function shared(
  scene: ReturnType<typeof shareOfTen>,
  producers: readonly string[],
  { spanMs, stepMs }: { spanMs: number; stepMs: number },
) {
  const given = new Map(producers.map((one) => [one, 0]));
  const longest = new Map(producers.map((one) => [one, 0]));
  const since = new Map(producers.map((one) => [one, scene.now()]));
  for (const end = scene.now() + spanMs; scene.now() < end; scene.wait(stepMs)) {
    for (const one of producers) {
      scene.wait(1);
      const waited = scene.now() - since.get(one)!;
      longest.set(one, Math.max(longest.get(one)!, waited));
      if (scene.take(one) !== 0) continue;
      given.set(one, given.get(one)! + 1);
      since.set(one, scene.now());
    }
  }
  return { given, longest };
}

test('blocks: shared evenly, whoever asks first and most often', () => {
  const scene = shareOfTen();
  const { given } = shared(scene, ['spam', 'ada', 'bob'], { spanMs: 600_000, stepMs: 100 });
  const counts = [...given.values()];
  expect([Math.min(...counts) >= 32, Math.max(...counts) <= 35]).toEqual([true, true]);
});

test('blocks: what some do not want, the others have', () => {
  const scene = shareOfTen();
  let modest = 0;
  let greedy = 0;
  for (let second = 0; second < 600; second += 1) {
    if (second % 60 === 30 && scene.take('modest') === 0) modest += 1;
    if (scene.take('greedy') === 0) greedy += 1;
    scene.wait(1_000);
  }
  expect([modest, greedy]).toEqual([10, 90]);
});

test('blocks: the honest wait half a minute at the most, however many keys spam', () => {
  const spam = Array.from({ length: 14 }, (_, index) => `spam${index}`);
  for (const first of [true, false]) {
    const scene = shareOfTen();
    for (const one of spam) scene.scores.set(one, 49);
    const all = first ? [...spam, 'ada', 'bob', 'cem'] : ['ada', 'bob', 'cem', ...spam];
    const { given, longest } = shared(scene, all, { spanMs: 1_200_000, stepMs: 50 });
    for (const one of ['ada', 'bob', 'cem']) {
      expect(longest.get(one)).toBeLessThanOrEqual(30_100);
      expect(given.get(one)).toBeGreaterThanOrEqual(39);
    }
    // Nobody waits for ever, whatever its reputation.
    for (const one of spam) expect(given.get(one)).toBeGreaterThanOrEqual(2);
  }
});

test('blocks: one that was opened elsewhere counts from when it was opened', () => {
  const { share, take, wait } = shareOfTen();
  wait(60_000);
  for (let block = 0; block < 5; block += 1) share.openedElsewhere('bob', 20_000);
  expect(take('ada')).toBe(10_000);
});

test('blocks: of two that are alike in all else, the first by name has the slot', () => {
  const { take, wait } = shareOfTen();
  take('p0');
  wait(10_000);
  for (let block = 1; block < 5; block += 1) take(`p${block}`);
  expect([take('bob'), take('ada')]).toEqual([20_000, expect.any(Number)]);
  wait(20_000);
  expect(take('bob')).toBeGreaterThan(0);
  expect(take('ada')).toBe(0);
});

test('blocks: a producer of low reputation waits for its patience and the pace at the most', () => {
  const scene = shareOfTen();
  const known = Array.from({ length: 12 }, (_, index) => `known${index}`);
  for (const one of known) scene.scores.set(one, 99);
  const { longest } = shared(scene, [...known, 'ada'], { spanMs: 600_000, stepMs: 50 });
  expect(longest.get('ada')).toBeLessThanOrEqual(151_000);
});

test('blocks: who was expected back and does not come keeps its slot for a while only', () => {
  const { take, wait } = shareOfTen();
  for (let block = 0; block < 5; block += 1) take(`p${block}`);
  for (let ghost = 0; ghost < 20; ghost += 1) expect(take(`ghost${ghost}`)).toBeGreaterThan(0);
  wait(30_000);
  expect(take('p0')).toBeGreaterThan(0);
  wait(10_001);
  expect(take('p0')).toBe(0);
});

async function begin() {
  const clock = virtualClock(START_MS);
  const there = await world({ limits: 'spec', clock, genesis: { min_validators: 1 } });
  return {
    there,
    at: () => new Date(clock.now()).toISOString(),
    pass: (ms: number) => clock.set(clock.now() + ms),
  };
}
type Scene = Awaited<ReturnType<typeof begin>>;

async function join({ there, at, pass }: Scene, name: string, capabilities: string[]) {
  const agent = agentOf(name);
  await there.do(register(agent, { name, capabilities }, at()));
  pass(60_000);
  return agent;
}

const headOf = async (there: World & Running) => there.network.read.networkState().head_hash;

const proposed = async ({ there, at }: Scene, by: Agent) =>
  there.send(propose(by, { parent_hash: await headOf(there) }, at()));

test('propose: beyond what the network opens, 429 BLOCKS_USED and Retry-After', async () => {
  const scene = await begin();
  const { there, at, pass } = scene;
  const ada = await join(scene, 'Ada', ['validator', 'producer']);
  const bob = await join(scene, 'Bob', ['producer']);
  for (let block = 0; block < 5; block += 1) {
    const answer = await proposed(scene, block % 2 === 0 ? ada : bob);
    expect(answer.status, answer.text).toBe(201);
    const { block_hash } = answer.data;
    await there.do(vote(ada, { block_hash }, at()));
    pass(1_000);
  }
  const refused = await proposed(scene, bob);
  expectError(refused, 429, 'RATE_LIMITED', 'BLOCKS_USED');
  expect(refused.headers.get('retry-after')).toBe('25');
  expect(refused.error.details).toMatchObject({ limit: 'blocks', quota: 10, retry_after_s: 25 });
  // The agent is not charged: two of its five are used, and it has three more.
  pass(25_000);
  const again = await proposed(scene, bob);
  expect([again.status, again.headers.get('ratelimit')]).toEqual([201, '"propose";r=2;t=31']);
});

test('vote and discuss: who comes too late is charged nothing', async () => {
  const scene = await begin();
  const { there, at, pass } = scene;
  const ada = await join(scene, 'Ada', ['validator', 'producer']);
  const bob = await join(scene, 'Bob', ['validator']);
  const answer = await proposed(scene, ada);
  const { block_hash } = answer.data;
  await there.do(vote(ada, { block_hash, decision: 'reject' }, at()));
  for (let late = 0; late < 30; late += 1) {
    expectError(
      await there.send(vote(bob, { block_hash }, at())),
      409,
      'INVALID_REQUEST',
      'VOTING_CLOSED',
    );
    const said = discuss(bob, { block_hash, message: `${late}` }, at());
    expectError(await there.send(said), 409, 'INVALID_REQUEST', 'VOTING_CLOSED');
    pass(1);
  }
  const next = await proposed(scene, ada);
  const { block_hash: open } = next.data;
  const counted = await there.send(vote(bob, { block_hash: open }, at()));
  expect([counted.status, counted.headers.get('ratelimit')]).toEqual([201, '"vote";r=9;t=60']);
});

test('vote: who is too late counts as a read of the address', async () => {
  const scene = await begin();
  const { there, at } = scene;
  const ada = await join(scene, 'Ada', ['validator', 'producer']);
  await join(scene, 'Bob', ['validator']);
  const answer = await proposed(scene, ada);
  const { block_hash } = answer.data;
  await there.do(vote(ada, { block_hash, decision: 'reject' }, at()));
  const bob = agentOf('Bob');
  for (let late = 0; late < 600; late += 1) await there.send(vote(bob, { block_hash }, at()));
  const refused = await there.send(vote(bob, { block_hash }, at()));
  expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
  expect(refused.headers.get('ratelimit-policy')).toBe('"read";q=600;w=60');
});
