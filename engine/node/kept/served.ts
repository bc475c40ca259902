/** What a server needs of a network, whether it goes on here or is only read. */
import type { Admitted } from '../../admit/index.js';
import type { Verified } from '../../admit/verify.js';
import type { Outcome } from '../../core/index.js';
import type { CommandKind, Refusal } from '../../protocol/schema/index.js';
import type { Network } from '../network.js';
import type { Applied } from '../network-options.js';

/**
 * A request that was let in elsewhere, or nobody waits for here any more, and what became of it:
 * what it costs its agent is counted here as well.
 *
 * @internal
 */
export interface Spent {
  kind: CommandKind;
  /** Hex, lower case. */
  publicKey: string;
  /** Hex. */
  signature: string;
  /** Of its body and its file. */
  bytes: number;
  /** The address that it came from, as limits count it; empty where nobody said. */
  spender: string;
  outcome: Outcome;
  /** How long ago it was done, in ms. */
  ageMs: number;
}

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
    | 'fireDeadlines'
    | 'votesUntilClose'
    | 'backlog'
    | 'stats'
    | 'durable'
    | 'onEvents'
  > {
  /** As {@link Network.precheck}; a promise where others may know more. */
  precheck(admitted: Admitted): Outcome | null | Promise<Outcome | null>;
  /**
   * As {@link Network.apply}; a promise where others fix the order. They count it for `spender`,
   * the address that it came from as limits count it.
   */
  apply(verified: Verified, spender?: string): Applied | Promise<Applied>;
  /**
   * Calls back with what is spent elsewhere; whoever is the first is told what was read so far.
   * Absent where all is asked here.
   *
   * @internal
   */
  onSpent?(listener: (spent: Spent) => void): void;
  /**
   * Resolves once all is durable here that any node of the network has told anybody so far, or with
   * why that is not known. Absent where nobody else tells anything.
   */
  readonly barrier?: () => Promise<Refusal | null>;
  /** For how long, in ms, it has not heard what others do; 0 as long as it does. Absent without. */
  readonly cutOffMs?: () => number;
  /** Why nothing can be written to it, and what to do instead; absent where it can. */
  readonly readOnly?: string;
}
