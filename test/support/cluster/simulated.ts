/** A simulated etcd whose time passes while a test waits. */
import { EtcdClient, type EtcdOptions } from '../../../dist/cluster/etcd/client.js';
import { SimulatedEtcd } from '../../../dist/cluster/simulated/etcd.js';
import { drawnFrom } from '../seeded.js';

interface Timer {
  atMs: number;
  call: (() => void) | null;
}

/** Virtual time. Timers of the same time are called in the order in which they were set. */
class TestClock {
  #ms = 0;
  readonly #timers: Timer[] = [];
  #isStopped = false;

  now(): number {
    return 1_700_000_000_000 + this.#ms;
  }

  monotonic(): number {
    return this.#ms;
  }

  after(ms: number, call: () => void): () => void {
    const timer: Timer = { atMs: this.#ms + Math.max(0, ms), call };
    const later = this.#timers.findIndex(({ atMs }) => atMs > timer.atMs);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
    return () => {
      timer.call = null;
    };
  }

  every(ms: number, call: () => void): () => void {
    let cancel = this.after(ms, again);
    const that = this;
    function again() {
      cancel = that.after(ms, again);
      call();
    }
    return () => cancel();
  }

  /** Lets time pass whenever the test waits, until `stop`. */
  run(): void {
    setImmediate(() => {
      if (this.#isStopped) return;
      const timer = this.#timers.shift();
      this.#ms = timer?.atMs ?? this.#ms;
      timer?.call?.();
      this.run();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }
}

export interface Simulated {
  etcd: SimulatedEtcd;
  clock: TestClock;
  /** Opens a client on a host. */
  client(host?: string, more?: Partial<EtcdOptions>): EtcdClient;
}

/** Starts a simulated etcd, which stops at the end of the test. */
export function simulatedEtcd(
  seed: number,
  more: { members?: number; quotaBytes?: number } = {},
): Simulated {
  const draw = drawnFrom(seed);
  const clock = new TestClock();
  const etcd = new SimulatedEtcd({ clock, random: () => draw(2 ** 32) / 2 ** 32, ...more });
  const { endpoints } = etcd;
  clock.run();
  onTestFinished(() => clock.stop());
  return {
    etcd,
    clock,
    client: (host = 'n1', options = {}) => {
      const connect = (endpoint: string) => etcd.connect(endpoint, host);
      return new EtcdClient({ endpoints, clock, connect, ...options });
    },
  };
}
