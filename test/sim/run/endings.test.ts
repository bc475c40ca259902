/** The rule that ended a run, and the data that its end cut short. */
import type { SignedRequest } from 'folkmoot';
import { type Scenario, simulate } from 'folkmoot/sim';
import { simulateWithFaults } from 'folkmoot/testing';
import { live, type Raw } from '../fixture.js';
import { town } from './town.js';

const honest = { group: 'honest', count: 7, producers: 1, strategy: { kind: 'honest' } };
const silent = { group: 'silent', count: 7, strategy: { kind: 'silent' } };
const against = { group: 'against', count: 7, strategy: { kind: 'sybil', approves: 0 } };
const bft = { policy: 'bft', dormant_after: 0, voting_period_ms: 3_000 };

const ended = async (scenario: Scenario) => {
  const { ended_by, virtual_ms, verdict, measures, censored } = await simulate(scenario, {
    store: 'memory',
    verifier: 'off',
  });
  return { ended_by, virtual_ms, verdict, measures, censored };
};

test('ended_by: blocks, after the given number of closed blocks', async () => {
  const { ended_by, measures, verdict } = await ended(town({ length: { blocks: 3 } }));
  expect([ended_by, measures.finalized, verdict]).toEqual(['blocks', 3, 'pass']);
});

test.each([1_234, 12_345, 60_000])('ended_by: virtual_ms, at exactly %i ms', async (virtual_ms) => {
  const found = await live([honest, silent], { consensus: bft, length: { virtual_ms } });
  const { result, blocks } = found;
  expect([result.ended_by, result.virtual_ms]).toEqual(['virtual_ms', virtual_ms]);
  const times = blocks.flatMap((block) => [block.proposed_ms, block.closed_ms].map(Number));
  expect(Math.max(0, ...times)).toBeLessThanOrEqual(virtual_ms);
});

test('ended_by: virtual_ms, also if the next event is due later', async () => {
  // The next turn is at 605 s, but the run must end at 100 s.
  const producers = { schedule: 'round_robin', block_interval_ms: 600_000 };
  const scenario = town({ producers, length: { virtual_ms: 100_000 } });
  const { ended_by, virtual_ms, measures } = await ended(scenario);
  expect([ended_by, virtual_ms, measures.proposed]).toEqual(['virtual_ms', 100_000, 1]);
});

test('ended_by: stalled, one patience after the last decided block', async () => {
  const sections = { consensus: bft, length: { blocks: 1_000 }, patience_periods: 4 };
  const { result } = await live([honest, silent], sections);
  expect([result.ended_by, result.virtual_ms, result.verdict]).toEqual([
    ...['stalled', 12_000, 'no_progress'],
  ]);
  expect(result.censored[0]).toMatch(/^ended by patience: .* 4 voting periods/);
});

test('rejected blocks are progress: a network that rejects all runs on', async () => {
  const sections = { consensus: bft, length: { blocks: 12 }, patience_periods: 4 };
  const { result } = await live([honest, against], sections);
  const { rejected, finalized } = result.measures;
  expect([result.ended_by, result.verdict, rejected, finalized]).toEqual(['blocks', 'pass', 12, 0]);
  // Far beyond the patience of 12 s.
  expect(result.virtual_ms).toBeGreaterThan(50_000);
});

test('censored: counts and reports blocks in voting', async () => {
  const length = { virtual_ms: 6_000 };
  const { result, blocks } = await live([honest, silent], { consensus: bft, length });
  expect(blocks.map(({ status }) => status)).toEqual(['voting']);
  expect(result.measures).toMatchObject({ proposed: 1, open_at_end: 1, expired_share: null });
  expect(result.censored).toContainEqual(expect.stringMatching(/^1 block still in voting/));
});

test('censored: counts agents that never registered', async () => {
  let lost: string | undefined;
  const inTransit = (request: SignedRequest) => {
    lost ??= request.public_key;
    const spoilt = request.kind === 'register' && request.public_key === lost;
    return spoilt ? { ...request, body: Buffer.from('{}') } : request;
  };
  const scenario = town({ length: { blocks: 2 } });
  const result = await simulateWithFaults(scenario, { store: 'memory' }, { inTransit });
  expect(result.measures.never_joined).toBe(1);
  expect(result.censored).toContainEqual(expect.stringMatching(/^1 agent /));
});

test('censored: lists faults that last beyond the end or begin after it', async () => {
  const fault = (start_ms: number, length_ms: number): Raw => {
    return { kind: 'crash', start_ms, length_ms, whom: [{ count: 1 }] };
  };
  const faults = [fault(1_000, 5_000), fault(9_000, 5_000), fault(90_000, 5_000)];
  const { censored } = await ended(town({ faults, length: { virtual_ms: 12_000 } }));
  expect(censored.filter((text) => text.startsWith('faults'))).toEqual([
    expect.stringMatching(/^faults\.1 \(crash\) /),
    expect.stringMatching(/^faults\.2 \(crash\) /),
  ]);
});
