/** Simulated clusters: equal seeds give equal runs, and the checks find broken promises. */
import { ClusterChecks } from '../../../dist/sim/swarm/cluster-checks.js';
import { type ClusterPlan, drawClusterPlan } from '../../../dist/sim/swarm/cluster-plan.js';
import { clusterSwarm } from '../../../dist/sim/swarm/cluster-swarm.js';
import { runCluster } from '../../../dist/sim/swarm/cluster-world.js';
import { agents, registration } from '../../support/cluster/nodes.js';
import { counts } from '../../support/counts.js';

const swarm = (options: { seeds: number; checkDeterminism: boolean }) =>
  clusterSwarm({
    ...{ first: 1, ...options, signal: new AbortController().signal },
    ...{ goesOn: () => true, onProgress: () => {}, onShrink: () => {} },
  });

test('clusters: keep all promises under faults', async () => {
  const { failure, ran, acknowledged } = await swarm({
    seeds: 6 * counts.clusterLives,
    checkDeterminism: false,
  });
  expect(failure && [failure.failure, failure.run.timeline.slice(-60)]).toBeNull();
  expect([ran, acknowledged > 10 * ran]).toEqual([6 * counts.clusterLives, true]);
});

test('clusters: equal seeds give equal draws and runs', async () => {
  const { failure, twice } = await swarm({ seeds: 2, checkDeterminism: true });
  expect([failure, twice]).toEqual([null, 2]);
});

/** A plan with three nodes and one fault. */
const planWith = (fault: ClusterPlan['faults'][number]): ClusterPlan => ({
  ...drawClusterPlan(1),
  ...{ nodes: 3, members: 3, clients: 2, faultsMs: 5_000, thinkMs: 100, clientLoss: 0 },
  faults: [fault],
});

test.each([
  ['order compacted', 'has a snapshot of'],
  ['bit flipped on disk', 'damaged on disk'],
  ['power lost everywhere', 'starts'],
  ['leader changed', 'accepted by'],
] as const)('clusters: survive the fault "%s"', async (kind, line) => {
  const away = { kind: 'node killed', at: 500, ms: 3_000, steps: 0, node: 2 } as const;
  const plan = planWith({ kind, at: 2_000, ms: 500, steps: 0, node: 1 });
  if (kind === 'order compacted') plan.faults.unshift(away);
  const { failure, timeline } = await runCluster(plan);
  expect(failure).toBeNull();
  expect(timeline.some((one) => one.includes(line))).toBe(true);
});

describe('clusters: the checks', () => {
  const checks = () => new ClusterChecks();

  test('find an acknowledged request that is in no log', () => {
    const [found, request] = [checks(), registration(agents[0]!)];
    found.asks(request);
    found.acknowledged(request);
    found.end();
    expect(found.failure).toMatchObject({ kind: 'safety', sign: 'lost' });
  });

  test('find a read that goes back, and one that misses a known write', () => {
    const back = checks();
    back.readAt('c1', 'n1', 'a', 2);
    back.readAt('c1', 'n2', 'a', 1);
    expect(back.failure).toBeNull();
    back.readAt('c1', 'n1', 'a', 1);
    expect(back.failure?.sign).toBe('read goes back');
    const stale = checks();
    stale.registers.set('a', { asked: 3, known: 2 });
    stale.readLatest('a', 1, 2);
    expect(stale.failure?.sign).toBe('not linearizable');
  });

  test('find an event that repeats, and a card that is ahead of its disk', () => {
    const repeats = checks();
    repeats.published('n1', 4, [{ seq: 4, json: '{}' }]);
    expect(repeats.failure?.sign).toBe('events');
    const ahead = checks();
    const card = { node: 'n1', seq: 1, digest: '', position: { version: 2, revision: 5 } };
    ahead.announced(card as never, 1);
    expect(ahead.failure?.sign).toBe('card before durable');
  });
});
