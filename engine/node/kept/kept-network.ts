/**
 * A network in a folder that is only read: what is there, and what another process still adds to
 * it. It takes no lock and writes nothing.
 */
import type { Outcome } from '../../core/index.js';
import { createOffVerifier, createVerifier, type Verifier } from '../../crypto/index.js';
import { splitStored } from '../../protocol/log.js';
import { type Genesis, refuse, SCHEMA_VERSION, tables } from '../../protocol/schema/index.js';
import { agentId } from '../../protocol/signing.js';
import { openLmdbStore, type Store, StoreError, type StoreMeta } from '../../store/index.js';
import type { PublishedEvent } from '../encode.js';
import { Followers } from '../followers.js';
import type { Applied } from '../network-options.js';
import { genesisOf } from '../open-store.js';
import { Verification } from '../verification.js';
import { type CommittedView, Views } from '../views.js';
import { Lookout } from './lookout.js';
import type { ServedNetwork } from './served.js';
import { summaryOf } from './summary.js';

/** Which folder is read, and who is told when it is lost. */
export interface KeptOptions {
  /** The folder of a network: another process may write to it. */
  path: string;
  /** Whether a look at the data comes first, and refuses what is damaged. Default: true. */
  whole?: boolean;
  /** Called once when the folder is deleted, replaced or damaged: what was read stays readable. */
  onLost?: (why: string) => void;
}

/** How often the folder is looked at, and how many new events are told at a time. */
const LOOK_MS = 100;
const PAGE = 1_024;

const advice = 'whoever holds the network takes writes: folkmoot serve --data FOLDER';

/**
 * A network in a folder, only to be read and served: a finished run, or one that another process
 * goes on with, which is followed. Whatever would write is refused.
 *
 * @example
 * ```ts
 * import { KeptNetwork } from 'folkmoot';
 * import { startServer } from 'folkmoot/api';
 * import { completeScenario, simulate } from 'folkmoot/sim';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * await simulate(scenario, { out: 'run' });
 * const network = KeptNetwork.open({ path: 'run/network' });
 * const server = await startServer({ network, port: 0, version: '1.0.0' });
 * const answer = await fetch(`${server.url}/api/v1/network/state`);
 * console.log(answer.status, network.read.networkState().block_height); // 200 2
 * await server.close();
 * await network.close();
 * ```
 */
export class KeptNetwork implements ServedNetwork {
  readonly #store: Store;
  readonly #verifier: Verifier;
  readonly #followers = new Followers();
  readonly #lookout: Lookout;
  /** The last event that followers were told. */
  #told: number;
  /** Its parameters, as entry 0 has them. */
  readonly genesis: Genesis;
  /** Drawn once per folder. */
  readonly epoch: string;
  /** Where it is kept. */
  readonly folder: string;
  /** It is on disk. */
  readonly durableOnDisk = true;
  /** Signatures, of known keys over any text. */
  readonly verification: Verification;
  /** Reads of what is committed. */
  readonly read: Views;
  /** Why nothing can be written, and what to do instead. */
  readonly readOnly: string;
  /** Nothing waits for the disk here. */
  readonly backlog = 0;

  private constructor(store: Store, meta: StoreMeta, { path, onLost = () => {} }: KeptOptions) {
    this.#store = store;
    this.genesis = genesisOf(store);
    this.epoch = meta.epoch;
    this.folder = path;
    this.readOnly = `${path} is only read here; ${advice}`;
    const signed = this.genesis.signatures !== 'none';
    this.#verifier = signed ? createVerifier('inline') : createOffVerifier();
    this.verification = new Verification(this.#verifier, this.knows);
    const clock = { now: () => this.time };
    this.read = new Views(store, this.genesis, clock, this.#viewOf(meta));
    this.#told = meta.event_seq;
    this.#lookout = new Lookout(path, LOOK_MS, () => this.#look(), onLost);
  }

  /**
   * Opens a folder for reading, and looks whether its data is whole, as far as that is quick:
   * `replay` says whether all of it follows from its log.
   *
   * @throws {StoreError} when no network is there, or it is damaged or unreadable.
   */
  static open(options: KeptOptions): KeptNetwork {
    const { path, whole = true } = options;
    const folder = { path, tables, schemaVersion: SCHEMA_VERSION };
    const store = openLmdbStore({ ...folder, readOnly: true, whole });
    try {
      const end = store.meta();
      if (!end) throw new StoreError('MISSING', `${path}: no network is stored here`);
      if (whole) assertWhole(store, end, path);
      return new KeptNetwork(store, end, options);
    } catch (error) {
      void store.close();
      throw error;
    }
  }

  /** Why nothing new is read any more, or null. */
  get lost(): string | null {
    return this.#lookout.lost;
  }

  /** Its time, in milliseconds since 1970: where its log ends. */
  get time(): number {
    return this.read.position.at;
  }

  /** Whether an agent has this key (hex, lower case). */
  knows = (publicKey: string): boolean =>
    this.#store.get('agents', agentId(publicKey)) !== undefined;

  /** Refused, as all that would write. */
  precheck(): Outcome {
    return { result: 'refused', refusal: refuse('READ_ONLY', this.readOnly) };
  }

  /** Refused, as all that would write. */
  apply(): Applied {
    return { outcome: this.precheck(), events: [], durable: this.durable };
  }

  /** Deadlines are for whoever goes on with it. */
  fireDeadlines(): readonly [] {
    return [];
  }

  /** Nobody votes here. */
  votesUntilClose = (): number => 0;

  /** What it shows is durable. */
  get durable(): Promise<void> {
    return Promise.resolve();
  }

  /** What an operator watches: signatures that were checked, and no commits. */
  get stats() {
    const none = { commits: 0, entries: 0, commitMs: 0, commitSizes: [] as number[] };
    return { ...this.#verifier.stats, ...none };
  }

  /** Calls back with events that another process adds; returns how to stop that. */
  onEvents = (listener: (events: readonly PublishedEvent[]) => void): (() => void) =>
    this.#followers.listen(listener);

  /** Looks no more, and closes the folder. */
  async close(): Promise<void> {
    this.#lookout.close();
    this.#followers.end();
    await this.#store.close();
    await this.#verifier.close();
  }

  /** What another process has added meanwhile. */
  #look(): void {
    const meta = this.#store.meta()!;
    if (meta.seq !== this.read.position.seq) this.read.swap(this.#viewOf(meta));
    while (this.#told < meta.event_seq) {
      const events = this.#events(this.#told + 1, Math.min(meta.event_seq, this.#told + PAGE));
      this.#told += PAGE;
      this.#followers.publish(events);
    }
    this.#told = meta.event_seq;
  }

  /** Counted when it is asked for: agents are many. */
  #viewOf(meta: StoreMeta): CommittedView {
    const store = this.#store;
    let summary: CommittedView['summary'] | undefined;
    return {
      meta,
      get summary() {
        summary ??= summaryOf(store, meta.at);
        return summary;
      },
    };
  }

  #events(from: number, to: number): PublishedEvent[] {
    return [...this.read.eventTexts(from, to)].map((event) => {
      const closes = event.type === 'block_status';
      return { ...event, status: closes ? JSON.parse(event.json).data.status : null };
    });
  }
}

/** @throws {StoreError} when an archive lacks something, or the last entry is not the log's end. */
function assertWhole(store: Store, end: StoreMeta, path: string): void {
  const [problem] = store.archive?.problems() ?? [];
  if (problem !== undefined) throw new StoreError('ARCHIVE', problem);
  const last = store.entry(end.seq);
  const { digest, logDigest } = last ? splitStored(last) : { digest: '', logDigest: '' };
  if (digest === end.digest && logDigest === end.log_digest) return;
  const found = last ? 'has other digests than its end says' : 'is not there';
  const text = `entry ${end.seq}, the last, ${found}; folkmoot replay says more`;
  throw new StoreError('CORRUPT', `${path}: ${text}`);
}
