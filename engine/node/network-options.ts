/** What a network is opened with, and what applying a request gives. */
import type { Outcome } from '../core/index.js';
import type { Verifier } from '../crypto/index.js';
import { type Event, type Reason, refuse } from '../protocol/schema/index.js';
import { exitProcess } from '../store/exit.js';
import type { ArchiveOptions } from './archiver.js';
import type { Clock } from './clock.js';
import type { GenesisOptions } from './open-store.js';

/**
 * What a network is opened with: where it is kept, its parameters, who checks signatures.
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
 * const again = await Network.open(options); // goes on where it was left
 * console.log(again.read.position.seq, again.genesis.voting_period_ms); // 0 30000
 * await again.close();
 * await verifier.close();
 * ```
 */
export interface NetworkOptions extends ArchiveOptions {
  /**
   * A folder, made if it is missing; or `memory: true`, which dies with the process. With
   * `memory: 'state'` entries and events go into the digests and are not held either.
   */
  path?: string;
  memory?: boolean | 'state';
  /** `network_id` and whatever shall differ from the defaults. An existing folder keeps its own. */
  genesis: GenesisOptions;
  verifier: Verifier;
  /** Default: the system's clock. */
  clock?: Clock;
  /** Free space below which writes are refused, bytes. */
  freeSpaceBytes?: number;
  /**
   * The order that its requests come by, where others fix it: who drew `log`, drew the epoch of all
   * networks that come by it. Such a folder is opened in no other way.
   *
   * @internal
   */
  order?: { log: string; epoch: string };
  /** Called once when a commit failed or an invariant broke. Default: one line, exit code 13. */
  onFatal?: (error: Error) => void;
}

/** What `apply` gives at once: applied in memory, durable later. */
export interface Applied {
  outcome: Outcome;
  /** What it and the deadlines before it caused. Not to be published before `durable`. */
  events: readonly Event[];
  durable: Promise<void>;
}

/** A refusal that is the network's own: it takes nothing now. */
export function no(reason: Reason, why: string): Outcome {
  return { result: 'refused', refusal: refuse(reason, why) };
}

/** The default of `onFatal`: restart is the recovery. */
export function endProcess(error: Error): void {
  process.stderr.write(`folkmoot: the network stopped: ${error.message}; restart to recover\n`);
  exitProcess(13);
}
