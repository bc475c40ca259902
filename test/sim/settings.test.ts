/** Scenario settings: schedules, weights, length, signatures and seeds. */
import { completeScenario, loadScenario, shippedScenarios, simulate } from 'folkmoot/sim';
import { live, type Raw } from './fixture.js';

const town = { group: 'town', count: 9, producers: 3, strategy: { kind: 'honest' } };

const makers = async (schedule: string, seed = '1') => {
  const producers = { schedule, block_interval_ms: 4_000 };
  const { blocks } = await live([town], { producers, seed, length: { blocks: 18 } });
  return blocks.map((b) => ({ name: b.producer_name!, ms: Number(b.proposed_ms) }));
};

test('schedules: round_robin: producers take turns, one slot each', async () => {
  const made = await makers('round_robin');
  const [first, second, third] = made.map(({ name }) => name);
  expect(new Set([first, second, third]).size).toBe(3);
  made.forEach(({ name, ms }, slot) => {
    expect(name).toBe([first, second, third][slot % 3]);
    expect(ms).toBe(5_000 + 4_000 * slot + 20);
  });
});

test('schedules: random: draws a producer for each slot, the same for the same seed', async () => {
  const [made, again, other] = [
    await makers('random'),
    await makers('random'),
    await makers('random', '2'),
  ];
  expect(again).toEqual(made);
  expect(other.map(({ name }) => name)).not.toEqual(made.map(({ name }) => name));
  for (const { ms } of made) expect((ms - 5_020) % 4_000).toBe(0);
  expect(new Set(made.map(({ name }) => name)).size).toBe(3);
});

test('schedules: open: every producer proposes, at no fixed time', async () => {
  const made = await makers('open');
  expect(new Set(made.map(({ name }) => name)).size).toBe(3);
  expect(new Set(made.map(({ ms }) => ms % 4_000)).size).toBeGreaterThan(10);
});

/** Uses every feature that draws random numbers. */
const busy = {
  title: 'everything at once',
  agents: [
    { group: 'town', count: 14, producers: 3 },
    { group: 'bloc', count: 2, producers: 1, strategy: { kind: 'bloc' } },
    { group: 'two', count: 2, strategy: { kind: 'equivocator' } },
    { group: 'sybil', count: 3, strategy: { kind: 'sybil' } },
    { group: 'spam', count: 1, strategy: { kind: 'meme_spammer' } },
    { group: 'wait', count: 3, strategy: { kind: 'follower' } },
  ],
  links: { latency: { distribution: 'exponential' }, loss: 0.05, duplication: 0.05 },
  topology: { kind: 'scale_free', degree: 4 },
  social: {
    ...{ memes: { rate: 5 }, discussion: { rate: 5 }, alliances: { rate: 5 }, breaks: { rate: 5 } },
  },
  faults: [
    { kind: 'partition', start_ms: 10_000, length_ms: 8_000, whom: [{ share: 0.2 }] },
    { kind: 'crash', start_ms: 20_000, length_ms: 8_000, whom: [{ count: 3 }] },
    { kind: 'churn', start_ms: 5_000, length_ms: 50_000, whom: [{ group: 'town', share: 0.3 }] },
  ],
  length: { virtual_ms: 60_000 },
};
const digestOf = async (sections: Raw, verifier: 'pool' | 'inline' | 'off' = 'off') => {
  const scenario = completeScenario({ ...busy, ...sections });
  const { digest, log_digest, verdict } = await simulate(scenario, { store: 'memory', verifier });
  expect(verdict).not.toBe('safety');
  return `${digest} ${log_digest}`;
};

test('digests: are independent of signature checks and of where they run', async () => {
  const pool = await digestOf({}, 'pool');
  expect(await digestOf({}, 'inline')).toBe(pool);
  expect(await digestOf({}, 'off')).toBe(pool);
  expect(await digestOf({ signatures: 'unverified' }, 'pool')).toBe(pool);
});

test('digests: equal for two runs without signatures, different for another seed', async () => {
  const unsigned = await digestOf({ signatures: 'none' });
  expect(await digestOf({ signatures: 'none' })).toBe(unsigned);
  expect(await digestOf({ signatures: 'none', seed: '2' })).not.toBe(unsigned);
});

test('limits: access to the next block does not depend on durability', async () => {
  const { path } = shippedScenarios().find(({ name }) => name === 'takeover')!;
  const { scenario } = loadScenario(path);
  // In memory, commits are durable sooner than on any disk.
  const digests = [];
  for (const store of ['memory', 'lmdb', 'lmdb'] as const) {
    digests.push((await simulate(scenario, { store })).digest);
  }
  expect(new Set(digests).size).toBe(1);
});
