/** Each kind of fault has its effect, on the selected agents, while it lasts. */
import { allVote, live, nearby, quiet, type Raw, sentBy, votesOf } from './fixture.js';

const town = { group: 'town', count: 6, producers: 2, strategy: { kind: 'honest' } };
const hit = { group: 'hit', count: 4, strategy: { kind: 'honest' } };
const whom = [{ group: 'hit' }];
/** Blocks are proposed at 5, 10, 15, ... s. The fault covers those of 10 and 15 s. */
const during = { start_ms: 9_000, length_ms: 9_000 };
const inside = (ms: number) => ms >= 9_000 && ms < 18_000;
const seconds = (count: number) => ({ length: { virtual_ms: count * 1_000 } });

/** Applies the fault to the hit group, in a run of 40 s with 7 blocks. */
const faulty = (fault: Raw, sections: Raw = {}) =>
  live([town, hit], { faults: [{ ...during, whom, ...fault }], ...seconds(40), ...sections });

const votedMs = (votes: { voted_ms?: string }[]) => votes.map((vote) => Number(vote.voted_ms));

test('partition: cuts off both directions, and then heals', async () => {
  const lived = await faulty({ kind: 'partition' });
  const votes = votesOf(lived, 'hit');
  expect(votedMs(votes).filter(inside)).toEqual([]);
  expect(sentBy(lived, 'hit', 'vote').filter(({ ms }) => inside(ms))).toEqual([]);
  const late = votes.filter(({ of }) => inside(Number(of.proposed_ms)));
  expect(late.every(({ voted_ms }) => Number(voted_ms) >= 18_000)).toBe(true);
  expect(votes.some(({ of }) => Number(of.proposed_ms) > 18_000)).toBe(true);
  expect(votesOf(lived, 'town').some(({ voted_ms }) => inside(Number(voted_ms)))).toBe(true);
});

test('partition out: agents hear of blocks, and their votes are lost', async () => {
  const lived = await faulty({ kind: 'partition', direction: 'out' });
  expect(sentBy(lived, 'hit', 'vote').filter(({ ms }) => inside(ms))).toHaveLength(4);
  expect(votedMs(votesOf(lived, 'hit')).filter(inside)).toEqual([]);
  expect(lived.result.measures.messages_lost).toBeGreaterThanOrEqual(4);
});

test('partition in: agents hear nothing new, and their votes arrive', async () => {
  const speaking = { ...during, start_ms: 5_100 };
  const lived = await faulty({ kind: 'partition', direction: 'in', ...speaking });
  // The agents had heard of the first block before.
  const first = votesOf(lived, 'hit').filter(({ block }) => block === '0');
  expect(votedMs(first).filter((ms) => ms > 5_100 && ms < 14_100)).toHaveLength(4);
  const of = new Set(
    sentBy(lived, 'hit', 'vote')
      .filter(({ ms }) => ms > 5_100 && ms < 14_100)
      .map(({ body }) => body.block_hash),
  );
  expect(of.size).toBe(1);
});

test('crash: agents send nothing, and restart at the end', async () => {
  const votes = sentBy(await faulty({ kind: 'crash' }), 'hit', 'vote');
  expect(votes.filter(({ ms }) => inside(ms))).toEqual([]);
  expect(votes.filter(({ ms }) => ms >= 18_000).length).toBeGreaterThanOrEqual(4 * 4);
});

test('crash: agents that crash before registration register afterwards', async () => {
  const lived = await faulty({ kind: 'crash', start_ms: 0, length_ms: 12_000 });
  const joined = sentBy(lived, 'hit', 'register');
  expect(joined.map(({ ms }) => ms)).toEqual([12_000, 12_000, 12_000, 12_000]);
  expect(lived.agents.every(({ status }) => status === 'active')).toBe(true);
});

const thinking = { think_ms: 3_000 };
/** A block with missing votes is decided before the next one is due. */
const shortVoting = { consensus: { ...allVote, voting_period_ms: 4_000 } };
const moment = { start_ms: 5_050, length_ms: 1 };

test('crash: discards pending actions', async () => {
  const faults = [{ kind: 'crash', ...moment, whom }];
  const lived = await live([town, { ...hit, traits: thinking }], {
    faults,
    ...seconds(20),
    ...shortVoting,
  });
  const blocks = votesOf(lived, 'hit').map(({ block }) => block);
  expect(blocks).not.toContain('0');
  expect(blocks.length).toBeGreaterThan(0);
});

test('pause: resumes pending actions', async () => {
  const faults = [{ kind: 'pause', start_ms: 5_050, length_ms: 6_000, whom }];
  const lived = await live([town, { ...hit, traits: thinking }], { faults, ...seconds(40) });
  const first = votesOf(lived, 'hit').filter(({ block }) => block === '0');
  expect(first).toHaveLength(4);
  for (const ms of votedMs(first)) expect(ms).toBeGreaterThanOrEqual(11_050);
});

test('crash, pause: a stopped producer proposes no blocks', async () => {
  for (const kind of ['crash', 'pause']) {
    const faults = [{ kind, ...during, whom: [{ group: 'maker' }] }];
    const maker = { group: 'maker', count: 1, producers: 1, strategy: { kind: 'honest' } };
    const { blocks } = await live([maker, hit], { faults, ...seconds(40) });
    const times = blocks.map(({ proposed_ms }) => Number(proposed_ms));
    expect([times.filter(inside), times.some((ms) => ms >= 18_000)]).toEqual([[], true]);
  }
});

test('slow_link: multiplies the latency in both directions', async () => {
  const quick = { traits: { think_ms: 0 } };
  const fault = { kind: 'slow_link', factor: 20, start_ms: 0, length_ms: 100_000, whom };
  const lived = await live(
    [
      { ...town, ...quick },
      { ...hit, ...quick },
    ],
    { faults: [fault] },
  );
  const after = (group: string) => new Set(votesOf(lived, group).map(({ after_ms }) => after_ms));
  // The round trip, and 200 ms to think.
  expect(after('town')).toEqual(new Set([String(20 + 200 + 20)]));
  expect(after('hit')).toEqual(new Set([String(400 + 200 + 400)]));
});

test.each([
  [301_000, 'refused'],
  [-301_000, 'refused'],
  [299_000, 'taken'],
] as const)('clock_skew: requests stamped %i ms off are %s', async (skew_ms, outcome) => {
  const lived = await faulty({ kind: 'clock_skew', skew_ms }, shortVoting);
  const inTime = votesOf(lived, 'hit').filter(({ voted_ms }) => inside(Number(voted_ms)));
  const refused = lived.result.refused.TIMESTAMP_SKEW ?? 0;
  expect(inTime.length > 0).toBe(outcome === 'taken');
  expect(refused > 0).toBe(outcome === 'refused');
  expect(votesOf(lived, 'hit').some(({ voted_ms }) => Number(voted_ms) > 18_000)).toBe(true);
});

test('churn: agents leave, return in time and are present at the end', async () => {
  const times = { start_ms: 10_000, length_ms: 300_000, stay_ms: 20_000, away_ms: 10_000 };
  const faults = [{ kind: 'churn', whom, ...times }];
  const lived = await live([town, hit], { faults, ...seconds(330) });
  const told = sentBy(lived, 'hit', 'status');
  expect(told.length).toBeGreaterThan(4 * 2 * 5);
  const away: number[] = [];
  for (const key of new Set(told.map(({ publicKey }) => publicKey))) {
    const own = told.filter(({ publicKey }) => publicKey === key);
    const statuses = own.map(({ body }) => body.status === 'active');
    expect(statuses).toEqual(own.map((_, at) => at % 2 === 1));
    for (let at = 1; at < own.length; at += 2) away.push(own[at]!.ms - own[at - 1]!.ms);
    expect(own.every(({ ms }) => ms >= 10_000 && ms <= 310_000)).toBe(true);
  }
  const mean = away.reduce((sum, ms) => sum + ms, 0) / away.length;
  expect(mean).toBeGreaterThan(8_000);
  expect(mean).toBeLessThan(12_000);
  expect(lived.agents.every(({ status }) => status === 'active')).toBe(true);
  expect(sentBy(lived, 'town', 'status')).toEqual([]);
});

test('faults: hit the given number of agents, drawn by the seed', async () => {
  const fault = { kind: 'crash', start_ms: 0, length_ms: 60_000, whom: [{ share: 0.3 }] };
  const hitBy = async (seed: string) => {
    const sections = { faults: [fault], seed, ...seconds(20), consensus: allVote };
    const { agents } = await live([{ ...town, count: 40, producers: 20 }], sections);
    return agents.filter(({ agent_id }) => agent_id === '').map(({ ordinal }) => ordinal);
  };
  const [one, again, other] = [await hitBy('1'), await hitBy('1'), await hitBy('2')];
  expect([[one.length, other.length], again]).toEqual([[12, 12], one]);
  expect(other).not.toEqual(one);
});

test('links: loss and duplication are counted; duplicates have no effect', async () => {
  const links = { ...nearby, loss: 0.2, duplication: 0.3 };
  const { result, sent } = await live([{ ...town, count: 30 }], { links, social: quiet });
  const { measures, refused } = result;
  expect(measures.messages_duplicated! / sent.length).toBeGreaterThan(0.2);
  expect(measures.messages_duplicated! / sent.length).toBeLessThan(0.4);
  expect(measures.messages_lost! / measures.messages_sent!).toBeGreaterThan(0.15);
  expect(measures.messages_lost! / measures.messages_sent!).toBeLessThan(0.3);
  expect(refused.duplicate).toBeGreaterThan(0);
  expect(measures.equivocations).toBe(0);
});
