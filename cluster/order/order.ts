/**
 * The order of a network that several nodes keep: batches of requests, one after the other, the
 * same for all. Whoever keeps it makes a batch durable before anybody sees it.
 */
import { Genesis, type SignedRequest, type Static, Type } from '../../engine/internal.js';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, until the end of the year 9999. */
export const Instant = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });
/** What a process draws for itself. */
export const Drawn = Type.String({ minLength: 1, maxLength: 64 });
export const NodeName = Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' });
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Address = Type.String({ maxLength: 2_048 });

/** What the network was begun with: once for all its nodes. */
export const Founding = Type.Object({
  /** Names this order: drawn when it was begun. */
  log: Drawn,
  /** The epoch of event numbers, drawn then as well. */
  epoch: Drawn,
  /** When that was: the time of entry 0. */
  at: Instant,
  genesis: Genesis,
});
export type Founding = Static<typeof Founding>;

/** A place in the order. */
export const Position = Type.Object({
  /** Batches from 1, without gaps; 0 before the first. */
  version: count,
  /** Where etcd keeps the batch; ascends with `version`. */
  revision: count,
});
export type Position = Static<typeof Position>;

/** A request that a node let in: its form was checked, and its signatures. */
export interface Input {
  request: SignedRequest;
  /** The address that it came from, as limits count it; empty where it came by no server. */
  spender: string;
  /** The transaction of a proposal, counted from 0, whose signature does not hold. */
  failedTransaction?: number;
}

/** The last entry of a node when it made a batch: all nodes have the same digest there. */
export const Witness = Type.Object({ seq: count, digest: Digest });
export type Witness = Static<typeof Witness>;

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

/** By what a batch is known, and its place. */
export interface Named extends Pick<Batch, 'node' | 'incarnation' | 'k'> {
  position: Position;
}

export interface OrderedBatch extends Batch {
  position: Position;
  /** Why its bytes are not a batch; it then has no inputs, and every node skips it. */
  unreadable?: string;
}

/** What a node says of itself, about once a second. */
export const Card = Type.Object({
  node: NodeName,
  incarnation: Drawn,
  /** When it began, and its clock now: the wall's. */
  began: Instant,
  wall: Instant,
  /** What it has applied and stored. */
  position: Position,
  seq: count,
  event_seq: count,
  /** Of entry `seq`. */
  digest: Digest,
  /** Where its clients find it; empty where that is not known. */
  url: Address,
  /** Where its peers find it; empty where it gives them nothing. */
  peer: Address,
  /** Of its program. */
  version: Type.String({ maxLength: 64 }),
});
export type Card = Static<typeof Card>;

/** A value among the cards that is not the card of that node. */
export interface BadCard {
  node: string;
  problem: string;
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
  /**
   * Whether the node that a batch names has appended it: other programs can write what looks like
   * a batch. True also where that is not kept any more.
   */
  isAppended(batch: Named): Promise<boolean>;
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
