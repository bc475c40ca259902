/** Runs without a log: same results as with a log, for each part of a scenario that can differ. */
import { completeScenario, loadScenario, type SimOptions, simulate } from 'folkmoot/sim';
import { simulateWithFaults } from 'folkmoot/testing';
import { temporaryFolder } from '../../support/fixture.js';
import { bothWays, lasting } from './unrecorded.js';

const agents = [
  { group: 'town', count: 24, producers: 3 },
  { group: 'doubters', count: 6, strategy: { kind: 'equivocator', rate: 0.5 } },
];
const town = { title: 'Town', agents, length: { blocks: 6 } };

const cases: Record<string, object> = {
  'without signatures': { signatures: 'none' },
  'with signatures': { signatures: 'verified' },
  'with signatures that are not verified': { signatures: 'unverified' },
  'with rate limits': { signatures: 'none', limits: 'spec' },
  'with rate limits and signatures': { signatures: 'verified', limits: 'spec' },
  'with faults and lossy links': {
    signatures: 'none',
    links: { loss: 0.05, duplication: 0.1 },
    faults: [
      { kind: 'crash', whom: [{ group: 'town', share: 0.3 }], start_ms: 8_000, length_ms: 9_000 },
      {
        kind: 'clock_skew',
        whom: [{ group: 'doubters' }],
        start_ms: 0,
        length_ms: 99_000,
        skew_ms: 400_000,
      },
    ],
  },
  'with limited uplinks': { signatures: 'none', links: { uplink_kbps: 64 } },
  'with weights by alliances': {
    signatures: 'none',
    consensus: { weights: 'alliance_bonus' },
    social: { alliances: { rate: 20 } },
  },
  'with a committee that the block hash draws': {
    signatures: 'none',
    consensus: { policy: 'committee', rule: { parameters: { size: 9 } } },
  },
  'with interventions': {
    signatures: 'none',
    interventions: [
      { kind: 'vote', agent: 2, block: 1, decision: 'reject', at_ms: 0 },
      { kind: 'drop', block: 2, at_ms: 0 },
      { kind: 'silence', whom: [{ group: 'doubters' }], at_ms: 20_000 },
    ],
  },
};

test.each(Object.entries(cases))('unrecorded: gives the same result %s', async (_, parts) => {
  const [recorded, unrecorded] = await bothWays(completeScenario({ ...town, ...parts }));
  expect(lasting(unrecorded)).toEqual(lasting(recorded));
  expect(recorded.measures.votes).toBeGreaterThan(20);
  expect([unrecorded.digest, unrecorded.log_digest]).toEqual(['', '']);
  expect(recorded.digest).toMatch(/^[0-9a-f]{64}$/);
});

test('unrecorded: gives the same result with ballots', async () => {
  const { scenario, folder } = loadScenario('capital');
  const [recorded, unrecorded] = await bothWays(scenario, { folder });
  expect(lasting(unrecorded)).toEqual(lasting(recorded));
});

test('unrecorded: the trace depends on the seed, and not on the audit', async () => {
  const scenario = completeScenario({ ...town, signatures: 'none' });
  const trace = async (options: SimOptions) =>
    (await simulate(scenario, { ...options, log: 'none' })).trace_digest;
  const first = await trace({ seed: '1' });
  expect(await trace({ seed: '1', audit: false })).toBe(first);
  expect(await trace({ seed: '2' })).not.toBe(first);
});

test('unrecorded: options and hooks that need a log are refused by name', async () => {
  const scenario = completeScenario({ ...town, signatures: 'none' });
  const out = temporaryFolder();
  const needing: SimOptions[] = [{ out }, { store: 'memory' }, { verifier: 'inline' }];
  for (const options of needing) {
    const [name] = Object.keys(options);
    await expect(simulate(scenario, { ...options, log: 'none' })).rejects.toThrow(
      new RegExp(`^${name} needs a log`),
    );
  }
  const onNetwork = async () => async () => {};
  await expect(simulate(scenario, { log: 'none' }, { onNetwork })).rejects.toThrow(/^onNetwork/);
  const inTransit = <T>(request: T) => request;
  await expect(simulateWithFaults(scenario, { log: 'none' }, { inTransit })).rejects.toThrow(
    /^inTransit/,
  );
});
