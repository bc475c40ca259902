/**
 * A simulated cluster: the production code of its nodes on simulated clocks, disks and etcd. Runs a
 * plan, and checks all promises after each step. Uses no process, socket, file or timer of this
 * machine.
 */
import { createHash } from 'node:crypto';
import { EtcdClient } from '../../cluster/etcd/client.js';
import { EtcdError } from '../../cluster/etcd/wire.js';
import { type Card, OrderError } from '../../cluster/order/order.js';
import { SimulatedTime } from '../../cluster/simulated/clock.js';
import { SimulatedEtcd } from '../../cluster/simulated/etcd.js';
import { createVerifier } from '../../engine/crypto/pool.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import { StoreError } from '../../engine/store/messages.js';
import { Streams } from '../rng.js';
import { ClusterChecks } from './cluster-checks.js';
import { SimulatedClient } from './cluster-clients.js';
import { isNameTaken, NETWORK, SimulatedNode, type Surroundings } from './cluster-node.js';
import type { ClusterFault, ClusterPlan } from './cluster-plan.js';
import type { RunFailure } from './failures.js';

const START = Date.UTC(2026, 0, 1);
/** Interval at which new cards are checked, well below the delay of a node's commits. */
const LOOK_MS = 20;
/**
 * Time within which all nodes are equal and all clients have written, once the faults have ended. A
 * node that saw wrong clocks refuses writes until it has forgotten them.
 */
const LIVE_MS = { usual: 30_000, afterWrongClock: 90_000 } as const;
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
}

/** Runs a plan. */
export async function runCluster(
  plan: ClusterPlan,
  options: ClusterRunOptions = {},
): Promise<ClusterRun> {
  const world = new ClusterWorld(plan, options.keepDraws === true);
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
  readonly verifier: Verifier = createVerifier('inline');
  readonly etcd: SimulatedEtcd;
  readonly nodes: readonly SimulatedNode[];
  readonly blocks: string[] = [];
  readonly clients: readonly SimulatedClient[];
  readonly #streams: Streams;
  readonly #draws: string[] | null;
  readonly #hash = createHash('sha256');
  readonly #lines: string[] = [];
  /** Faults that wait for steps, with the number of steps left. */
  readonly #armed = new Set<{ left: number; begin: () => void }>();
  readonly #operator: EtcdClient;
  /** Last revision of a card that was checked. */
  #lookedAt = 0;
  #hadDamage = false;
  /** True once a part of the order may be deleted. */
  #hadCompaction = false;

  constructor(plan: ClusterPlan, keepDraws: boolean) {
    this.plan = plan;
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
  }

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
    const { kvs } = this.etcd.newest.range({
      key: Buffer.from(`folkmoot/network/${NETWORK}/order`),
    });
    return Number(kvs[0]?.version ?? 0);
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
    stopLooking();
    for (const node of nodes) node.end();
  }

  /** Ends all faults, and expects that the cluster then works. */
  async #recover(): Promise<void> {
    const { time, plan, clients } = this;
    this.#endFaults();
    const wrongClocks = plan.faults.some(({ kind }) => kind === 'node clock wrong');
    const liveMs = wrongClocks ? LIVE_MS.afterWrongClock : LIVE_MS.usual;
    for (const client of clients) client.done = 0;
    await time.runUntil(plan.faultsMs + liveMs, () => this.#step() && !this.#isLive());
    if (!this.checks.failure && !this.#isLive()) this.#failLiveness(liveMs);
    if (!this.checks.failure) this.checks.end();
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
    for (const node of this.nodes) node.check();
    for (const armed of this.#armed) {
      armed.left -= 1;
      if (armed.left >= 0) continue;
      this.#armed.delete(armed);
      armed.begin();
    }
    return this.checks.failure === null;
  }

  /** Checks the cards in etcd. */
  #look(): void {
    const prefix = `folkmoot/network/${NETWORK}/card/`;
    const range_end = Buffer.from(`${prefix.slice(0, -1)}0`);
    const { kvs } = this.etcd.newest.range({ key: Buffer.from(prefix), range_end });
    for (const { value, mod_revision } of kvs) {
      if (Number(mod_revision) <= this.#lookedAt) continue;
      const card = JSON.parse(value.toString()) as Card;
      const node = this.nodes.find(({ name }) => name === card.node);
      if (!node?.isSound || !node.hasUsedDisk(card.incarnation)) continue;
      this.checks.announced(card, node.disk.content.meta()?.order?.version ?? 0);
    }
    this.#lookedAt = Math.max(this.#lookedAt, ...kvs.map((one) => Number(one.mod_revision)));
  }

  #isLive(): boolean {
    if (this.clients.some(({ done }) => done === 0)) return false;
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
    const waiting = this.clients.filter(({ done }) => done === 0).map(({ name }) => name);
    const text = `not live ${liveMs} ms after the faults: ${states.join(', ')} of ${
      this.orderedVersion
    }; without a write: ${waiting.join(', ') || 'none'}`;
    this.checks.fail('liveness', 'not live', text);
  }

  #begin(fault: ClusterFault): void {
    const { kind, ms, at, steps, ...rest } = fault;
    const settings = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
    this.tell('fault', `${kind}${settings.length > 0 ? `, ${settings.join(', ')}` : ''}`);
    const end = this.#effect(fault);
    if (!end) return;
    this.time.after(ms, () => {
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
        for (const one of this.nodes) one.kill(true);
        for (let at = 0; at < this.plan.members; at += 1) etcd.stop(at);
        return () => {
          for (let at = 0; at < this.plan.members; at += 1) etcd.start(at);
          for (const one of this.nodes) one.start();
        };
      case 'node clock wrong':
        node.setClock(byMs);
        return () => node.setClock(0);
      case 'disk full':
        node.disk.isFull = true;
        return () => {
          node.disk.isFull = false;
        };
      case 'disk slow':
        node.disk.slowMs = byMs;
        return () => {
          node.disk.slowMs = 0;
        };
      case 'bit flipped on disk':
        return this.#damage(node);
      case 'member killed':
        etcd.stop(member);
        return () => etcd.start(member);
      case 'member stalled':
        etcd.pause(member);
        return () => etcd.resume(member);
      case 'leader changed':
        etcd.campaign();
        return null;
      case 'etcd full':
        return this.#fillEtcd();
      case 'order compacted':
        void this.#compact();
        return null;
      case 'link cut':
        etcd.cut(from, to, !oneWay);
        return () => etcd.mend();
      case 'messages lost':
        messages.lost = rate;
        messages.repeated = rate;
        return () => Object.assign(messages, { lost: 0, repeated: 0 });
      case 'messages delayed':
        messages.delayMs = byMs;
        messages.reordered = 0.1;
        return () => Object.assign(messages, { delayMs: 0, reordered: 0 });
    }
  }

  #endFaults(): void {
    const { etcd, nodes, plan } = this;
    this.tell('fault', 'all faults end');
    this.#armed.clear();
    Object.assign(etcd.messages, { lost: 0, repeated: 0, delayMs: 0, reordered: 0 });
    etcd.mend();
    for (let at = 0; at < plan.members; at += 1) {
      etcd.resume(at);
      etcd.start(at);
    }
    etcd.full(false);
    for (const client of this.clients) client.loss = 0;
    for (const node of nodes) {
      node.disk.isFull = false;
      node.disk.slowMs = 0;
      node.setClock(0);
      node.resume();
      if (node.isSound) node.start();
      else void node.replace().then(() => node.start());
    }
  }

  /** Flips a bit while the node is down. Repair needs the whole history in the order. */
  #damage(node: SimulatedNode): (() => void) | null {
    if (this.#hadCompaction) return null;
    node.kill(false);
    return () => {
      if (node.isUp) return;
      if (this.#hadCompaction) return node.start();
      this.#hadDamage = true;
      node.isSound = false;
      void node.disk.flip().then((what) => {
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

  /** Deletes the part of the order that the disk with the most holds. */
  async #compact(): Promise<void> {
    if (this.#hadDamage) return;
    const kept = this.nodes.map(({ disk }) => disk.content.meta()?.order?.revision ?? 0);
    const revision = Math.max(...kept);
    if (revision === 0) return;
    this.#hadCompaction = true;
    await this.#operator.compact(revision).catch((error: unknown) => {
      if (!(error instanceof EtcdError)) throw error;
    });
  }

  isExpected(error: Error, sinceMs: number): boolean {
    if (error instanceof OrderError) {
      if (error.code === 'TRIMMED') return this.#hadCompaction;
      return isNameTaken(error) ? sinceMs < LATE_MS : ['UNAVAILABLE', 'FULL'].includes(error.code);
    }
    if (error instanceof StoreError) return error.code === 'FULL';
    return this.#hadDamage && error.message.startsWith('nodes have diverged');
  }
}
