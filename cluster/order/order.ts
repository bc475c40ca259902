/**
 * The order of a network that several nodes keep: batches of requests, one after the other, the
 * same for all. Whoever keeps it makes a batch durable before anybody sees it.
 */
import type { Genesis, SignedRequest } from '../../engine/internal.js';

/** What the network was begun with: once for all its nodes. */
export interface Founding {
  /** Names this order: drawn when it was begun. */
  log: string;
  /** The epoch of event numbers, drawn then as well. */
  epoch: string;
  /** When that was: milliseconds since 1970, the time of entry 0. */
  at: number;
  genesis: Genesis;
}

/** A place in the order. */
export interface Position {
  /** Batches from 1, without gaps; 0 before the first. */
  version: number;
  /** Where whoever keeps it finds the batch; ascends with `version`. */
  revision: number;
}

/** A request that a node let in: its form was checked, and its signatures. */
export interface Input {
  request: SignedRequest;
  /** The address that it came from, as limits count it; empty where it came by no server. */
  spender: string;
  /** The transaction of a proposal, counted from 0, whose signature does not hold. */
  failedTransaction?: number;
}

/** Where a node stood when it made a batch: whoever was there must have had the same digest. */
export interface Witness {
  seq: number;
  /** Hex. */
  digest: string;
}

/** What a node appends at a time: often some requests, or none, where only time is to go on. */
export interface Batch {
  node: string;
  /** Drawn by each process that takes a node's name. */
  incarnation: string;
  /** Counts the batches of an incarnation, from 1. */
  k: number;
  /** The network's time by this node, milliseconds since 1970: it never goes back for others. */
  stamp: number;
  witness: Witness;
  inputs: readonly Input[];
}

export interface OrderedBatch extends Batch {
  position: Position;
}

/** What a node says of itself, about once a second. */
export interface Card {
  node: string;
  incarnation: string;
  /** When it began, and its clock now: the wall's, milliseconds since 1970. */
  began: number;
  wall: number;
  /** What it has applied and stored. */
  position: Position;
  seq: number;
  event_seq: number;
  /** Hex; of entry `seq`. */
  digest: string;
  /** Where its clients find it; empty where nobody said. */
  url: string;
  /** Where its peers find it; empty where it gives them nothing. */
  peer: string;
  /** Of its program. */
  version: string;
}

/** How whoever keeps the order is. */
export interface OrderHealth {
  members: number;
  /** Those of them that answer. */
  answering: number;
  /** Whether one of them leads: else nothing can be ordered. */
  leader: boolean;
}

/**
 * - `UNAVAILABLE`: not to be had now. Of an append: it may have been done, the same again tells
 * - `FENCED`: another process has taken this node's name
 * - `TRIMMED`: what is asked for is not kept any more
 * - `FULL`: whoever keeps it has no room
 * - `FOREIGN`: what stands there is not of this program, or not of this network
 */
export type OrderErrorCode = 'UNAVAILABLE' | 'FENCED' | 'TRIMMED' | 'FULL' | 'FOREIGN';

/** Why an order does not do what was asked. */
export class OrderError extends Error {
  override name = 'OrderError';

  constructor(
    readonly code: OrderErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What every call may throw: {@link OrderError}. */
export interface Order {
  /** What the network was begun with; that is `mine` where nobody has begun it. */
  found(mine: Founding): Promise<Founding>;
  /** Takes a node's name: nothing that another incarnation appends is taken any more. */
  join(node: string, incarnation: string): Promise<void>;
  /** The end, as a quorum knows it. */
  head(): Promise<Position>;
  /**
   * Resolves when the batch stands in the order for good; it does so once, however often the same
   * one is appended. One at a time for each incarnation, `k` without gaps.
   */
  append(batch: Batch): Promise<void>;
  /**
   * Gives what follows `from`, in order, and goes on with what comes until `signal`; rejects when
   * it cannot go on. It awaits `take`. Who takes must bear repeats and gaps.
   */
  follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Batches up to and with this one need not be kept. */
  trim(upTo: Position): Promise<void>;
  /**
   * Tells the others, unless another incarnation has the name; resolves with the end of the order,
   * as a quorum knows it.
   */
  announce(card: Card): Promise<Position>;
  /** Asks all who keep it. */
  health(): Promise<OrderHealth>;
  /** The last card of every node that was not forgotten. */
  cards(): Promise<Card[]>;
  /** Calls back with each card as it comes, until `signal`; rejects when it cannot go on. */
  watchCards(tell: (card: Card) => void, signal: AbortSignal): Promise<void>;
}
