/** A machine of a simulated cluster: its disk, and the process of a node while one runs. */
import { ClusterNetwork, type LaggingNode } from '../../cluster/network.js';
import { EtcdOrder } from '../../cluster/order/etcd.js';
import { OrderError } from '../../cluster/order/order.js';
import { catchUp } from '../../cluster/peer/catch-up.js';
import { ProcessClock, type SimulatedTime } from '../../cluster/simulated/clock.js';
import { SimulatedDisk } from '../../cluster/simulated/disk.js';
import type { SimulatedEtcd } from '../../cluster/simulated/etcd.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import type { ClusterChecks } from './cluster-checks.js';
import { SimulatedPeer } from './cluster-peers.js';
import { type ClusterPlan, NETWORK } from './cluster-plan.js';

/** Pause of the supervisor before it starts a node again. */
const RESTART_MS = 500;

/** True if another process has the name of the node. */
export const isNameTaken = (error: Error): boolean =>
  error instanceof OrderError && error.code === 'FENCED';

/** The world, as its nodes and clients see it. */
export interface Surroundings {
  readonly plan: ClusterPlan;
  /** Milliseconds for which etcd has had no leader. */
  readonly leaderlessMs: number;
  readonly time: SimulatedTime;
  readonly checks: ClusterChecks;
  readonly verifier: Verifier;
  readonly etcd: SimulatedEtcd;
  readonly nodes: readonly SimulatedNode[];
  /** Hashes of the blocks that were proposed. */
  readonly blocks: string[];
  /** Version of the order that a quorum of etcd has. */
  readonly orderedVersion: number;
  /** True while clients begin no more requests. */
  readonly isQuiet: boolean;
  /** True around faults, when clients are busy; aborts when a fault begins. */
  readonly isTense: boolean;
  readonly alarm: AbortSignal;
  /** Called for each message of a snapshot. May end the process at one end. */
  transfers(to: SimulatedNode, from: SimulatedNode): void;
  /** Returns a machine by its host name. */
  machine(host: string): SimulatedNode | undefined;
  /** Returns a source of random numbers for a purpose. */
  random(purpose: string): () => number;
  /** Adds a line to the timeline. */
  tell(who: string, text: string): void;
  /** True if a node may stop with this error. */
  isExpected(error: Error, node: SimulatedNode): boolean;
}

/** A machine with a disk, and the process of a node on it while one runs. */
export class SimulatedNode {
  readonly name: string;
  /** Name of its machine, which differs for a second node that claims the same name. */
  readonly host: string;
  readonly disk: SimulatedDisk;
  /** Null while the node is down or starts. */
  network: ClusterNetwork | null = null;
  clock: ProcessClock | null = null;
  /** The process as the peers see it; null while it gives no snapshots. */
  peer: SimulatedPeer | null = null;
  /** True if a fault ends the next transfer of a snapshot to this machine. */
  isInterrupted = false;
  /** True once the machine has asked for a snapshot. */
  hasAsked = false;
  /** False once a bit on its disk was flipped, until the disk is replaced. */
  isSound = true;
  readonly #world: Surroundings;
  readonly #newId: () => string;
  /** Draws a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  #aheadMs = 0;
  /** Number of processes so far. */
  #starts = 0;
  /** When a process last ended for another reason than that its name was taken. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** When the process began to serve, or last continued after a stall. */
  #steadySince = 0;
  /** Resolves once the process that is being stopped has ended. */
  stopped: Promise<void> = Promise.resolve();
  /** The node that claims the same name. */
  twin: SimulatedNode | null = null;
  /** Last entry and event that were checked. */
  #seen = { seq: -1, event: 0 };
  /** Ids drawn so far, and when the disk was last emptied. */
  #ids = 0;
  #idsOfEarlierDisks = 0;

  constructor(name: string, world: Surroundings, host = name) {
    this.name = name;
    this.host = host;
    this.#world = world;
    this.disk = new SimulatedDisk({ time: world.time, random: world.random(`disk of ${host}`) });
    this.random = world.random(`transfers to ${host}`);
    this.#newId = () => {
      this.#ids += 1;
      return `${host}-${this.#ids}`;
    };
  }

  /** Milliseconds for which the process has served without a stall; 0 if it does not. */
  get steadyMs(): number {
    if (!this.network || this.#world.etcd.links.paused.has(this.host)) return 0;
    return this.#world.time.monotonic() - this.#steadySince;
  }

  /** True if the process with this incarnation ran on this machine, and has used its disk. */
  owns(incarnation: string): boolean {
    const [host, id] = incarnation.split('-');
    return host === this.host && Number(id) > this.#idsOfEarlierDisks;
  }

  /** Time since another process with this node's name ended; 0 while one runs. */
  get namedForMs(): number {
    const { twin } = this;
    if (twin?.isUp) return 0;
    const endedAt = Math.max(this.#endedAt, twin ? twin.#endedAt : Number.NEGATIVE_INFINITY);
    return this.#world.time.monotonic() - endedAt;
  }

  get isUp(): boolean {
    return this.clock !== null;
  }

  /** Starts the process, unless it runs. */
  start(): void {
    if (this.clock) return;
    const { name, host, disk } = this;
    const { etcd, time, verifier, plan } = this.#world;
    const clock = new ProcessClock(time, this.#aheadMs);
    this.clock = clock;
    this.#starts += 1;
    this.#world.tell(host, 'starts');
    const connect = (endpoint: string) => etcd.connect(endpoint, host);
    const order = new EtcdOrder({
      ...{ endpoints: etcd.endpoints, networkId: NETWORK, clock, connect },
      tell: (line) => this.#world.tell(host, line),
    });
    const isRunning = () => this.clock === clock;
    const ordered = this.#world.orderedVersion;
    const failed = (error: Error) => {
      if (isRunning()) this.#failed(error);
    };
    ClusterNetwork.open({
      ...{ order, node: name, verifier, path: host, host: clock, newId: this.#newId },
      openDisk: () => disk.open(clock),
      genesis: { network_id: NETWORK, voting_period_ms: plan.votingPeriodMs },
      warn: (line) => this.#world.tell(host, `warns: ${line}`),
      onFatal: failed,
      catchUp: (behind) => this.#catchUp(behind, order, clock),
    }).then((network) => {
      if (isRunning()) this.#opened(network, ordered);
    }, failed);
  }

  /** @param ordered version of the order when the process began. */
  #opened(network: ClusterNetwork, ordered: number): void {
    const { seq, event_seq, order } = network.inner.read.position;
    if (order!.version < ordered) {
      const text = `node ${this.host} serves from batch ${order!.version} of ${ordered}`;
      this.#world.checks.fail('safety', 'serves too early', text);
    }
    this.#world.tell(this.host, `serves from entry ${seq}, batch ${order!.version}`);
    network.peersAt(this.host);
    this.network = network;
    this.peer = new SimulatedPeer(this, this.clock!, this.#world);
    this.#steadySince = this.#world.time.monotonic();
    this.#seen = { seq: -1, event: event_seq };
    network.onEvents((events) => {
      if (this.isSound) this.#world.checks.published(this.name, this.#seen.event, events);
      this.#seen.event = events.at(-1)?.seq ?? this.#seen.event;
    });
  }

  /** Checks what the last step has changed. */
  check(): void {
    if (!this.network) return;
    const { read } = this.network.inner;
    const { seq, digest, order } = read.position;
    if (seq === this.#seen.seq) return;
    this.#world.tell(this.host, `entry ${seq}, batch ${order!.version}, ${digest.slice(0, 12)}`);
    if (this.isSound) {
      const { checks, orderedVersion } = this.#world;
      checks.applied(this.name, this.#seen.seq, read, orderedVersion);
    }
    this.#seen.seq = seq;
  }

  /** Ends the process at once, and with power loss also the commit under way. */
  kill(losesPower: boolean): void {
    if (!this.clock) return;
    this.end();
    if (losesPower) this.disk.loseCommit();
    else void this.disk.kill();
  }

  /** Ends the process without a trace of its own. */
  end(): void {
    if (this.clock) this.#endedAt = this.#world.time.monotonic();
    this.clock?.end();
    this.#world.etcd.links.paused.delete(this.host);
    this.#world.etcd.disconnect(this.host);
    this.peer?.end();
    this.peer = null;
    this.stopped = Promise.resolve();
    this.clock = null;
    this.network = null;
  }

  /** Stops the process as SIGTERM does. */
  stop(): Promise<void> {
    this.stopped = this.#stop();
    return this.stopped;
  }

  async #stop(): Promise<void> {
    const { clock, network } = this;
    if (!clock || !network) return this.kill(false);
    this.network = null;
    // A disk that is full fails the last commit.
    await network.close().catch(() => {});
    if (this.clock === clock) this.end();
  }

  /** Stalls the process. Returns how it continues. */
  stall(): () => void {
    const { clock } = this;
    clock?.stall();
    if (clock) this.#world.etcd.links.paused.add(this.host);
    return () => {
      if (this.clock === clock) this.resume();
    };
  }

  resume(): void {
    this.#steadySince = this.#world.time.monotonic();
    this.clock?.resume();
    this.#world.etcd.links.paused.delete(this.host);
  }

  setClock(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    if (this.clock) this.clock.aheadMs = aheadMs;
  }

  /** Replaces the disk with an empty one, as an operator does. */
  replace(): void {
    this.kill(true);
    this.isSound = true;
    this.#idsOfEarlierDisks = this.#ids;
    this.disk.replace();
    this.#world.tell(this.host, 'has an empty disk');
  }

  #failed(error: Error): void {
    const { checks } = this.#world;
    this.#world.tell(this.host, `fails: ${error.message}`);
    const endedAt = this.#endedAt;
    if (this.isSound && !this.#world.isExpected(error, this)) {
      const sign = error.message.replace(/\d+/g, '0').slice(0, 60);
      checks.fail('crash', sign, `node ${this.name} failed: ${error.stack}`);
    }
    this.kill(false);
    // Only a message of an earlier process can take the name, so each can do so for a limited time.
    if (isNameTaken(error)) this.#endedAt = endedAt;
    // Its supervisor has given up.
    if (this.host !== this.name) return;
    this.startLater();
  }

  /** Starts the process as its supervisor does, which replaces a damaged disk first. */
  startLater(): void {
    const starts = this.#starts;
    this.#world.time.after(RESTART_MS, () => {
      if (this.#starts !== starts) return;
      if (!this.isSound) this.replace();
      this.start();
    });
  }

  #catchUp(behind: LaggingNode, order: EtcdOrder, clock: ProcessClock): Promise<void> {
    this.hasAsked = true;
    const { ports } = new SimulatedPeer(this, clock, this.#world);
    const { signal } = new AbortController();
    const about = { order, signal, newId: this.#newId, version: '', waiting: () => {} };
    return catchUp(behind, { ...ports, ...about });
  }
}
