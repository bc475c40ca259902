/** An order in a simulated etcd, at the pace of this machine's clock. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdOrder } from '../../../dist/cluster/order/etcd.js';
import {
  decodeBatch,
  type OrderedBatch,
  type Position,
} from '../../../dist/cluster/order/order.js';
import { SimulatedTime } from '../../../dist/cluster/simulated/clock.js';
import { SimulatedEtcd } from '../../../dist/cluster/simulated/etcd.js';

const networkId = 'devnet';
const prefix = `folkmoot/network/${networkId}/`;

export class MemoryOrder {
  readonly #clock = new SimulatedTime(Date.now());
  readonly #etcd: SimulatedEtcd;
  /** Connection of another program. */
  readonly other: Door;

  constructor() {
    this.#etcd = new SimulatedEtcd({ clock: this.#clock, random: Math.random, members: 1 });
    this.other = this.open('other');
    void this.#pass();
  }

  open(host: string): Door {
    const connect = (endpoint: string) => this.#etcd.connect(endpoint, host);
    return new Door(host, this.#etcd, { clock: this.#clock, connect });
  }

  get batches(): OrderedBatch[] {
    const { newest } = this.#etcd;
    const found: OrderedBatch[] = [];
    for (let revision = 1; revision <= newest.revision; revision += 1) {
      for (const { key, value, version } of newest.changesAt(revision)) {
        if (key.toString() !== `${prefix}order`) continue;
        found.push({ ...decodeBatch(value), position: { version, revision } });
      }
    }
    return found;
  }

  get head(): Position {
    return this.batches.at(-1)?.position ?? { version: 0, revision: 0 };
  }

  /** Deletes all keys that begin with a name. */
  async delete(name: string): Promise<void> {
    await this.other.client.delete({ prefix: prefix + name });
  }

  async #pass(): Promise<void> {
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    const began = performance.now();
    while (!isOver) {
      await this.#clock.runUntil(performance.now() - began, () => true);
      await sleep(1);
    }
  }
}

/** A host's connection to the order. */
export class Door extends EtcdOrder {
  readonly #host: string;
  readonly #etcd: SimulatedEtcd;

  constructor(
    host: string,
    etcd: SimulatedEtcd,
    ports: Pick<ConstructorParameters<typeof EtcdOrder>[0], 'clock' | 'connect'>,
  ) {
    super({ endpoints: etcd.endpoints, networkId, ...ports });
    this.#host = host;
    this.#etcd = etcd;
  }

  /** True to lose all traffic. */
  set shut(isShut: boolean) {
    if (isShut) this.#etcd.links.cut(this.#host, 'm1', true);
    else this.#etcd.links.mend();
  }
}
