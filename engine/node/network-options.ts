/** What a network is opened with, and what applying a request gives. */

import type { Outcome } from '../core/index.js';
import type { Verifier } from '../crypto/index.js';
import type { Event } from '../protocol/schema/index.js';
import type { ArchiveOptions } from './archiver.js';
import type { Clock } from './clock.js';
import type { GenesisOptions } from './open-store.js';

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
  /** Called once when a commit failed or an invariant broke. Default: one line, exit code 13. */
  onFatal?: (error: Error) => void;
}

/** What `apply` gives at once: applied in memory, durable later. */
export interface Applied {
  outcome: Outcome;
  /** What it and the deadlines before it caused. Not to be told elsewhere before `durable`. */
  events: readonly Event[];
  durable: Promise<void>;
}

/** The default of `onFatal`: restart is the recovery. */
export function endProcess(error: Error): void {
  process.stderr.write(`folkmoot: the network stopped: ${error.message}; restart to recover\n`);
  process.exit(13);
}
