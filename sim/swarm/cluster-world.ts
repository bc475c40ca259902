/**
 * A simulated cluster: the production code of its nodes on simulated clocks, disks and etcd. Runs a
 * plan, and checks all promises after each step. Uses no process, socket, file or timer of this
 * machine.
 */
import { createHash } from 'node:crypto';
import { EtcdClient } from '../../cluster/etcd/client.js';
import { EtcdError } from '../../cluster/etcd/wire.js';
import { type Card, OrderError } from '../../cluster/order/order.js';
import { bounds } from '../../cluster/peer/proof.js';
import { SimulatedTime } from '../../cluster/simulated/clock.js';
import { SimulatedEtcd } from '../../cluster/simulated/etcd.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import { sleep } from '../../engine/store/host-clock.js';
import { StoreError } from '../../engine/store/messages.js';
import { Streams } from '../rng.js';
import { ClusterChecks, OrderChecks } from './cluster-checks.js';
import { createSimulatedVerifier, SimulatedClient } from './cluster-clients.js';
import { isNameTaken, SimulatedNode, type Surroundings } from './cluster-node.js';
import {
  type ClusterFault,
  type ClusterPlan,
  harmless,
  local,
  loss,
  NETWORK,
} from './cluster-plan.js';
import type { RunFailure } from './failures.js';

const START = Date.UTC(2026, 0, 1);
/** Interval at which the progress of nodes is checked. */
const LOOK_MS = 250;
/**
 * Times without faults, or with one member of etcd lost, after which a node is in contact with
 * etcd; after which it may lag this long; and by which a deadline may be late.
 */
const CALM_MS = { settled: 10_000, lag: 6_000, late: 3_000 } as const;
/** Time without a leader of etcd after which a node is cut off. */
const CUT_OFF_MS = 7_000;
/** Time for which nodes remember a wrong clock. */
const CLOCK_MEMORY_MS = 65_000;
/** By how much a batch may be ahead of the time, if one clock is wrong: the offset of refusal. */
const AHEAD_MS = 2_500;
/** Time after the begin and the end of a fault for which clients are busy. */
const TENSE_MS = 1_500;
/** Time for a quiet cluster to fire its deadlines, and to notice that a node has ended. */
const QUIET_MS = 8_000;
/** Probability that a message of a snapshot that is to be interrupted is the last one. */
const INTERRUPTS = 0.2;
/** Calls between two looks after which time does not advance. */
const MOST_CALLS = 50_000;
/**
 * Time within which all nodes are equal and all clients have written, once the faults have ended. A
 * node that saw wrong clocks refuses writes until it has forgotten them. A node whose snapshot was
 * lost on the way asks again only after a silence.
 */
const LIVE_MS = {
  usual: 30_000,
  afterSilence: 30_000 + bounds.silenceMs,
  afterWrongClock: 90_000,
} as const;
/** Time for which a commit can be under way on a disk that has become full. */
const FULL_MS = 5_000;
/** Time within which etcd can still execute a request of a process that has ended. */
const LATE_MS = 25_000;
/** Lines of the timeline that are kept. */
const MOST_LINES = 2_000;

export interface ClusterRun {
  plan: ClusterPlan;
  failure: RunFailure | null;
  /** Digest of everything that happened, at its time. */
  digest: string;
  /** Last lines of the timeline: each with its time, actor and action. */
  timeline: string[];
  /** All draws, if asked for. */
  draws: string[];
  virtualMs: number;
  steps: number;
  counts: { asked: number; acknowledged: number; entries: number };
}

export interface ClusterRunOptions {
  /** Keeps all draws. */
  keepDraws?: boolean;
  /** Called after each step. */
  onStep?: () => void;
}

/** Runs a plan. */
export async function runCluster(
  plan: ClusterPlan,
  options: ClusterRunOptions = {},
): Promise<ClusterRun> {
  const world = new ClusterWorld(plan, options);
  const escaped = (error: unknown) => world.crashed(error);
  process.on('unhandledRejection', escaped);
  try {
    await world.run();
  } finally {
    process.off('unhandledRejection', escaped);
  }
  return world.result();
}

class ClusterWorld implements Surroundings {
  readonly plan: ClusterPlan;
  readonly time = new SimulatedTime(START);
  readonly checks = new ClusterChecks();
  readonly verifier: Verifier = createSimulatedVerifier();
  readonly etcd: SimulatedEtcd;
  readonly nodes: readonly SimulatedNode[];
  readonly blocks: string[] = [];
  readonly clients: readonly SimulatedClient[];
  readonly #streams: Streams;
  readonly #draws: string[] | null;
  readonly #onStep: () => void;
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  /** Faults that wait for steps, with the number of steps left. */
  readonly #armed = new Set<{ left: number; begin: () => void }>();
  readonly #operator: EtcdClient;
  readonly #order: OrderChecks;
  /** Nodes that claim the name of another. */
  readonly #twins: SimulatedNode[] = [];
  readonly #active = new Set<ClusterFault>();
  #alarm = new AbortController();
  isQuiet = false;
  #tenseUntil = 0;
  /** Since when, at most one member of etcd is lost, and clocks are right. */
  #calmSince = 0;
  #ledAt = 0;
  /** When a fault last began or ended. Elections take up to 3 s. */
  #changedAt = 0;
  /** Versions of the order at the last looks, oldest first. */
  readonly #versions: number[] = [];
  #callsAtLook = 0;
  /** Nodes that have appended a batch after the faults. */
  readonly #appended = new Set<SimulatedNode>();
  #hadDamage = false;
  /** Most by which the network's time has been ahead of the clocks that are right. */
  #aheadMs = 0;
  /** True once a part of the order may be deleted. */
  #hadCompaction = false;

  constructor(plan: ClusterPlan, { keepDraws = false, onStep = () => {} }: ClusterRunOptions) {
    this.plan = plan;
    this.#onStep = onStep;
    this.#streams = new Streams(`cluster/${plan.seed}`);
    this.#draws = keepDraws ? [] : null;
    const { time } = this;
    this.etcd = new SimulatedEtcd({
      clock: time,
      random: this.random('etcd'),
      members: plan.members,
    });
    const { endpoints } = this.etcd;
    const connect = (endpoint: string) => this.etcd.connect(endpoint, 'operator');
    this.#operator = new EtcdClient({ endpoints, clock: time, connect });
    const number = (_: unknown, index: number) => index + 1;
    this.nodes = Array.from({ length: plan.nodes }, number).map(
      (at) => new SimulatedNode(`n${at}`, this),
    );
    this.clients = Array.from({ length: plan.clients }, number).map(
      (at) => new SimulatedClient(at, this),
    );
    this.#order = new OrderChecks(this.checks, NETWORK, {
      announced: (card) => this.#announced(card),
      stamped: (incarnation, stamp) => this.#stamped(incarnation, stamp),
    });
  }

  readonly machine = (host: string) =>
    [...this.nodes, ...this.#twins].find((one) => one.host === host);

  /** Returns a source of random numbers for a purpose. */
  random(purpose: string): () => number {
    const stream = this.#streams.of('world', purpose);
    return () => {
      const drawn = stream.real();
      this.#draws?.push(`${purpose} ${drawn} at ${this.time.monotonic()} ms`);
      return drawn;
    };
  }

  tell(who: string, text: string): void {
    const line = `${this.time.monotonic().toFixed(3).padStart(11)} ms  ${who}: ${text}`;
    this.#hash.update(`${line}\n`);
    this.#lines.push(line);
    if (this.#lines.length > 2 * MOST_LINES) this.#lines.splice(0, MOST_LINES);
  }

  crashed(error: unknown): void {
    const { stack = String(error), message = '' } = error as Partial<Error>;
    this.checks.fail('crash', message.replace(/\d+/g, '0'), stack);
  }

  /** Version of the order that a quorum of etcd has. */
  get orderedVersion(): number {
    return this.#order.version;
  }

  get leaderlessMs(): number {
    return this.etcd.leader === null ? this.time.monotonic() - this.#ledAt : 0;
  }

  get isTense(): boolean {
    return this.time.monotonic() < this.#tenseUntil;
  }

  get alarm(): AbortSignal {
    return this.#alarm.signal;
  }

  async run(): Promise<void> {
    const { time, plan, nodes, clients } = this;
    for (const node of nodes) node.start();
    for (const client of clients) void client.run();
    for (const fault of plan.faults) {
      const begin = () => this.#begin(fault);
      time.after(fault.at, () => this.#armed.add({ left: fault.steps, begin }));
    }
    const stopLooking = time.every(LOOK_MS, () => this.#look());
    await time.runUntil(plan.faultsMs, () => this.#step());
    if (!this.checks.failure) await this.#recover();
    if (!this.checks.failure) await this.#rest();
    this.#order.end();
    if (!this.checks.failure) this.checks.end();
    stopLooking();
    for (const node of [...nodes, ...this.#twins]) node.end();
  }

  /** Ends all faults, and expects that the cluster then works. */
  async #recover(): Promise<void> {
    const { time, plan, clients } = this;
    this.#endFaults();
    const met = new Set(plan.faults.map(({ kind }) => kind));
    const losesSnapshots = met.has('messages lost') && this.nodes.some(({ hasAsked }) => hasAsked);
    const calm = losesSnapshots ? LIVE_MS.afterSilence : LIVE_MS.usual;
    const liveMs = met.has('node clock wrong') ? LIVE_MS.afterWrongClock : calm;
    for (const client of clients) client.done = 0;
    this.#tenseUntil = Number.POSITIVE_INFINITY;
    for (const node of this.nodes) void this.#append(node);
    await time.runUntil(plan.faultsMs + liveMs, () => this.#step() && !this.#isLive());
    if (!this.checks.failure && !this.#isLive()) this.#failLiveness(liveMs);
  }

  /** Repeats a barrier at a node until the node has appended it. */
  async #append(node: SimulatedNode): Promise<void> {
    for (;;) {
      const { network } = node;
      const late = sleep(this.time, LIVE_MS.usual / 4).then(() => 'late');
      const isDone = network && (await Promise.race([network.barrier(), late])) === null;
      if (isDone) return void this.#appended.add(node);
      await sleep(this.time, LOOK_MS);
    }
  }

  /**
   * Leaves the cluster without requests. The remaining nodes fire the deadlines, and notice that a
   * node has ended.
   */
  async #rest(): Promise<void> {
    const { time, plan, nodes } = this;
    void this.clients[0]!.propose();
    this.isQuiet = true;
    const ended =
      nodes.length > 1 ? nodes[Math.floor(this.random('rest')() * nodes.length)]! : null;
    const hasLate = plan.faults.some(({ kind }) => kind === 'messages lost');
    // A card that arrives late looks like a wrong clock, until the next one arrives.
    if (hasLate) await time.runUntil(time.monotonic() + QUIET_MS, () => this.#step());
    ended?.kill(false);
    // A card of the ended node that counts as lost can still arrive.
    const lateMs = hasLate ? plan.faultsMs + LATE_MS : 0;
    const quietMs = Math.max(time.monotonic() + plan.votingPeriodMs, lateMs) + QUIET_MS;
    await time.runUntil(quietMs, () => this.#step());
    const asked = nodes.filter(({ network }) => network);
    let answers = 0;
    for (const node of this.checks.failure ? [] : asked) {
      void node.network!.status().then((status) => {
        answers += 1;
        const alive = status.nodes.filter((one) => one.alive).map((one) => one.node);
        const others = nodes.filter((one) => one !== ended).map(({ name }) => name);
        if (`${alive}` === `${others}`) return;
        const text = `node ${node.name} counts ${alive} as alive, instead of ${others}`;
        this.checks.fail('liveness', 'alive', text);
      });
    }
    const end = time.monotonic() + QUIET_MS;
    await time.runUntil(end, () => this.#step() && answers < asked.length);
    if (answers === asked.length) return;
    this.checks.fail('liveness', 'status', `${asked.length - answers} nodes do not know a status`);
  }

  result(): ClusterRun {
    const { plan, checks, time } = this;
    return {
      plan,
      failure: checks.failure,
      digest: this.#hash.digest('hex'),
      timeline: this.#lines.slice(-MOST_LINES),
      draws: this.#draws ?? [],
      virtualMs: time.monotonic(),
      steps: time.calls,
      counts: checks.counts,
    };
  }

  /** Checks what one step has changed. Returns false once a promise is broken. */
  #step(): boolean {
    this.#onStep();
    if (this.etcd.leader !== null) this.#ledAt = this.time.monotonic();
    this.#order.look(this.etcd.newest);
    for (const node of this.nodes) node.check();
    for (const twin of this.#twins) twin.check();
    for (const armed of this.#armed) {
      armed.left -= 1;
      if (armed.left >= 0) continue;
      this.#armed.delete(armed);
      armed.begin();
    }
    if (this.time.calls - this.#callsAtLook > MOST_CALLS) {
      this.checks.fail('liveness', 'time stands still', `${MOST_CALLS} calls in ${LOOK_MS} ms`);
    }
    return this.checks.failure === null;
  }

  /** Checks that a card promises only what the disk holds. */
  #announced(card: Card): void {
    const node = [...this.nodes, ...this.#twins].find((one) => one.owns(card.incarnation));
    if (node?.isSound) {
      this.checks.announced(card, node.disk.content.meta()?.order?.version ?? 0);
    }
  }

  /** Checks that a wrong clock does not set the network's time, if only one is wrong. */
  #stamped(incarnation: string, stamp: number): void {
    const aheadMs = stamp - this.time.now();
    // The time never goes back, so it remains ahead.
    const isNew = aheadMs > this.#aheadMs;
    this.#aheadMs = Math.max(aheadMs, this.#aheadMs);
    if (!isNew || aheadMs < AHEAD_MS || !this.plan.faults.every(({ kind }) => local.has(kind)))
      return;
    const settled = this.nodes.filter(({ steadyMs }) => steadyMs > CUT_OFF_MS);
    if (settled.length < 2 || !settled.some((node) => node.owns(incarnation))) return;
    const wrong = this.plan.faults.filter(({ kind }) => kind === 'node clock wrong');
    if (new Set(wrong.map(({ node }) => node)).size > 1) return;
    const text = `${incarnation} sets the time ${aheadMs} ms ahead`;
    this.checks.fail('safety', 'wrong stamp', text);
  }

  /** Checks what each node must know by now, and have applied. */
  #look(): void {
    const now = this.time.monotonic();
    this.#callsAtLook = this.time.calls;
    if (!this.#isCalm()) this.#calmSince = Math.max(this.#calmSince, now);
    this.#versions.push(this.orderedVersion);
    if (this.#versions.length > CALM_MS.lag / LOOK_MS) this.#versions.shift();
    for (const node of this.nodes) {
      const { network, steadyMs, isSound, name } = node;
      if (!network || !isSound) continue;
      const cutOffMs = network.cutOffMs();
      if (Math.min(this.leaderlessMs, steadyMs) > CUT_OFF_MS && cutOffMs === 0) {
        const text = `node ${name} does not notice that etcd has no leader`;
        this.checks.fail('safety', 'not cut off', text);
      }
      if (this.isQuiet && this.#calmSince <= now) this.#checkDeadline(node);
      if (Math.min(now - this.#calmSince, steadyMs) < CALM_MS.settled) continue;
      if (now - this.#changedAt < CUT_OFF_MS) continue;
      const { version } = network.inner.read.position.order!;
      if (cutOffMs > 0 || version < this.#versions[0]!) {
        const state = `at batch ${version}, cut off for ${cutOffMs} ms`;
        const text = `node ${name} is ${state}; ${CALM_MS.lag} ms ago, etcd had `;
        this.checks.fail('liveness', 'lags', `${text}${this.#versions[0]}`);
      }
      this.#checkDeadline(node);
    }
  }

  #checkDeadline({ name, network }: SimulatedNode): void {
    const lateMs = this.time.now() - (network?.inner.nextDeadline() ?? Number.POSITIVE_INFINITY);
    if (lateMs < CALM_MS.late) return;
    const text = `a deadline at node ${name} has passed ${lateMs} ms ago`;
    this.checks.fail('liveness', 'deadline', text);
  }

  /** True if the only fault is that one member of etcd is lost, of at least three. */
  #isCalm(): boolean {
    const members = new Set([...this.#active].map(({ kind, member }) => !loss.has(kind) || member));
    if (members.size > 1 || members.has(true)) return false;
    return (this.plan.members >= 3 || members.size === 0) && !this.#twins.some((one) => one.isUp);
  }

  #isLive(): boolean {
    if (this.clients.some(({ done }) => done === 0)) return false;
    if (this.#twins.some(({ isUp }) => isUp)) return false;
    if (this.#appended.size < this.nodes.length) return false;
    const version = this.orderedVersion;
    return this.nodes.every(
      ({ network }) => network?.inner.read.position.order?.version === version,
    );
  }

  #failLiveness(liveMs: number): void {
    const states = this.nodes.map(
      ({ name, network }) =>
        `${name} ${network ? `at batch ${network.inner.read.position.order!.version}` : 'down'}`,
    );
    const waiting = [
      ...this.clients.filter(({ done }) => done === 0),
      ...this.nodes.filter((node) => !this.#appended.has(node)),
    ].map(({ name }) => name);
    const twins = this.#twins.filter(({ isUp }) => isUp).map(({ host }) => host);
    const text = `not live ${liveMs} ms after the faults: ${states.join(', ')} of ${
      this.orderedVersion
    }; without a write: ${waiting.join(', ') || 'none'}; not fenced: ${twins.join(', ') || 'none'}`;
    this.checks.fail('liveness', 'not live', text);
  }

  #begin(fault: ClusterFault): void {
    const { kind, ms, at, steps, ...rest } = fault;
    const settings = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
    this.tell('fault', `${kind}${settings.length > 0 ? `, ${settings.join(', ')}` : ''}`);
    const now = this.time.monotonic();
    const memoryMs = kind === 'node clock wrong' ? CLOCK_MEMORY_MS + ms : 0;
    if (!loss.has(kind)) this.#calmSince = Math.max(this.#calmSince, now + memoryMs);
    this.#active.add(fault);
    this.#changedAt = now;
    this.#tenseUntil = now + TENSE_MS;
    const end = this.#effect(fault);
    const alarm = this.#alarm;
    this.#alarm = new AbortController();
    alarm.abort();
    this.time.after(end ? ms : 0, () => {
      // All faults have ended already.
      if (!this.#active.delete(fault)) return;
      this.#changedAt = this.time.monotonic();
      this.#tenseUntil = this.time.monotonic() + TENSE_MS;
      if (!end) return;
      this.tell('fault', `${kind} ends`);
      end();
    });
  }

  /** Begins a fault. Returns how it ends, or null if it has no end. */
  #effect(fault: ClusterFault): (() => void) | null {
    const { etcd } = this;
    const { byMs = 0, rate = 0, from = '', to = '', oneWay = false } = fault;
    const node = this.nodes[(fault.node ?? 1) - 1]!;
    const member = (fault.member ?? 1) - 1;
    const { messages } = etcd;
    switch (fault.kind) {
      case 'node killed':
      case 'power lost at a node':
        node.kill(fault.kind === 'power lost at a node');
        return () => node.start();
      case 'node restarted': {
        const stopped = node.stop();
        return () => void stopped.then(() => node.start());
      }
      case 'node stalled':
        return node.stall();
      case 'power lost everywhere':
        return this.#losePower();
      case 'node clock wrong':
        node.setClock(byMs);
        return () => node.setClock(0);
      case 'disk full':
        node.disk.fill();
        return () => node.disk.empty();
      case 'disk slow':
        node.disk.slowMs = byMs;
        return () => Object.assign(node.disk, { slowMs: 0 });
      case 'bit flipped on disk':
        return this.#damage(node, () => node.disk.flip());
      case 'page torn':
        return this.#damage(node, () => node.disk.tear());
      case 'member killed':
        etcd.stop(member);
        return () => etcd.start(member);
      case 'member stalled':
        etcd.pause(member);
        return () => etcd.resume(member);
      case 'member cut off':
        etcd.isolate(member);
        return () => etcd.links.mend();
      case 'quorum lost':
        return this.#stopMembers(Math.ceil(this.plan.members / 2));
      case 'leader changed':
        etcd.campaign();
        return null;
      case 'node name taken':
        this.#takeName(node);
        return null;
      case 'key overwritten':
        void this.#overwrite(node);
        return null;
      case 'certificate expired':
        etcd.links.expired.add(node.host);
        return () => etcd.links.expired.delete(node.host);
      case 'etcd full':
        return this.#fillEtcd();
      case 'order compacted':
      case 'snapshot interrupted':
        node.kill(false);
        node.isInterrupted = fault.kind === 'snapshot interrupted';
        return () => void this.#compact(node);
      case 'link cut':
        etcd.links.cut(from, to, !oneWay);
        return () => etcd.links.mend();
      case 'messages lost':
        Object.assign(messages, { lost: rate, repeated: rate });
        return () => Object.assign(messages, { lost: 0, repeated: 0 });
      case 'messages delayed':
        Object.assign(messages, { delayMs: byMs, reordered: 0.1 });
        return () => Object.assign(messages, { delayMs: 0, reordered: 0 });
    }
  }

  #losePower(): () => void {
    for (const node of this.nodes) node.kill(true);
    const restore = this.#stopMembers(this.plan.members);
    return () => {
      restore();
      for (const node of this.nodes) node.start();
    };
  }

  /** Ends the processes of the first members of etcd. Returns how they start again. */
  #stopMembers(count: number): () => void {
    for (let at = 0; at < count; at += 1) this.etcd.stop(at);
    return () => {
      for (let at = 0; at < count; at += 1) this.etcd.start(at);
    };
  }

  #endFaults(): void {
    const { etcd, nodes, plan } = this;
    this.tell('fault', 'all faults end');
    this.#armed.clear();
    this.#active.clear();
    this.#changedAt = this.time.monotonic();
    this.#calmSince = Math.max(this.#calmSince, this.#changedAt);
    etcd.links.expired.clear();
    Object.assign(etcd.messages, { lost: 0, repeated: 0, delayMs: 0, reordered: 0 });
    etcd.links.mend();
    for (let at = 0; at < plan.members; at += 1) {
      etcd.resume(at);
      etcd.start(at);
    }
    etcd.full(false);
    for (const client of this.clients) client.loss = 0;
    for (const node of nodes) {
      node.isInterrupted = false;
      node.disk.empty();
      node.disk.slowMs = 0;
      node.setClock(0);
      node.resume();
      if (!node.isSound) node.replace();
      void node.stopped.then(() => node.start());
    }
  }

  /** Damages a disk at power loss. Repair needs the whole history in the order. */
  #damage(node: SimulatedNode, damage: () => Promise<string | null>): (() => void) | null {
    if (this.#hadCompaction) return null;
    node.kill(true);
    return () => {
      if (node.isUp) return;
      if (this.#hadCompaction) return node.start();
      this.#hadDamage = true;
      node.isSound = false;
      void damage().then((what) => {
        this.tell(node.name, `damaged on disk: ${what}`);
        node.start();
      });
    };
  }

  /** Fills etcd. The nodes then delete the part of the order that all of them hold. */
  #fillEtcd(): (() => void) | null {
    if (this.#hadDamage) return null;
    this.#hadCompaction = true;
    this.etcd.full(true);
    return () => this.etcd.full(false);
  }

  /** Deletes the part of the order that the disk with the most holds, and then starts a node. */
  async #compact(node: SimulatedNode): Promise<void> {
    const kept = this.nodes.map(({ disk }) => disk.content.meta()?.order?.revision ?? 0);
    const revision = Math.max(...kept);
    if (!this.#hadDamage && revision > 0) {
      this.#hadCompaction = true;
      this.#order.compacted.add(revision);
      await this.#operate((etcd) => etcd.compact(revision));
    }
    // Once the faults have ended, all nodes have started.
    if (this.time.monotonic() < this.plan.faultsMs) node.start();
  }

  transfers(to: SimulatedNode, from: SimulatedNode): void {
    const draw = this.random(`interruption of ${to.host}`);
    if (!to.isInterrupted || draw() > INTERRUPTS) return;
    to.isInterrupted = false;
    const ends = draw() < 0.5 ? to : from;
    this.tell('fault', `${ends.host} ends in the middle of a snapshot`);
    ends.kill(draw() < 0.5);
    ends.startLater();
  }

  /** Does what an operator does, or another program. etcd may be unavailable. */
  async #operate(work: (etcd: EtcdClient) => Promise<void>): Promise<void> {
    await work(this.#operator).catch((error: unknown) => {
      if (!(error instanceof EtcdError)) throw error;
    });
  }

  /** Writes what no node has written, to a key that nodes repair or skip. */
  async #overwrite({ name }: SimulatedNode): Promise<void> {
    const keys = [`node/${name}`, `card/${name}`, 'order'];
    // Only a node that runs restores the founding record.
    if (this.plan.faults.every(({ kind }) => harmless.has(kind))) keys.push('founding');
    const key = keys[Math.floor(this.random('overwritten key')() * keys.length)]!;
    const text = `overwritten at ${this.time.now()}`;
    this.#order.foreign.add(text);
    this.tell('fault', `${key} is overwritten`);
    await this.#operate(async (etcd) => {
      await etcd.put(`folkmoot/network/${NETWORK}/${key}`, text);
    });
  }

  /** Starts a second node with the same name. The first one ends, and takes the name back. */
  #takeName(node: SimulatedNode): void {
    if (node.twin?.isUp) return;
    node.twin = new SimulatedNode(node.name, this, `x${1 + this.#twins.length}`);
    node.twin.twin = node;
    this.#twins.push(node.twin);
    node.twin.start();
  }

  isExpected(error: Error, node: SimulatedNode): boolean {
    if (error instanceof OrderError) {
      if (error.code === 'TRIMMED') return this.#hadCompaction;
      if (isNameTaken(error)) return node.namedForMs < LATE_MS;
      return node.network === null && ['UNAVAILABLE', 'FULL'].includes(error.code);
    }
    // A commit under way cannot be taken back when the disk becomes full.
    // A node with an empty disk cannot start while the disk is full.
    if (error instanceof StoreError) {
      return error.code === 'FULL' && (node.network === null || node.disk.fullMs < FULL_MS);
    }
    return this.#hadDamage && error.message.startsWith('nodes have diverged');
  }
}
