/** Scheduled joining and leaving: times, agents called, electors and the end of the run. */
import { completeScenario, simulate } from 'folkmoot/sim';
import { type Lived, live, type Raw, sentBy } from '../fixture.js';
import { town } from './town.js';

const honest = { group: 'honest', count: 7, producers: 1, strategy: { kind: 'honest' } };
const late = { group: 'late', count: 6, strategy: { kind: 'honest' } };
const options = { store: 'memory', verifier: 'off' } as const;

const times = (lived: Lived, group: string, kind: 'register' | 'status' | 'vote') =>
  sentBy(lived, group, kind).map(({ ms }) => ms);
const electors = ({ blocks }: Lived, fromMs: number, toMs: number) => {
  const inside = blocks.filter(({ proposed_ms: ms }) => Number(ms) >= fromMs && Number(ms) < toMs);
  return [...new Set(inside.map(({ electors: count }) => Number(count)))];
};

test('join: agents join in waves, and are not called before they join', async () => {
  const join = { start_ms: 20_000, over_ms: 1_000, waves: 3, every_ms: 10_000 };
  const lived = await live([honest, { ...late, join }], { length: { blocks: 10 } });
  const joined = times(lived, 'late', 'register').sort((a, b) => a - b);
  expect(joined.map((ms) => Math.floor((ms - 20_000) / 10_000))).toEqual([0, 0, 1, 1, 2, 2]);
  for (const ms of joined) expect((ms - 20_000) % 10_000).toBeLessThan(1_000);
  expect([electors(lived, 0, 20_000), electors(lived, 22_000, 30_000)]).toEqual([[7], [9]]);
  expect(electors(lived, 42_000, 100_000)).toEqual([13]);
  expect(Math.min(...times(lived, 'late', 'vote'))).toBeGreaterThan(20_000);
  const { censored, measures, broken } = lived.result;
  expect([broken, measures.never_joined, measures.late_votes]).toEqual([null, 0, 0]);
  expect(censored.filter((text) => text.includes('join'))).toEqual([]);
});

test('leave: agents leave for good, with status inactive, and are no longer electors', async () => {
  const leave = { at_ms: 22_000, over_ms: 3_000 };
  const lived = await live([honest, { ...late, leave }], { length: { blocks: 10 } });
  const left = times(lived, 'late', 'status');
  expect(left).toHaveLength(6);
  for (const ms of left) expect(ms >= 22_000 && ms < 25_000, `${ms}`).toBe(true);
  expect(Math.max(...times(lived, 'late', 'vote'))).toBeLessThan(25_000);
  expect([electors(lived, 0, 22_000), electors(lived, 25_050, 100_000)]).toEqual([[13], [7]]);
  const gone = lived.agents.filter(({ group }) => group === 'late');
  expect(gone.map(({ status }) => status)).toEqual(Array(6).fill('inactive'));
  expect(lived.result.broken).toBe(null);
});

test('leave: repeats a lost request until the network has received it', async () => {
  const links = { latency: { distribution: 'constant', mean_ms: 20, spread_ms: 0 }, loss: 0.5 };
  const sections = { links, length: { virtual_ms: 330_000 } };
  const leave = { at_ms: 200_000, over_ms: 0 };
  const lived = await live([honest, { ...late, leave }], sections);
  expect(times(lived, 'late', 'status').length).toBeGreaterThan(6);
  const gone = lived.agents.filter(({ group }) => group === 'late');
  expect(gone.map(({ status }) => status)).toEqual(Array(6).fill('inactive'));
});

test('leave: the run ends when all agents have left and nothing is due', async () => {
  const all = { ...honest, leave: { at_ms: 17_000, over_ms: 1_000 } };
  const { result } = await live([all], { length: { blocks: 1_000 } });
  expect([result.ended_by, result.verdict]).toEqual(['nothing_due', 'pass']);
  // Calls of agents that have left are still due.
  expect(result.virtual_ms).toBeLessThan(120_000);
  expect(result.censored[0]).toMatch(/^no event left /);
});

test('join: an agent that is down at its time joins or leaves when it restarts', async () => {
  const coming = { ...late, join: { start_ms: 20_000, over_ms: 100 } };
  const going = { ...late, group: 'going', leave: { at_ms: 20_000, over_ms: 100 } };
  const whom = [{ group: 'late' }, { group: 'going' }];
  const crash = { kind: 'crash', start_ms: 15_000, length_ms: 20_000, whom };
  const lived = await live([honest, coming, going], { faults: [crash], length: { blocks: 12 } });
  for (const ms of times(lived, 'late', 'register')) expect(ms).toBe(35_000);
  for (const ms of times(lived, 'going', 'status')) expect(ms).toBe(35_000);
  expect(electors(lived, 36_000, 100_000)).toEqual([13]);
});

test('leave: churn does not return agents that have left for good', async () => {
  const leave = { at_ms: 30_000, over_ms: 0 };
  const whom = [{ group: 'late' }];
  const churn = { kind: 'churn', start_ms: 6_000, length_ms: 60_000, whom };
  const often = { ...churn, stay_ms: 4_000, away_ms: 2_000 };
  const lived = await live([honest, { ...late, leave }], {
    faults: [often],
    length: { blocks: 15 },
  });
  const gone = lived.agents.filter(({ group }) => group === 'late');
  expect(gone.map(({ status }) => status)).toEqual(Array(6).fill('inactive'));
  expect(times(lived, 'late', 'status').length).toBeGreaterThan(12);
  expect(electors(lived, 30_100, 100_000)).toEqual([7]);
});

test('join: late producers take their turns from then on', async () => {
  const producing = { ...late, producers: 2, join: { start_ms: 30_000, over_ms: 0 } };
  const schedules = ['open', 'round_robin', 'random'];
  for (const schedule of schedules) {
    const producers = { schedule, block_interval_ms: 4_000 };
    const sections = { producers, length: { virtual_ms: 180_000 } };
    const { blocks } = await live([honest, producing], sections);
    const own = blocks.filter(({ producer_group }) => producer_group === 'late');
    expect(own.length, schedule).toBeGreaterThan(3);
    expect(Math.min(...own.map(({ proposed_ms }) => Number(proposed_ms)))).toBeGreaterThan(30_000);
  }
});

test('join: patience counts from the last scheduled join', async () => {
  const alone = { ...honest, count: 1, strategy: { kind: 'silent' } };
  const sections = (agents: Raw[]) => ({
    ...{ agents, consensus: { voting_period_ms: 1_000, dormant_after: 0 }, patience_periods: 10 },
    length: { blocks: 500 },
  });
  const never = await simulate(town(sections([alone])), options);
  expect([never.ended_by, never.virtual_ms]).toEqual(['stalled', 10_000]);
  const join = { start_ms: 60_000, over_ms: 0 };
  const later = await simulate(town(sections([alone, { ...late, join }])), options);
  expect(later.virtual_ms).toBeGreaterThanOrEqual(70_000);
  expect(later.measures.votes).toBeGreaterThan(0);
});

test('censored: lists agents that were to join or leave after the end', async () => {
  const coming = { ...late, join: { start_ms: 90_000 } };
  const going = { ...late, group: 'going', leave: { at_ms: 10_000, waves: 2, every_ms: 90_000 } };
  const scenario = town({ agents: [honest, coming, going], length: { virtual_ms: 30_000 } });
  const { censored, measures } = await simulate(scenario, options);
  expect(measures.never_joined).toBe(6);
  expect(censored).toContainEqual(expect.stringMatching(/ late after /));
  expect(censored).toContainEqual(expect.stringMatching(/ going partly after /));
});

test.each([
  [{ leave: { at_ms: 1_000 } }, /^agents.0.leave.at_ms is 1000; expected at least 2000, /],
  [
    { join: { start_ms: 5_000, waves: 3, every_ms: 1_000 }, leave: { at_ms: 8_000 } },
    /^agents.0.leave.at_ms is 8000; expected at least 9000/,
  ],
  [{ leave: {} }, /^agents.0.leave.at_ms is missing; expected .* from 0/],
  [{ join: { at_ms: 1 } }, /^agents.0.join.at_ms .*start_ms, over_ms/],
  [{ join: { waves: 0 } }, /^agents.0.join.waves is 0; expected .* from 1/],
])('stays: refuses %j', (stay, message) => {
  const agents = [{ ...honest, ...stay }];
  expect(() => completeScenario({ ...town(), population: undefined, agents })).toThrow(message);
});
