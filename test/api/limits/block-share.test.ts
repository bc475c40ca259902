/** The rate of new blocks and its distribution among producers, in virtual time. */
import { virtualClock } from 'folkmoot';
import { BlockShare } from '../../../dist/api/limits/block-share.js';
import { type Running, type TimedWorld, timedWorld } from '../../support/service/server.js';
import { type Agent, agentOf, discuss, propose, vote } from '../../support/service/signer.js';
import { expectError, type World } from '../../support/service/world.js';

/** Creates a share of ten blocks per minute. */
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

test('blocks: allows five in any half minute, and ten in any minute', () => {
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

test('blocks: gives a single producer all slots, and the time of the next one', () => {
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

test('blocks: takes back a slot whose block was not opened', () => {
  const { share, take } = shareOfTen();
  for (let tries = 0; tries < 20; tries += 1) {
    expect(take('ada')).toBe(0);
    share.refund('ada');
  }
});

/** Simulates producers that all ask at each step, in order. Returns each producer's blocks. */
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

test('blocks: shares evenly among producers, although one always asks first', () => {
  const scene = shareOfTen();
  const { given } = shared(scene, ['spam', 'ada', 'bob'], { spanMs: 600_000, stepMs: 100 });
  const counts = [...given.values()];
  expect([Math.min(...counts) >= 32, Math.max(...counts) <= 35]).toEqual([true, true]);
});

test('blocks: gives unused slots to others', () => {
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

test('blocks: bounds the wait of honest producers to half a minute under spam', () => {
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
    // No producer starves, regardless of its reputation.
    for (const one of spam) expect(given.get(one)).toBeGreaterThanOrEqual(2);
  }
});

test('blocks: counts a block of another node from its opening', () => {
  const { share, take, wait } = shareOfTen();
  wait(60_000);
  for (let block = 0; block < 5; block += 1) share.openedElsewhere('bob', 20_000);
  expect(take('ada')).toBe(10_000);
});

test('blocks: breaks ties by name', () => {
  const { take, wait } = shareOfTen();
  take('p0');
  wait(10_000);
  for (let block = 1; block < 5; block += 1) take(`p${block}`);
  expect([take('bob'), take('ada')]).toEqual([20_000, expect.any(Number)]);
  wait(20_000);
  expect(take('bob')).toBeGreaterThan(0);
  expect(take('ada')).toBe(0);
});

test('blocks: bounds the wait of a producer with low reputation', () => {
  const scene = shareOfTen();
  const known = Array.from({ length: 12 }, (_, index) => `known${index}`);
  for (const one of known) scene.scores.set(one, 99);
  const { longest } = shared(scene, [...known, 'ada'], { spanMs: 600_000, stepMs: 50 });
  expect(longest.get('ada')).toBeLessThanOrEqual(151_000);
});

test('blocks: reserves a slot for an expected producer only for a while', () => {
  const { take, wait } = shareOfTen();
  for (let block = 0; block < 5; block += 1) take(`p${block}`);
  for (let ghost = 0; ghost < 20; ghost += 1) expect(take(`ghost${ghost}`)).toBeGreaterThan(0);
  wait(30_000);
  expect(take('p0')).toBeGreaterThan(0);
  wait(10_001);
  expect(take('p0')).toBe(0);
});

const begin = () => timedWorld({ genesis: { min_validators: 1 } });

const headOf = async (there: World & Running) => there.network.read.networkState().head_hash;

const proposed = async ({ there, at }: TimedWorld, by: Agent) =>
  there.send(propose(by, { parent_hash: await headOf(there) }, at()));

test("propose: answers 429 BLOCKS_USED with Retry-After beyond the network's rate", async () => {
  const scene = await begin();
  const { there, at, pass } = scene;
  const ada = await scene.join('Ada', { capabilities: ['validator', 'producer'] });
  const bob = await scene.join('Bob', { capabilities: ['producer'] });
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
  // The agent is not charged. Two of its five units are used, and three remain.
  pass(25_000);
  const again = await proposed(scene, bob);
  expect([again.status, again.headers.get('ratelimit')]).toEqual([201, '"propose";r=2;t=31']);
});

test('vote and discuss: cost nothing after the block closed', async () => {
  const scene = await begin();
  const { there, at, pass } = scene;
  const ada = await scene.join('Ada', { capabilities: ['validator', 'producer'] });
  const bob = await scene.join('Bob', { capabilities: ['validator'] });
  const { block_hash } = (await proposed(scene, ada)).data;
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
  const { block_hash: open } = (await proposed(scene, ada)).data;
  const counted = await there.send(vote(bob, { block_hash: open }, at()));
  expect([counted.status, counted.headers.get('ratelimit')]).toEqual([201, '"vote";r=9;t=60']);
});

test('vote: counts as a read of the address after the block closed', async () => {
  const scene = await begin();
  const { there, at } = scene;
  const ada = await scene.join('Ada', { capabilities: ['validator', 'producer'] });
  await scene.join('Bob', { capabilities: ['validator'] });
  const { block_hash } = (await proposed(scene, ada)).data;
  await there.do(vote(ada, { block_hash, decision: 'reject' }, at()));
  const bob = agentOf('Bob');
  for (let late = 0; late < 600; late += 1) await there.send(vote(bob, { block_hash }, at()));
  const refused = await there.send(vote(bob, { block_hash }, at()));
  expectError(refused, 429, 'RATE_LIMITED', 'QUOTA_USED');
  expect(refused.headers.get('ratelimit-policy')).toBe('"read";q=600;w=60');
});
