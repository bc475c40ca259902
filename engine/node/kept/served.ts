/** What a server needs of a network, whether it goes on here or is only read. */
import type { Network } from '../network.js';

/**
 * What a server needs of a network: one that goes on in this process, or one in a folder that is
 * only read.
 */
export interface ServedNetwork
  extends Pick<
    Network,
    | 'genesis'
    | 'durableOnDisk'
    | 'folder'
    | 'epoch'
    | 'verification'
    | 'read'
    | 'knows'
    | 'precheck'
    | 'apply'
    | 'fireDeadlines'
    | 'votesUntilClose'
    | 'backlog'
    | 'stats'
    | 'durable'
    | 'onEvents'
  > {
  /** Why nothing can be written to it, and what to do instead; absent where it can. */
  readonly readOnly?: string;
}
