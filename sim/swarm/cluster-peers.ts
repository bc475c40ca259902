/**
 * Processes of a simulated cluster as peers: the production code that gives and takes snapshots,
 * over simulated links and disks.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { checkSnapshot } from '../../cluster/peer/check.js';
import { type GivenResponse, SnapshotGiver } from '../../cluster/peer/give.js';
import { bounds } from '../../cluster/peer/proof.js';
import type { PeerAnswer, TakeOptions } from '../../cluster/peer/take.js';
import type { ProcessClock } from '../../cluster/simulated/clock.js';
import { bytesOf, type SimulatedDisk, storeFrom } from '../../cluster/simulated/disk.js';
import { Pipe, type SimulatedEtcd } from '../../cluster/simulated/etcd.js';
import { sleep } from '../../engine/store/host-clock.js';
import type { Store } from '../../engine/store/store.js';
import { NETWORK } from './cluster-plan.js';

const SECRET = 'the secret of all simulated nodes';
/** Number of messages of a snapshot, and the time of each, and of its copy and check. */
const CHUNKS = 8;
const WORK_MS = { least: 2, most: 120 } as const;

/** The machine of a process. */
interface Machine {
  readonly name: string;
  readonly host: string;
  readonly disk: SimulatedDisk;
  /** Its process, while it gives snapshots. */
  readonly peer: SimulatedPeer | null;
  random(): number;
}

interface Surroundings {
  readonly etcd: SimulatedEtcd;
  tell(who: string, text: string): void;
  machine(host: string): Machine | undefined;
  transfers(to: Machine, from: Machine): void;
}

/** One process as a peer. */
export class SimulatedPeer {
  readonly #node: Machine;
  readonly #clock: ProcessClock;
  readonly #world: Surroundings;
  readonly #giver: SnapshotGiver;
  /** Called when the process ends. */
  readonly #connections = new Set<() => void>();

  constructor(node: Machine, clock: ProcessClock, world: Surroundings) {
    const { host, disk } = node;
    const tell = (line: string) => world.tell(host, line);
    const options = { host: clock, secret: SECRET, network: NETWORK, url: () => host, tell };
    this.#node = node;
    this.#clock = clock;
    this.#world = world;
    this.#giver = new SnapshotGiver(options);
    let bytes: Uint8Array = Buffer.alloc(0);
    this.#giver.source = {
      hasRoom: () => disk.fullMs === 0,
      copy: async () => {
        const { network_id: network, order } = disk.content.meta()!;
        bytes = bytesOf(disk.content);
        await this.#work();
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return { network, log: order!.log, version: order!.version, bytes: bytes.length, sha256 };
      },
      read: () => this.#read(bytes),
      clear: () => {},
    };
  }

  /** Ends the process. Its machine ends the connections. */
  end(): void {
    for (const ends of this.#connections) ends();
  }

  /** Ports through which this process takes a snapshot. */
  get ports(): Omit<TakeOptions, 'newId'> {
    const { name, host, disk } = this.#node;
    let store: Store | null = null;
    return {
      ...{ host: this.#clock, secret: SECRET, node: name },
      tell: (line) => this.#world.tell(host, line),
      ask: (to, headers, signal) => this.#ask(to, headers, signal),
      free: () => (disk.fullMs === 0 ? Number.POSITIVE_INFINITY : 0),
      async save(chunks) {
        const all: Uint8Array[] = [];
        for await (const chunk of chunks) all.push(chunk);
        store = await storeFrom(Buffer.concat(all));
      },
      check: async (expected) => {
        await this.#work();
        await checkSnapshot(store!, expected, { signatures: false, onProgress: () => {} });
      },
      install: () => disk.replace(store!),
      clear: () => {},
    };
  }

  #work(): Promise<void> {
    const { least, most } = WORK_MS;
    return sleep(this.#clock, least + (most - least) * this.#node.random());
  }

  async *#read(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
    const size = Math.ceil(bytes.length / CHUNKS);
    for (let from = 0; from < bytes.length; from += size) {
      await this.#work();
      yield bytes.subarray(from, from + size);
    }
  }

  #ask(
    to: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<PeerAnswer> {
    const { host } = this.#node;
    const { etcd, machine } = this.#world;
    const gone = new AbortController();
    const body = new Readable({ read() {} }).on('error', () => {});
    return new Promise((resolve, reject) => {
      const cut = (reason: string) => {
        const error = Object.assign(new Error(reason), { code: 'ECONNRESET' });
        silence();
        body.destroy(error);
        reject(error);
      };
      const listen = () => this.#clock.after(bounds.silenceMs, () => cut('silence'));
      let silence = listen();
      const broken = () => cut('connection lost');
      const up = new Pipe(etcd, [host, to], broken);
      const down = new Pipe(etcd, [to, host], broken);
      // A process that has ended, or is stalled, receives nothing.
      const deliver = (message: () => void) =>
        down.send(() => {
          this.#clock.after(0, () => {
            silence();
            silence = listen();
            message();
          });
        });
      const reset = () => deliver(() => cut('connection reset'));
      const leave = () => up.send(() => gone.abort(new Error('the peer disconnected')));
      signal.addEventListener('abort', () => {
        cut('aborted');
        leave();
      });
      this.#connections.add(leave);
      const send: GivenResponse['send'] = async (status, head, chunks) => {
        deliver(() => resolve({ status, headers: head, body }));
        for await (const chunk of chunks) {
          gone.signal.throwIfAborted();
          this.#world.transfers(this.#node, machine(to)!);
          deliver(() => body.push(chunk));
        }
        deliver(() => body.push(null));
      };
      const request = { method: 'GET', url: '/snapshot', headers };
      const response = { gone: gone.signal, accepted: () => {}, send };
      up.send(() => {
        const peer = machine(to)?.peer;
        if (peer) peer.#answer(request, response, reset);
        else reset();
      });
    });
  }

  #answer(
    request: Parameters<SnapshotGiver['answer']>[0],
    response: GivenResponse,
    reset: () => void,
  ): void {
    this.#connections.add(reset);
    this.#clock.after(0, () => {
      this.#giver.answer(request, response).catch(reset);
    });
  }
}
