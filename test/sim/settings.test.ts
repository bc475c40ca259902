/** Scenario settings: schedules, weights, length, signatures and seeds. */
import { completeScenario, loadScenario, shippedScenarios, simulate } from 'folkmoot/sim';
import { describe, expect, test } from 'vitest';
import { live, quiet, type Raw } from './fixture.js';

const town = { group: 'town', count: 9, producers: 3, strategy: { kind: 'honest' } };

describe('schedules', () => {
  const makers = async (schedule: string, seed = '1') => {
    const producers = { schedule, block_interval_ms: 4_000 };
    const { blocks } = await live([town], { producers, seed, length: { blocks: 18 } });
    return blocks.map(({ producer_name, proposed_ms }) => ({
      name: producer_name!,
      ms: Number(proposed_ms),
    }));
  };

  test('round_robin: producers take turns, one slot each', async () => {
    const made = await makers('round_robin');
    const [first, second, third] = made.map(({ name }) => name);
    expect(new Set([first, second, third]).size).toBe(3);
    made.forEach(({ name, ms }, slot) => {
      expect(name).toBe([first, second, third][slot % 3]);
      expect(ms).toBe(5_000 + 4_000 * slot + 20);
    });
  });

  test('random: draws a producer for each slot, the same for the same seed', async () => {
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

  test('open: every producer proposes, at no fixed time', async () => {
    const made = await makers('open');
    expect(new Set(made.map(({ name }) => name)).size).toBe(3);
    expect(new Set(made.map(({ ms }) => ms % 4_000)).size).toBeGreaterThan(10);
  });
});

describe('weights', () => {
  const weighed = async (weights: string) => {
    const allied = { ...town, strategy: { kind: 'sybil', approves: 1 } };
    const { blocks } = await live([allied], {
      consensus: { policy: 'bft', weights },
      social: { ...quiet, alliances: { duration_ms: 3_600_000 } },
      length: { virtual_ms: 120_000 },
    });
    return blocks.map(({ electorate, electors }) => Number(electorate) / Number(electors));
  };

  test('equal: gives each elector weight 1', async () => {
    expect(new Set(await weighed('equal'))).toEqual(new Set([1]));
  });

  test('reputation: starts at 50, and increases with votes that match the outcome', async () => {
    const mean = await weighed('reputation');
    expect(mean[0]).toBe(50);
    expect(mean.at(-1)).toBeGreaterThan(50);
  });

  test('alliance_bonus: gives each elector weight 100, and up to 110 with allies', async () => {
    const mean = await weighed('alliance_bonus');
    expect(mean[0]).toBe(100);
    expect(mean.at(-1)).toBeGreaterThan(101);
    expect(mean.at(-1)).toBeLessThanOrEqual(110);
  });
});

describe('length', () => {
  test('blocks: ends after the given number of closed blocks', async () => {
    const { result } = await live([town], { length: { blocks: 4 } });
    expect(result.measures.finalized).toBe(4);
  });

  test('virtual_ms: ends at that time, within a window', async () => {
    const { result } = await live([town], { length: { virtual_ms: 31_000 } });
    expect(result.virtual_ms).toBeGreaterThanOrEqual(31_000);
    expect(result.virtual_ms).toBeLessThan(36_100);
  });

  test('until: ends within nine votes after the count is reached', async () => {
    const until = { measure: 'votes', reaches: 20 };
    const { result } = await live([town], { length: { until } });
    expect(result.measures.votes).toBeGreaterThanOrEqual(20);
    expect(result.measures.votes).toBeLessThan(20 + 9);
  });

  test('ends at the condition that is met first', async () => {
    const length = { blocks: 100, virtual_ms: 12_000 };
    const { result } = await live([town], { length });
    expect(result.measures.proposed).toBeLessThanOrEqual(2);
  });
});

describe('digests', () => {
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
      memes: { rate: 5 },
      discussion: { rate: 5 },
      alliances: { rate: 5 },
      breaks: { rate: 5 },
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

  test('are independent of signature checks and of where they run', async () => {
    const pool = await digestOf({}, 'pool');
    expect(await digestOf({}, 'inline')).toBe(pool);
    expect(await digestOf({}, 'off')).toBe(pool);
    expect(await digestOf({ signatures: 'unverified' }, 'pool')).toBe(pool);
  });

  test('are equal for two runs without signatures, and differ for another seed', async () => {
    const unsigned = await digestOf({ signatures: 'none' });
    expect(await digestOf({ signatures: 'none' })).toBe(unsigned);
    expect(await digestOf({ signatures: 'none', seed: '2' })).not.toBe(unsigned);
  });
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
