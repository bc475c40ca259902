/** Opens a new or existing network's store, and restores its engine. */
import { randomUUID } from 'node:crypto';
import { admitLogged } from '../admit/admit.js';
import { completeGenesis, type GenesisOptions, parseGenesis } from '../admit/genesis.js';
import { emptyReader } from '../core/changes.js';
import { Engine } from '../core/engine.js';
import type { Outcome } from '../core/state.js';
import type { Verifier } from '../crypto/verifier.js';
import { Digests, decodeEntry, splitStored } from '../protocol/log.js';
import type { CommandKind, ProposeCommand } from '../protocol/schema/command.js';
import type { Entry } from '../protocol/schema/entry.js';
import type { Event } from '../protocol/schema/event.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { SCHEMA_VERSION, tables } from '../protocol/schema/record.js';
import { jcs } from '../protocol/signing.js';
import { excerpt } from '../protocol/text.js';
import { prepareRule } from '../rules/sandbox.js';
import { type HostClock, hostClock } from '../store/host-clock.js';
import { openLmdbStore } from '../store/lmdb.js';
import { createMemoryStore } from '../store/memory.js';
import { storeError } from '../store/messages.js';
import { exitProcess } from '../store/process-end.js';
import type { Store, StoreMeta } from '../store/store.js';
import { createWriteBehind } from '../store/write-behind.js';
import { type ArchiveOptions, archiving } from './archiver.js';
import type { Clock } from './clock.js';
import { encodeStep } from './encode.js';
import { IndexWriter, toIndexItem } from './entry-index.js';
import { Overlay } from './views.js';

type OpenStoreOptions = Omit<NetworkOptions, 'verifier' | 'clock' | 'onFatal'>;

export interface OpenedStore {
  store: Store;
  genesis: Genesis;
  engine: Engine;
  overlay: Overlay;
  meta: StoreMeta;
}

export async function openStore(options: OpenStoreOptions, clock: Clock): Promise<OpenedStore> {
  const kept = archiving(storeOf(options), options);
  try {
    const stored = kept.meta();
    if (stored) assertOrder(stored, options);
    await prepareRule(stored ? readGenesis(kept) : options.genesis);
    const genesis = stored ? checkedGenesis(kept, options) : completeGenesis(options.genesis);
    const meta = stored ?? (await begin(kept, genesis, clock.now(), options.order));
    // Cluster nodes can fetch ordered entries again, but genesis must be on this disk.
    const store = options.order ? createWriteBehind(kept, options.host ?? hostClock) : kept;
    const overlay = new Overlay(store, (entry) => readProposal(store, genesis, entry));
    return { store, genesis, overlay, meta, engine: Engine.restore(genesis, overlay, meta) };
  } catch (error) {
    await kept.close();
    throw error;
  }
}

function storeOf(options: OpenStoreOptions): Store {
  const { path, memory, genesis, freeSpaceBytes, openDisk } = options;
  if (memory) return createMemoryStore({ history: memory !== 'state' });
  if (path === undefined) throw new TypeError('Network.open needs a path, or memory: true');
  if (openDisk) return openDisk(path);
  return openLmdbStore({
    path,
    tables,
    schemaVersion: SCHEMA_VERSION,
    networkId: genesis.network_id,
    ...(freeSpaceBytes === undefined ? {} : { freeSpaceBytes }),
  });
}

/** Returns the stored parameters. Refuses requested ones that differ from those at genesis. */
function checkedGenesis(store: Store, { genesis: wanted }: OpenStoreOptions): Genesis {
  const genesis = readGenesis(store);
  for (const [name, value] of Object.entries(wanted) as [keyof Genesis, unknown][]) {
    if (value === undefined || jcs(genesis[name] ?? null) === jcs(value)) continue;
    const found = formatParameter(genesis[name]);
    throw storeError('GENESIS_MISMATCH', { name, found, wanted: formatParameter(value) });
  }
  return genesis;
}

export const formatParameter = (value: unknown): string =>
  typeof value === 'object' ? excerpt(jcs(value)) : String(value);

/** Asserts that the folder has the same order: entries of another one would make nodes diverge. */
function assertOrder({ order }: StoreMeta, options: OpenStoreOptions): void {
  const { order: wanted, path = 'the store' } = options;
  if (order?.log === wanted?.log) return;
  if (!order) throw storeError('STANDALONE_FOLDER', { path, wanted: wanted!.log });
  if (!wanted) throw storeError('CLUSTER_FOLDER', { path, order: order.log });
  throw storeError('OTHER_CLUSTER_FOLDER', { path, order: order.log, wanted: wanted.log });
}

export function readGenesis(store: Store): Genesis {
  const stored = store.entry(0);
  if (!stored) throw storeError('ENTRY_MISSING', { seq: 0 });
  return parseGenesis(decodeEntry(splitStored(stored).bytes));
}

/** Commits entry 0 before any other entry. */
async function begin(
  store: Store,
  genesis: Genesis,
  at: number,
  order: OpenStoreOptions['order'],
): Promise<StoreMeta> {
  const entry: Entry = {
    seq: 0,
    at,
    kind: 'genesis',
    public_key: '',
    target: '',
    timestamp: '',
    signature: '',
    body: Buffer.from(jcs(genesis)),
  };
  const { step } = Engine.create(genesis, at, emptyReader);
  const { changes, results } = encodeStep(step);
  const digests = new Digests();
  const bytes = digests.advance(entry, results);
  const meta: StoreMeta = {
    schema_version: SCHEMA_VERSION,
    network_id: genesis.network_id,
    epoch: order?.epoch ?? randomUUID(),
    seq: 0,
    at,
    event_seq: 0,
    log_digest: digests.logDigest,
    digest: digests.digest,
    ...(order ? { order: { log: order.log, version: 0, revision: 0, time: at } } : {}),
  };
  const entries = [{ seq: 0, bytes }];
  const index = new IndexWriter(store, null).rows([toIndexItem(entry, step)]);
  await store.commit({ entries, events: [], changes, blobs: [], index, meta });
  return meta;
}

/** Returns the command of a logged proposal. @throws {StoreError} `CORRUPT` */
export function readProposal(store: Store, genesis: Genesis, seq: number): ProposeCommand {
  const stored = store.entry(seq);
  if (!stored) throw storeError('ENTRY_MISSING', { seq });
  const entry = decodeEntry(splitStored(stored).bytes);
  const admitted = admitLogged({ ...entry, kind: entry.kind as CommandKind }, genesis.network_id);
  if ('refusal' in admitted || admitted.command.kind !== 'propose') {
    throw storeError('NOT_A_PROPOSAL', { seq });
  }
  return admitted.command;
}

/**
 * Options for opening a network.
 *
 * @example
 * ```ts
 * import { createVerifier, Network, type NetworkOptions } from 'folkmoot';
 *
 * const verifier = createVerifier('inline');
 * const genesis = { network_id: 'demo', policy: 'majority' } as const;
 * const options: NetworkOptions = { path: 'kept', genesis, verifier };
 * const first = await Network.open(options);
 * await first.close();
 * const again = await Network.open(options); // continues
 * console.log(again.read.position.seq, again.genesis.voting_period_ms); // 0 30000
 * await again.close();
 * await verifier.close();
 * ```
 */
export interface NetworkOptions extends ArchiveOptions {
  /**
   * The network's folder, created if missing. With `memory: true`, the network exists only in
   * memory. With `memory: 'state'`, entries and events are digested but not kept.
   */
  path?: string;
  memory?: boolean | 'state';
  /** Network parameters, which must match those in an existing folder. */
  genesis: GenesisOptions;
  verifier: Verifier;
  /** Default: the system clock. */
  clock?: Clock;
  /** Free disk space in bytes below which writes are refused. */
  freeSpaceBytes?: number;
  /**
   * Identifies a cluster's order, which fixes the order of requests and the epoch of all of its
   * networks. The folder can then be opened only with this order.
   *
   * @internal
   */
  order?: { log: string; epoch: string };
  /** Clock and timers of the machine. Default: this machine. @internal */
  host?: HostClock;
  /** Opens the store in the folder. Default: LMDB. @internal */
  openDisk?: (path: string) => Store;
  /** Called once if a commit fails or an invariant breaks. Default: print a line, exit with 13. */
  onFatal?: (error: Error) => void;
}

/** Result of `apply`, whose effects are in memory but not yet durable. */
export interface Applied {
  outcome: Outcome;
  /** Events from the request and from deadlines before it. Do not publish before `durable`. */
  events: readonly Event[];
  durable: Promise<void>;
}

/** Default for `onFatal`. A restart recovers the network. */
export function endProcess(error: Error): void {
  process.stderr.write(`folkmoot: network failed: ${error.message}; restart to recover\n`);
  exitProcess(13);
}
