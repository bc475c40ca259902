/**
 * The plan of one simulated cluster: its nodes, members of etcd, clients and faults, as data on one
 * page. A seed draws a plan. A smaller plan with the same seed is still a plan, so a failure can be
 * shrunk.
 */
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { type Stream, Streams } from '../rng.js';

/** Name of the network of a simulated cluster. */
export const NETWORK = 'swarm';

/** Kinds of faults, with the member of a fault that each uses besides `at` and `ms`. */
const faultKinds = {
  'node killed': 'node',
  'node restarted': 'node',
  'node stalled': 'node',
  'power lost at a node': 'node',
  'power lost everywhere': null,
  'node clock wrong': 'node',
  'disk full': 'node',
  'disk slow': 'node',
  'bit flipped on disk': 'node',
  'page torn': 'node',
  'node name taken': 'node',
  'key overwritten': 'node',
  'certificate expired': 'node',
  'member killed': 'member',
  'member stalled': 'member',
  'member cut off': 'member',
  'quorum lost': null,
  'leader changed': null,
  'etcd full': null,
  'order compacted': 'node',
  'snapshot interrupted': 'node',
  'link cut': 'link',
  'messages lost': null,
  'messages delayed': null,
} as const;

type FaultKind = keyof typeof faultKinds;

/**
 * Faults that meet each other. Most plans draw from one of these lists, because the
 * promises under few faults are stricter, and rare combinations find the most.
 */
const themes: readonly (readonly FaultKind[])[] = [
  ['member stalled'],
  ['member killed'],
  ['member cut off', 'node killed'],
  ['quorum lost'],
  ['quorum lost', 'node killed'],
  ['node clock wrong'],
  ['node clock wrong', 'node killed'],
  ['key overwritten', 'node stalled'],
  ['node name taken', 'messages delayed'],
  ['node name taken', 'node stalled'],
  ['etcd full', 'node killed'],
  ['etcd full', 'disk slow', 'node restarted'],
  ['order compacted', 'node killed', 'disk full'],
  ['order compacted', 'link cut'],
  ['snapshot interrupted', 'order compacted'],
  ['disk full', 'disk slow', 'link cut'],
  ['power lost at a node', 'node killed', 'disk slow'],
  ['page torn', 'node killed'],
  ['node stalled', 'messages delayed', 'leader changed'],
];

/** Faults that leave etcd and its links alone. */
export const local = new Set<FaultKind>([
  'node clock wrong',
  'node killed',
  'disk full',
  'disk slow',
]);
/** Faults under which nodes restore the founding record. */
export const harmless = new Set<FaultKind>(['key overwritten', 'node stalled']);
/** Faults that lose one member of etcd. */
export const loss = new Set<FaultKind>(['member killed', 'member stalled', 'member cut off']);

const whole = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const count = Type.Integer({ minimum: 1, maximum: 100 });
const chance = Type.Number({ minimum: 0, maximum: 1 });

const ClusterFault = Type.Object({
  kind: Type.Enum(Object.keys(faultKinds) as FaultKind[]),
  /** Start and length in virtual milliseconds. */
  at: whole,
  ms: whole,
  /** Steps after `at` until the fault begins, so that a node can be killed between any two. */
  steps: whole,
  /** Number of the node, from 1. */
  node: Type.Optional(count),
  /** Number of the member of etcd, from 1. */
  member: Type.Optional(count),
  /** Hosts at both ends of a link, `n1` and so on for nodes, `m1` for members. */
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  oneWay: Type.Optional(Type.Boolean()),
  /** Milliseconds for a wrong clock, a slow disk and delayed messages. */
  byMs: Type.Optional(Type.Integer()),
  /** Probability of a lost message. */
  rate: Type.Optional(chance),
});
export type ClusterFault = Static<typeof ClusterFault>;

const ClusterPlan = Type.Object({
  seed: Type.Integer(),
  nodes: count,
  members: count,
  clients: count,
  votingPeriodMs: whole,
  /** Virtual time with faults, after which all of them end. */
  faultsMs: whole,
  /** Pause of a client between its requests, which is shorter around faults. */
  thinkMs: whole,
  /** True if clients also post memes, whose batches etcd takes only in parts. */
  hasLarge: Type.Boolean(),
  /** Probability that a message between a client and a node is lost. */
  clientLoss: chance,
  faults: Type.Array(ClusterFault),
});
export type ClusterPlan = Static<typeof ClusterPlan>;

/** Finds the first problem of a plan that was read from a file. */
export const findPlanProblem = validator('cluster_plan', ClusterPlan);

/** Settings of the faults, by kind. */
function drawFault(
  rng: Stream,
  kind: FaultKind,
  plan: ClusterPlan,
  lengths: readonly number[],
): ClusterFault {
  const { nodes, members, faultsMs, faults } = plan;
  const last = faults.at(-1);
  // Half of the faults begin during another one, or at the same host.
  const at = last && rng.chance(0.5) ? last.at + rng.int(last.ms) : rng.int(faultsMs);
  const ms = Math.min(faultsMs - at, 50 + rng.int(rng.pick(lengths)));
  const fault: ClusterFault = { kind, at, ms, steps: rng.int(200) };
  const uses = faultKinds[kind];
  const again = rng.chance(0.5) ? last : undefined;
  if (uses === 'node') fault.node = again?.node ?? 1 + rng.int(nodes);
  if (uses === 'member') fault.member = again?.member ?? 1 + rng.int(members);
  if (uses === 'link') {
    const hosts = [...names('n', nodes), ...names('m', members)];
    const [from, to] = rng.shuffle(hosts);
    Object.assign(fault, { from, to, oneWay: rng.chance(0.5) });
  }
  if (kind === 'node clock wrong')
    fault.byMs = rng.pick([-1, 1, 1]) * rng.pick([300, 1_500, 5_000, 60_000]);
  if (kind === 'disk slow') fault.byMs = rng.pick([20, 300, 3_000]);
  if (kind === 'messages delayed') fault.byMs = rng.pick([10, 100, 1_500]);
  if (kind === 'messages lost') fault.rate = rng.pick([0.01, 0.05, 0.2]);
  return fault;
}

const names = (letter: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

/** Draws a plan. */
export function drawClusterPlan(seed: number): ClusterPlan {
  const streams = new Streams(`cluster/${seed}`);
  const rng = streams.of('world', 'plan');
  const plan: ClusterPlan = {
    seed,
    nodes: rng.pick([1, 2, 3, 3, 3, 4, 5]),
    members: rng.pick([1, 2, 3, 3, 3, 4, 5]),
    clients: rng.pick([1, 2, 3, 4, 6]),
    votingPeriodMs: rng.pick([500, 2_000, 8_000]),
    faultsMs: rng.pick([5_000, 15_000, 30_000, 30_000]),
    thinkMs: rng.pick([500, 1_500, 4_000]),
    hasLarge: rng.chance(0.1),
    clientLoss: rng.pick([0, 0, 0.02, 0.1]),
    faults: [],
  };
  const kinds = Object.keys(faultKinds) as FaultKind[];
  const mixed = rng.shuffle(kinds).slice(0, 1 + rng.int(kinds.length));
  const isMixed = rng.chance(0.4);
  const used = isMixed ? mixed : rng.pick(themes);
  const lengths = isMixed ? [500, 3_000, 12_000] : [3_000, 12_000, 25_000];
  const count = rng.pick([1, 2, 2, 4, 8]);
  for (let index = 0; index < count; index += 1) {
    plan.faults.push(drawFault(rng, rng.pick(used), plan, lengths));
  }
  plan.faults.sort((a, b) => a.at - b.at);
  return plan;
}

/** Describes a plan on one page. */
export function describePlan(plan: ClusterPlan): string[] {
  const { seed, nodes, members, clients, votingPeriodMs, faultsMs, thinkMs, clientLoss } = plan;
  const large = plan.hasLarge ? ', with large memes' : '';
  return [
    `seed ${seed}: ${nodes} nodes, ${members} members of etcd, ${clients} clients${large}`,
    `faults for ${faultsMs} ms, voting period ${votingPeriodMs} ms, clients pause ${thinkMs} ms ` +
      `and lose ${100 * clientLoss} % of their messages`,
    ...plan.faults.map(({ kind, at, ms, ...rest }) => {
      const settings = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
      return `  at ${at} ms for ${ms} ms: ${kind}, ${settings.join(', ')}`;
    }),
  ];
}

/** Smaller variants of a plan, largest step first. */
export const planReducers: readonly ((plan: ClusterPlan) => ClusterPlan[])[] = [
  ({ faults, ...plan }) => {
    const half = Math.ceil(faults.length / 2);
    if (faults.length < 2) return [];
    return [faults.slice(0, half), faults.slice(half)].map((some) => ({ ...plan, faults: some }));
  },
  (plan) => plan.faults.map((_, at) => ({ ...plan, faults: plan.faults.toSpliced(at, 1) })),
  (plan) => Array.from({ length: plan.clients - 1 }, (_, at) => ({ ...plan, clients: at + 1 })),
  (plan) => fewerHosts(plan, 'nodes', 'n', ({ node = 1 }) => node),
  (plan) => fewerHosts(plan, 'members', 'm', ({ member = 1 }) => member),
  (plan) => (plan.clientLoss > 0 ? [{ ...plan, clientLoss: 0 }] : []),
  (plan) =>
    [1_000, 2_000, 5_000, 10_000]
      .filter((ms) => ms < plan.faultsMs && plan.faults.every(({ at }) => at < ms))
      .map((faultsMs) => ({ ...plan, faultsMs })),
];

/** Removes the last hosts, with the faults that name them. */
function fewerHosts(
  plan: ClusterPlan,
  what: 'nodes' | 'members',
  letter: string,
  numberIn: (fault: ClusterFault) => number,
): ClusterPlan[] {
  return Array.from({ length: plan[what] - 1 }, (_, at) => {
    const count = at + 1;
    const isLeft = (host = '') => !host.startsWith(letter) || Number(host.slice(1)) <= count;
    const faults = plan.faults.filter(
      (fault) => numberIn(fault) <= count && isLeft(fault.from) && isLeft(fault.to),
    );
    return { ...plan, [what]: count, faults };
  });
}
