/** A machine of a simulated cluster: its disk, and the process of a node while one runs. */
import { ClusterNetwork, type LaggingNode } from '../../cluster/network.js';
import { EtcdOrder } from '../../cluster/order/etcd.js';
import { OrderError } from '../../cluster/order/order.js';
import { ProcessClock, type SimulatedTime } from '../../cluster/simulated/clock.js';
import { SimulatedDisk } from '../../cluster/simulated/disk.js';
import type { SimulatedEtcd } from '../../cluster/simulated/etcd.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import { sleep } from '../../engine/store/host-clock.js';
import type { ClusterChecks } from './cluster-checks.js';
import type { ClusterPlan } from './cluster-plan.js';

export const NETWORK = 'swarm';
/** Pause of the supervisor before it starts a node again. */
const RESTART_MS = 500;
/** Time of a snapshot transfer. */
const SNAPSHOT_MS = { least: 20, most: 1_000 } as const;

/** True if another process has the name of the node. */
export const isNameTaken = (error: Error): boolean =>
  error instanceof OrderError && error.code === 'FENCED';

/** The world, as its nodes and clients see it. */
export interface Surroundings {
  readonly plan: ClusterPlan;
  readonly time: SimulatedTime;
  readonly checks: ClusterChecks;
  readonly verifier: Verifier;
  readonly etcd: SimulatedEtcd;
  readonly nodes: readonly SimulatedNode[];
  /** Hashes of the blocks that were proposed. */
  readonly blocks: string[];
  /** Version of the order that a quorum of etcd has. */
  readonly orderedVersion: number;
  /** Returns a source of random numbers for a purpose. */
  random(purpose: string): () => number;
  /** Adds a line to the timeline. */
  tell(who: string, text: string): void;
  /**
   * True if a node may stop with this error.
   * @param sinceMs time since an earlier process of the node ended; infinite without one.
   */
  isExpected(error: Error, sinceMs: number): boolean;
}

/** A machine with a disk, and the process of a node on it while one runs. */
export class SimulatedNode {
  readonly name: string;
  readonly disk: SimulatedDisk;
  /** Null while the node is down or starts. */
  network: ClusterNetwork | null = null;
  clock: ProcessClock | null = null;
  /** False once a bit on its disk was flipped, until the disk is replaced. */
  isSound = true;
  readonly #world: Surroundings;
  readonly #newId: () => string;
  readonly #random: () => number;
  #aheadMs = 0;
  /** When a process last ended for another reason than that its name was taken. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** Last entry and event that were checked. */
  #seen = { seq: -1, event: 0 };
  /** Ids drawn so far, and when the disk was last emptied. */
  #ids = 0;
  #idsOfEarlierDisks = 0;

  constructor(name: string, world: Surroundings) {
    this.name = name;
    this.#world = world;
    this.disk = new SimulatedDisk({ time: world.time, random: world.random(`disk of ${name}`) });
    this.#random = world.random(`transfers to ${name}`);
    this.#newId = () => {
      this.#ids += 1;
      return `${name}-${this.#ids}`;
    };
  }

  get isUp(): boolean {
    return this.clock !== null;
  }

  /** Starts the process, unless it runs. */
  start(): void {
    if (this.clock) return;
    const { name, disk } = this;
    const { etcd, time, verifier, plan } = this.#world;
    const clock = new ProcessClock(time, this.#aheadMs);
    this.clock = clock;
    this.#world.tell(name, 'starts');
    const connect = (endpoint: string) => etcd.connect(endpoint, name);
    const order = new EtcdOrder({
      ...{ endpoints: etcd.endpoints, networkId: NETWORK, clock, connect },
      tell: (line) => this.#world.tell(name, line),
    });
    const isRunning = () => this.clock === clock;
    const failed = (error: Error) => {
      if (isRunning()) this.#failed(error);
    };
    ClusterNetwork.open({
      ...{ order, node: name, verifier, path: name, host: clock, newId: this.#newId },
      openDisk: () => disk.open(clock),
      genesis: { network_id: NETWORK, voting_period_ms: plan.votingPeriodMs },
      warn: (line) => this.#world.tell(name, `warns: ${line}`),
      onFatal: failed,
      catchUp: (behind) => this.#catchUp(behind, clock),
    }).then((network) => {
      if (isRunning()) this.#opened(network);
    }, failed);
  }

  #opened(network: ClusterNetwork): void {
    const { seq, event_seq, order } = network.inner.read.position;
    this.#world.tell(this.name, `serves from entry ${seq}, batch ${order!.version}`);
    this.network = network;
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
    this.#world.tell(this.name, `entry ${seq}, batch ${order!.version}, ${digest.slice(0, 12)}`);
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
    this.#world.etcd.links.paused.delete(this.name);
    this.#world.etcd.disconnect(this.name);
    this.clock = null;
    this.network = null;
  }

  /** Stops the process as SIGTERM does. */
  async stop(): Promise<void> {
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
    if (clock) this.#world.etcd.links.paused.add(this.name);
    return () => {
      if (this.clock === clock) this.resume();
    };
  }

  resume(): void {
    this.clock?.resume();
    this.#world.etcd.links.paused.delete(this.name);
  }

  setClock(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    if (this.clock) this.clock.aheadMs = aheadMs;
  }

  /** True if a process with this incarnation has used the present disk. */
  hasUsedDisk(incarnation: string): boolean {
    return Number(incarnation.split('-')[1]) > this.#idsOfEarlierDisks;
  }

  /** Replaces the disk with an empty one, as an operator does. */
  async replace(): Promise<void> {
    this.kill(true);
    this.isSound = true;
    this.#idsOfEarlierDisks = this.#ids;
    await this.disk.replace(null);
    this.#world.tell(this.name, 'has an empty disk');
  }

  #failed(error: Error): void {
    const { checks, time } = this.#world;
    this.#world.tell(this.name, `fails: ${error.message}`);
    const endedAt = this.#endedAt;
    if (this.isSound && !this.#world.isExpected(error, time.monotonic() - endedAt)) {
      const sign = error.message.replace(/\d+/g, '0').slice(0, 60);
      checks.fail('crash', sign, `node ${this.name} failed: ${error.stack}`);
    }
    this.kill(false);
    // Only a message of an earlier process can take the name, so each can do so for a limited time.
    if (isNameTaken(error)) this.#endedAt = endedAt;
    time.after(RESTART_MS, () => {
      if (this.clock) return;
      if (this.isSound) this.start();
      else void this.replace().then(() => this.start());
    });
  }

  /** Fetches the data of a node that has more, unless one of them ends meanwhile. */
  async #catchUp({ position }: LaggingNode, clock: ProcessClock): Promise<void> {
    const { least, most } = SNAPSHOT_MS;
    for (;;) {
      const versionOf = (node: SimulatedNode) => node.disk.content.meta()?.order?.version ?? 0;
      const ahead = this.#world.nodes.filter(
        (node) => node.network && node.isSound && versionOf(node) > position.order.version,
      );
      const sender = ahead.sort((a, b) => versionOf(b) - versionOf(a))[0];
      const sending = sender?.clock;
      await sleep(clock, least + (most - least) * this.#random());
      if (!sender || sender.clock !== sending) continue;
      this.#world.tell(this.name, `has a snapshot of ${sender.name}`);
      return this.disk.replace(sender.disk);
    }
  }
}
