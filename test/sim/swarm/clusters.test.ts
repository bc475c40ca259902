/** Simulated clusters: equal seeds give equal runs, and the checks find broken promises. */
import { ClusterChecks } from '../../../dist/sim/swarm/cluster-checks.js';
import {
  type ClusterPlan,
  drawClusterPlan,
  findPlanProblem,
} from '../../../dist/sim/swarm/cluster-plan.js';
import { clusterSwarm } from '../../../dist/sim/swarm/cluster-swarm.js';
import { runCluster } from '../../../dist/sim/swarm/cluster-world.js';
import { counts, heavy } from '../../support/counts.js';

const swarm = (options: { seeds: number; checkDeterminism: boolean }) =>
  clusterSwarm({
    ...{ first: 1, plan: drawClusterPlan, ...options, signal: new AbortController().signal },
    ...{ goesOn: () => true, onProgress: () => {}, onShrink: () => {} },
  });

test('clusters: keep all promises under faults', heavy, async () => {
  const seeds = 4 * counts.clusterLives;
  const { failure, ran, acknowledged } = await swarm({ seeds, checkDeterminism: false });
  expect(failure && [failure.failure, failure.run.timeline.slice(-60)]).toBeNull();
  expect([ran, acknowledged > 10 * ran]).toEqual([seeds, true]);
});

test('clusters: equal seeds give equal draws and runs', async () => {
  const { failure, twice } = await swarm({ seeds: 2, checkDeterminism: true });
  expect([failure, twice]).toEqual([null, 2]);
});

/** A plan with three nodes and one fault. */
const planWith = (fault: ClusterPlan['faults'][number]): ClusterPlan => ({
  ...drawClusterPlan(1),
  ...{ nodes: 3, members: 3, clients: 2, faultsMs: 5_000, thinkMs: 500, clientLoss: 0 },
  hasLarge: true,
  faults: [fault],
});

test.each([
  ['order compacted', 'installed: batch'],
  ['bit flipped on disk', 'damaged on disk'],
  ['page torn', 'damaged on disk'],
  ['power lost everywhere', 'starts'],
  ['leader changed', 'accepted by'],
  ['quorum lost', 'cannot follow the order'],
  ['node name taken', 'node name taken'],
  ['key overwritten', 'overwritten'],
] as const)('clusters: survive the fault "%s"', async (kind, line) => {
  const plan = planWith({ kind, at: 2_000, ms: 1_500, steps: 0, node: 1 });
  const { failure, timeline } = await runCluster(plan);
  expect(failure).toBeNull();
  expect(timeline.some((one) => one.includes(line))).toBe(true);
});

const restart = { kind: 'node restarted', at: 2_832, ms: 899, steps: 110, node: 3 } as const;
const full = { kind: 'etcd full', at: 2_872, ms: 2_128, steps: 191 } as const;
const killed = { kind: 'node killed', at: 4_009, ms: 9_086, steps: 47, node: 2 } as const;
const jump = { kind: 'node clock wrong', at: 12_494, ms: 1_581, steps: 176 } as const;
const wrong = { ...jump, node: 2, byMs: 60_000 };

const lost = [
  ...[
    { at: 9_548, ms: 1_177, steps: 143 },
    { at: 9_753, ms: 11_020, steps: 104 },
  ],
  ...[
    { at: 16_316, ms: 13_684, steps: 149 },
    { at: 16_662, ms: 734, steps: 11 },
  ],
  { at: 22_474, ms: 7_526, steps: 130 },
].map((one) => ({ kind: 'quorum lost' as const, ...one }));
const away = { kind: 'node killed', at: 14_621, ms: 2_559, steps: 156, node: 3 } as const;
const brief = { seed: 1_031_850, clients: 1, clientLoss: 0.1, faults: [...lost, away] };

const flip = { kind: 'bit flipped on disk', at: 3_505, ms: 88, steps: 108, node: 1 } as const;
const crowded = { kind: 'disk full', at: 7_104, ms: 10_546, steps: 194, node: 1 } as const;
const twin = { kind: 'node name taken', at: 11_739, ms: 329, steps: 38, node: 1 } as const;
const empty = { seed: 1_061_028, clients: 1, clientLoss: 0.1, faults: [flip, crowded, twin] };

const lossy = { kind: 'messages lost', at: 3_000, ms: 2_000, steps: 0, rate: 0.2 } as const;
const late = { seed: 18, nodes: 3, faultsMs: 5_000, votingPeriodMs: 500, faults: [lossy] };

const early = { kind: 'node clock wrong', at: 328, ms: 87, steps: 23, node: 2 } as const;
const ahead = { seed: 20_273_137, members: 2, clients: 3, faults: [{ ...early, byMs: 5_000 }] };

const loses = { ...lossy, at: 740, ms: 4_260, steps: 58 };

const behind = { ...early, at: 1_155, ms: 1_682, steps: 140, node: 1, byMs: -300 };
const far = { ...behind, at: 4_285, ms: 424, steps: 59, byMs: 60_000 };
const other = { ...behind, at: 6_985, ms: 5_684, steps: 75, node: 2, byMs: 5_000 };
const quiet = { seed: 20_286_154, nodes: 2, faultsMs: 10_000, faults: [behind, far, other] };

const stop = { ...restart, at: 4_000, ms: 300, steps: 0, node: 1 };
const torn = { ...stop, kind: 'page torn', ms: 900, steps: 1 } as const;
const ends = { seed: 3, nodes: 1, clients: 1, faultsMs: 5_000, thinkMs: 500 };

// Plans that failed.
test.each([
  ['waits for a snapshot that was lost on the way', { seed: 20_407_588 }],
  ['needs deleted batches, because its card was overwritten', { seed: 20_515_209 }],
  ['loses power while it stops', { ...ends, faults: [stop, torn] }],
  ['refuses deadlines until its clock is right', { ...quiet, clients: 4, clientLoss: 0.02 }],
  ['hears only one card, which is late', { seed: 595, clients: 6, faults: [loses] }],
  ['moves the time before it knows the other clocks', { ...ahead, faultsMs: 1_000 }],
  ['has ended, and whose card arrives late', late],
  ['starts with an empty disk that is full', empty],
  ['has a leader of etcd for less than a look', brief],
  ['fails just before its faults end', { seed: 1_004_191, clients: 1, faults: [restart, full] }],
  [
    'starts with a clock that jumps',
    { seed: 1_020_044, faultsMs: 30_000, faults: [killed, wrong] },
  ],
])('clusters: survive a node that %s', async (_, { seed, ...changes }) => {
  const plan = {
    ...drawClusterPlan(seed),
    ...{ members: 1, clients: 2, clientLoss: 0 },
    ...changes,
  };
  expect((await runCluster(plan)).failure).toBeNull();
});

test('clusters: a clock that jumps ahead does not move the time of the others', async () => {
  const jump = { kind: 'node clock wrong', at: 12_000, ms: 5_000, steps: 0, node: 1 } as const;
  const plan = { ...planWith({ ...jump, byMs: 60_000 }), faultsMs: 20_000 };
  expect((await runCluster(plan)).failure).toBeNull();
});

test('clusters: a plan in a file has the members that a run needs', () => {
  const plan = planWith({ kind: 'leader changed', at: 1, ms: 1, steps: 0 });
  expect(findPlanProblem(JSON.parse(JSON.stringify(plan)))).toBeNull();
  expect(findPlanProblem({ ...plan, nodes: 0 })?.pointer).toBe('/nodes');
});

// Seeded bugs show that each other check finds what it is for.
test('clusters: find a read that goes back, and one that misses a known write', () => {
  const back = new ClusterChecks();
  back.readAt('c1', 'n1', 'a', 2);
  back.readAt('c1', 'n2', 'a', 1);
  expect(back.failure).toBeNull();
  back.readAt('c1', 'n1', 'a', 1);
  expect(back.failure?.sign).toBe('read goes back');
  const stale = new ClusterChecks();
  stale.registers.set('a', { asked: 3, known: 2 });
  stale.readLatest('a', 1, 2);
  expect(stale.failure?.sign).toBe('not linearizable');
});
