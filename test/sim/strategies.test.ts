/** Each strategy does what docs/scenarios.md describes. */
import { allVote, live, quiet, sentBy, votesOf } from './fixture.js';

/** Proposes sound blocks and judges by content alone. */
const honest = { group: 'honest', count: 6, producers: 2, strategy: { kind: 'honest' } };
/** Half of its transactions do not balance. */
const careless = {
  ...{ group: 'careless', count: 4, producers: 2, traits: { care: 0.5 } },
  strategy: { kind: 'personality' },
};
/** Thinks until all other agents have voted. */
const slow = { think_ms: 6_000 };

test('honest: approves sound blocks, rejects unsound ones, and always votes', async () => {
  const lived = await live([honest, careless], { length: { blocks: 12 } });
  const votes = votesOf(lived, 'honest');
  for (const { decision, of } of votes) {
    expect(decision).toBe(of.soundness === '100' ? 'approve' : 'reject');
  }
  expect(new Set(votes.map(({ decision }) => decision)).size).toBe(2);
  expect(votes).toHaveLength(6 * lived.blocks.length);
  const own = lived.blocks.filter(({ producer_group }) => producer_group === 'honest');
  expect(new Set(own.map(({ soundness }) => soundness))).toEqual(new Set(['100']));
});

test('honest: approves at its soundness threshold and above', async () => {
  const lenient = { ...honest, strategy: { kind: 'honest', soundness: 40 } };
  const lived = await live([lenient, careless], { length: { blocks: 12 } });
  for (const { decision, of } of votesOf(lived, 'honest')) {
    expect(decision).toBe(Number(of.soundness) >= 40 ? 'approve' : 'reject');
  }
});

test('silent: never votes, and bft stops when a third of the electors are silent', async () => {
  const silent = { group: 'silent', count: 3, strategy: { kind: 'silent' } };
  const lived = await live([honest, silent], {
    consensus: { policy: 'bft', dormant_after: 0, voting_period_ms: 3_000 },
  });
  expect(sentBy(lived, 'silent', 'register')).toHaveLength(3);
  expect([sentBy(lived, 'silent', 'vote'), lived.result.verdict]).toEqual([[], 'no_progress']);
  expect(lived.result.measures.expired).toBe(6);
});

test('equivocator: votes both ways; the first vote counts, the second is evidence', async () => {
  const two = { group: 'two', count: 3, strategy: { kind: 'equivocator', gap_ms: 50 } };
  const sections = { consensus: { policy: 'bft', dormant_after: 0 } };
  const lived = await live([{ ...honest, traits: slow }, two], sections);
  const ways = new Map<string, Set<unknown>>();
  for (const { publicKey, body } of sentBy(lived, 'two', 'vote')) {
    const name = `${publicKey} ${body.block_hash}`;
    ways.set(name, (ways.get(name) ?? new Set()).add(body.decision));
  }
  const both = [...ways.values()].filter((decisions) => decisions.size === 2);
  expect(both.length).toBeGreaterThan(10);
  expect(lived.result.measures.equivocations).toBe(both.length);
  const counted = votesOf(lived, 'two').map(({ agent, block }) => `${agent} ${block}`);
  expect(new Set(counted).size).toBe(counted.length);
});

test('equivocator: votes once at rate 0', async () => {
  const one = { group: 'one', count: 3, strategy: { kind: 'equivocator', rate: 0 } };
  const { result } = await live([honest, one]);
  expect(result.measures.equivocations).toBe(0);
});

test.each([
  [false, '0'],
  [true, '100'],
])('bloc: approves only its own blocks with honest_blocks %s', async (honest_blocks, soundness) => {
  const strategy = { kind: 'bloc', honest_blocks };
  const lived = await live([honest, { group: 'bloc', count: 4, producers: 2, strategy }]);
  const votes = votesOf(lived, 'bloc');
  expect(votes.length).toBeGreaterThan(10);
  for (const { decision, of } of votes) {
    expect(decision).toBe(of.producer_group === 'bloc' ? 'approve' : 'reject');
  }
  const own = lived.blocks.filter(({ producer_group }) => producer_group === 'bloc');
  expect(new Set(own.map((block) => block.soundness))).toEqual(new Set([soundness]));
});

test('contrarian: votes against the majority that it heard', async () => {
  const against = { group: 'against', count: 3, traits: slow, strategy: { kind: 'contrarian' } };
  const quick = { ...honest, count: 9, traits: { think_ms: 1 } };
  const lived = await live([quick, careless, against], { length: { blocks: 10 } });
  const votes = votesOf(lived, 'against');
  expect(votes.length).toBeGreaterThan(20);
  // Each of these agents has heard the nine fast agents, a majority of the other thirteen.
  for (const { decision, of } of votes) {
    expect(decision).toBe(of.soundness === '100' ? 'reject' : 'approve');
  }
});

test('follower: waits for other votes, and votes with the majority', async () => {
  const strategy = { kind: 'follower', hears: 7, patience_ms: 20_000 };
  const followers = { group: 'followers', count: 4, personality: ['chaotic'], strategy };
  const producers = { ...careless, strategy: { kind: 'honest' } };
  const bloc = { group: 'bloc', count: 2, producers: 2, strategy: { kind: 'bloc' } };
  const lived = await live([honest, producers, bloc, followers], { length: { blocks: 10 } });
  const votes = votesOf(lived, 'followers');
  expect(votes).toHaveLength(4 * lived.blocks.length);
  for (const { decision, of } of votes) {
    expect(decision).toBe(of.soundness === '100' ? 'approve' : 'reject');
  }
  expect(new Set(votes.map(({ decision }) => decision)).size).toBe(2);
});

test('lazy: approves unread in proportion to its effort', async () => {
  const lazy = { group: 'lazy', count: 40, strategy: { kind: 'lazy', effort: 0.3 } };
  const liars = { group: 'liars', count: 1, producers: 1, strategy: { kind: 'bloc' } };
  const lived = await live([lazy, liars], {
    consensus: { ...allVote, voting_period_ms: 4_000 },
    length: { blocks: 20 },
  });
  const votes = votesOf(lived, 'lazy');
  expect(new Set(votes.map(({ decision }) => decision))).toEqual(new Set(['approve']));
  expect(new Set(lived.blocks.map(({ soundness }) => soundness))).toEqual(new Set(['0']));
  // 800 draws; five standard deviations are 0.08.
  const turnout = votes.length / (40 * lived.blocks.length);
  expect(Math.abs(turnout - 0.3)).toBeLessThan(0.08);
});

test('flip_flop: alternates between approval and rejection', async () => {
  const lived = await live([honest, { group: 'flips', count: 3, strategy: { kind: 'flip_flop' } }]);
  const byAgent = new Map<string, string[]>();
  for (const { publicKey, body } of sentBy(lived, 'flips', 'vote')) {
    byAgent.set(publicKey, [...(byAgent.get(publicKey) ?? []), String(body.decision)]);
  }
  expect(byAgent.size).toBe(3);
  for (const decisions of byAgent.values()) {
    const expected = decisions.map((_, index) => (index % 2 === 0 ? 'approve' : 'reject'));
    expect(decisions).toEqual(expected);
    expect(decisions.length).toBeGreaterThanOrEqual(5);
  }
});

test('meme_spammer: posts distinct memes about each block, and votes accordingly', async () => {
  const strategy = { kind: 'meme_spammer', memes: 4, stance: 'reject' };
  const lived = await live([honest, { group: 'spam', count: 2, strategy }]);
  const { result, blocks } = lived;
  expect(result.measures.memes).toBe(4 * 2 * blocks.length);
  expect(result.refused.duplicate).toBe(undefined);
  const tags = sentBy(lived, 'spam', 'meme').map(({ body }) => body.tags as string[]);
  expect(tags.every((some) => some.includes('contra'))).toBe(true);
  expect(votesOf(lived, 'spam').every(({ decision }) => decision === 'reject')).toBe(true);
  expect(result.measures.meme_reach_mean).toBeGreaterThan(1);
});

test('meme_spammer: influences only agents that weigh memes', async () => {
  const strategy = { kind: 'meme_spammer', stance: 'reject' };
  const groups = [
    { group: 'memetic', count: 10, personality: ['memetic'], producers: 1, traits: { care: 1 } },
    { group: 'lawful', count: 10, personality: ['lawful'] },
    { group: 'spam', count: 2, strategy },
  ];
  // Influence is 0.32 on average. Over 20 blocks its standard deviation is 0.02.
  const { result, votes } = await live(groups, { seed: '2', length: { blocks: 20 } });
  const approving = (group: string) => {
    const those = votes.filter((vote) => vote.group === group);
    return those.filter(({ decision }) => decision === 'approve').length / those.length;
  };
  expect(approving('lawful')).toBe(1);
  expect(approving('memetic')).toBeLessThan(0.2);
  expect(result.measures.influence).toBeGreaterThan(0.3);
});

test('sybil: all its keys vote alike and at once, and ally only with each other', async () => {
  const sybil = { group: 'sybil', count: 6, strategy: { kind: 'sybil', approves: 0.5 } };
  const lived = await live([{ ...honest, traits: { invites: 0 } }, sybil], {
    social: { ...quiet, alliances: { duration_ms: 3_600_000 } },
    length: { blocks: 20 },
  });
  const votes = votesOf(lived, 'sybil');
  const wills = new Map<string, Set<string>>();
  for (const { block, decision } of votes) {
    wills.set(block!, (wills.get(block!) ?? new Set()).add(decision!));
  }
  expect([...wills.values()].every((decisions) => decisions.size === 1)).toBe(true);
  const decisions = [...wills.values()].map((one) => [...one][0]);
  expect(new Set(decisions)).toEqual(new Set(['approve', 'reject']));
  // 20 ms to receive the block, 1 ms to vote, 20 ms to deliver the vote.
  expect(new Set(votes.map(({ after_ms }) => after_ms))).toEqual(new Set(['41']));
  const allies = lived.agents.filter(({ alliances }) => Number(alliances) > 0);
  expect(allies.length).toBeGreaterThanOrEqual(2);
  expect(new Set(allies.map(({ group }) => group))).toEqual(new Set(['sybil']));
});

test('censor: omits the transactions of the group; others include them', async () => {
  const quarter = { group: 'quarter', count: 10 };
  const producers = (strategy: object) => ({ group: 'makers', count: 4, producers: 4, strategy });
  const sections = {
    producers: {
      ...{ schedule: 'round_robin', senders: 'neighbours', transactions: { least: 8, most: 8 } },
    },
  };
  const signed = async (strategy: object) => {
    const { agents } = await live([quarter, producers(strategy)], sections);
    const those = agents.filter(({ group }) => group === 'quarter');
    return those.reduce((sum, { transactions }) => sum + Number(transactions), 0);
  };
  expect(await signed({ kind: 'censor', against: 'quarter' })).toBe(0);
  expect(await signed({ kind: 'honest' })).toBeGreaterThan(10);
});
