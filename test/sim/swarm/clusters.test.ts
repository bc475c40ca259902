/** Simulated clusters: equal seeds give equal runs, and the checks find broken promises. */
import { EtcdStore } from '../../../dist/cluster/simulated/etcd-store.js';
import { ClusterChecks } from '../../../dist/sim/swarm/cluster-checks.js';
import {
  type ClusterPlan,
  drawClusterPlan,
  findPlanProblem,
} from '../../../dist/sim/swarm/cluster-plan.js';
import { clusterSwarm } from '../../../dist/sim/swarm/cluster-swarm.js';
import { runCluster } from '../../../dist/sim/swarm/cluster-world.js';
import { OrderChecks } from '../../../dist/sim/swarm/order-checks.js';
import { agents, registration } from '../../support/cluster/nodes.js';
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
  ['order compacted', 'has a snapshot of'],
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

// Plans that failed.
test.each([
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

describe('clusters: the checks', () => {
  const checks = () => new ClusterChecks();

  /** Puts keys of the network `swarm` in one transaction each. */
  function foundIn(...transactions: Record<string, string>[]): string | undefined {
    const [found, store] = [checks(), new EtcdStore()];
    const order = new OrderChecks(found, 'swarm', { announced: () => {}, stamped: () => {} });
    for (const keys of transactions) {
      const success = Object.entries(keys).map(([name, value]) => ({
        request_put: { key: Buffer.from(`folkmoot/network/swarm/${name}`), value: batch(value) },
      }));
      store.apply({ name: 'KV/Txn', request: { compare: [], success, failure: [] } });
      order.look(store);
    }
    store.apply({ name: 'KV/Compact', request: { revision: store.revision } });
    order.look(store);
    return found.failure?.sign;
  }

  /** A batch without requests, whose id is `incarnation:k`; other values as they are. */
  function batch(value: string): Buffer {
    const [, incarnation, k] = /^batch (.*):(.*)$/.exec(value) ?? [];
    if (k === undefined) return Buffer.from(value);
    const head = Buffer.from(JSON.stringify({ incarnation, k: Number(k), stamp: 0 }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(head.length);
    return Buffer.concat([length, head]);
  }

  test('find a batch of a process that has lost its name, and a repeated one', () => {
    const joined = { 'node/n1': 'a:0' };
    const first = { order: 'batch a:1', 'node/n1': 'a:1' };
    expect(foundIn(joined, first)).toBeUndefined();
    expect(foundIn(joined, first, first)).toBe('fence');
    expect(foundIn(joined, { 'node/n1': 'b:0' }, first)).toBe('fence');
    expect(foundIn(joined, { order: 'batch a:1', 'node/n1': 'a:0' })).toBe('fence');
  });

  test('find batches that are deleted before a node has them', () => {
    const card = (revision: number) => ({ 'card/n1': JSON.stringify({ position: { revision } }) });
    expect(foundIn(card(9))).toBeUndefined();
    expect(foundIn(card(1))).toBe('deleted too early');
  });

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
