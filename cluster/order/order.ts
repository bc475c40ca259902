/**
 * The order in a network with several nodes is a sequence of request batches that is identical on
 * all nodes. A batch is durable before any node reads it. A batch is encoded as a JSON head with a
 * size limit, followed by the bodies and files.
 */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import {
  Failure,
  indexGroups,
  type KeyIn,
  type MessageIn,
  type MessageTable,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import { digestPattern, namePattern } from '../../engine/protocol/patterns.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { Genesis } from '../../engine/protocol/schema/genesis.js';
import { validator } from '../../engine/protocol/schema/validator.js';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, until the end of the year 9999. */
const Instant = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });
/** A random id for a process or an order. */
const Drawn = Type.String({ minLength: 1, maxLength: 64 });
const NodeName = Type.String({ pattern: namePattern });
const Digest = Type.String({ pattern: digestPattern });
const Address = Type.String({ maxLength: 2_048 });

/** Founding record, written once and shared by all nodes in the network. */
export const Founding = Type.Object({
  log: Drawn,
  epoch: Drawn,
  /** Time of entry 0. */
  at: Instant,
  genesis: Genesis,
});
export type Founding = Static<typeof Founding>;

export const Position = Type.Object({
  /** Batch number, from 1 without gaps; 0 is before the first batch. */
  version: count,
  /** The batch's etcd revision. Ascends with `version`. */
  revision: count,
});
export type Position = Static<typeof Position>;

/** A request that a node admitted after checking its form and signatures. */
export interface Input {
  request: SignedRequest;
  /** The client address to which rate limits are charged; empty for a request without a server. */
  spender: string;
  /** For a proposal: index of the first transaction whose signature is invalid, or -1. */
  failedTransaction?: number;
}

/** A node's last entry when it built a batch. All nodes must have the same digest at that entry. */
const Witness = Type.Object({ seq: count, digest: Digest });
type Witness = Static<typeof Witness>;

/** Requests that a node appends together; empty if the batch only advances time. */
export interface Batch {
  node: string;
  /** Random id, new in each process that takes a node's name. */
  incarnation: string;
  /** Number of the batch within its incarnation, from 1. */
  k: number;
  /**
   * Network time at this node, in milliseconds since 1970. Earlier stamps do not move time back.
   */
  stamp: number;
  witness: Witness;
  inputs: readonly Input[];
}

export interface BatchId extends Pick<Batch, 'node' | 'incarnation' | 'k'> {
  position: Position;
}

export interface OrderedBatch extends Batch {
  position: Position;
  /** Reason why the bytes are not a batch. Every node skips such a batch, which has no inputs. */
  unreadable?: string;
}

/** A node's status record, announced about once per second. */
export const Card = Type.Object({
  node: NodeName,
  incarnation: Drawn,
  /** Start time and current time, by the wall clock. */
  began: Instant,
  wall: Instant,
  /** Last position applied and stored. */
  position: Position,
  seq: count,
  event_seq: count,
  /** Digest of entry `seq`. */
  digest: Digest,
  /** URL for clients; empty if unknown. */
  url: Address,
  /** URL for peers; empty if the node does not serve snapshots. */
  peer: Address,
  version: Type.String({ maxLength: 64 }),
});
export type Card = Static<typeof Card>;

/** A value under a card key that is not that node's card. */
export interface BadCard {
  node: string;
  problem: string;
}

export interface OrderHealth {
  members: number;
  answering: number;
  /** True if a member is the leader. Without a leader, nothing can be ordered. */
  leader: boolean;
}

/**
 * - `UNAVAILABLE`: no answer now. A batch may have been appended; append the batch again to find
 *   out.
 * - `FENCED`: a different process has taken this node's name, or the name was forgotten
 * - `TRIMMED`: the batches were deleted
 * - `FULL`: the order's store is out of space
 * - `FOREIGN`: the data belongs to a different program, version or network
 */
export type OrderErrorCode = 'UNAVAILABLE' | 'FENCED' | 'TRIMMED' | 'FULL' | 'FOREIGN';

/** Texts for {@link OrderError}; `code` is the category. */
const orderMessages = {
  UNAVAILABLE: {
    ETCD_UNAVAILABLE: '{message}',
    PARTS_DELETED: 'parts of the batch were deleted before it was appended; append it again',
    KEY_OVERWRITTEN:
      'etcd key overwritten by another program: {key}; keep other programs out of this prefix',
  },
  FULL: {
    ETCD_FULL: '{message}',
  },
  TRIMMED: {
    ETCD_TRIMMED: '{message}',
    TOO_FAR_BEHIND: `this node is too far behind the order: {message};
      start all nodes with --peer-listen, or start this one on a copy of a stopped node`,
  },
  FOREIGN: {
    ETCD_FOREIGN: '{message}',
    ORDER_DELETED: 'order deleted from etcd by another program: {key}; restore etcd from a backup',
    FOUNDING_UNREADABLE: `unreadable founding record in etcd at {key}: {problem};
      start again while another node runs, which restores it, or restore etcd from a backup`,
    OTHER_PROTOCOL: `batch of the order has protocol {protocol} (expected {expected});
      run the same version on all nodes`,
    /** Every node sees the same bytes and skips them. */
    BATCH_UNREADABLE: '{reason}',
    REQUEST_UNVERIFIED:
      'unverified request in the order: {request}, {reason}; run the same version on all nodes',
  },
  FENCED: {
    NODE_NAME_TAKEN:
      'node name taken by another process, or forgotten: {node}; give each node its own --node',
  },
} as const satisfies Partial<Record<OrderErrorCode, MessageTable>>;

const orderRows = indexGroups(orderMessages);

export type OrderProblem = KeyIn<typeof orderMessages>;

/** Failure of an order. Callers decide by `code`; `problem` is the row in the message table. */
export class OrderError<Problem extends OrderProblem = OrderProblem> extends Failure<Problem> {
  override name = 'OrderError';
  readonly code: OrderErrorCode;
  /** Names the batch with `OTHER_PROTOCOL`. */
  readonly by: Pick<Batch, 'node' | 'incarnation' | 'k'> | undefined;

  constructor(
    problem: Problem,
    values: MessageValues<MessageIn<typeof orderMessages, Problem>>,
    options: ErrorOptions & { by?: Pick<Batch, 'node' | 'incarnation' | 'k'> } = {},
  ) {
    const { category, message } = orderRows[problem];
    super('server', problem, withFix(message, values), options);
    this.code = category;
    this.by = options.by;
  }
}

/** An order of batches. Each method may reject with {@link OrderError}. */
export interface Order {
  /** Returns the founding record. If none exists, writes `mine`. */
  found(mine: Founding): Promise<Founding>;
  /** Takes a node's name. Batches from other incarnations are then no longer appended. */
  join(node: string, incarnation: string): Promise<void>;
  /** Returns the end of the order, read from a quorum. */
  head(): Promise<Position>;
  /**
   * Appends a batch. Resolves once the batch is durable in the order. Appending the same batch
   * again has no effect. An incarnation appends one batch at a time, with `k` ascending without
   * gaps.
   */
  append(batch: Batch): Promise<void>;
  /**
   * Passes the batches after `from` to `take`, in order, until `signal` aborts. Rejects when the
   * stream breaks. Awaits `take`, which must tolerate repeats and gaps.
   */
  follow(
    from: Position,
    take: (batch: OrderedBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Returns true if the node that a batch names has appended it, and false for a batch that a
   * different program has forged. Returns true too if the record cannot be read, for example
   * because it was deleted.
   */
  isAppended(batch: BatchId): Promise<boolean>;
  /** Allows the store to delete batches up to and including this position. */
  trim(upTo: Position): Promise<void>;
  /**
   * Publishes a node's card, unless a different incarnation has the node's name. Resolves with the
   * end of the order, read from a quorum.
   */
  announce(card: Card): Promise<Position>;
  health(): Promise<OrderHealth>;
  /** Returns the last card of each node that was not forgotten. */
  cards(): Promise<Card[]>;
  /** Calls back with each new card until `signal` aborts. Rejects when the stream breaks. */
  watchCards(tell: (card: Card) => void, signal: AbortSignal): Promise<void>;
}

/*
 * Batches that this process appended and that have not come back from the order. A node need not
 * decode its own batches. Equal bytes mean the same batch, since the bytes contain the incarnation
 * and the batch number.
 */

/**
 * Number of batches kept. One append runs at a time; a few more are kept in case their events are
 * late.
 */
const MOST = 4;

export class AppendedParts {
  #all: { value: Buffer; batch: Batch }[] = [];

  add(value: Buffer, batch: Batch): void {
    this.#all = [...this.#all.slice(1 - MOST), { value, batch }];
  }

  /** Returns the batch with this value, or undefined if a different process built the batch. */
  take(value: Buffer): Batch | undefined {
    const found = this.#all.find((one) => one.value.equals(value));
    if (found) this.#all = this.#all.filter((one) => one !== found);
    return found?.batch;
  }
}

/*
 * Binary form of a batch: length of the head (4 bytes, big-endian), the head as JSON, then bodies
 * and files, whose lengths the head contains.
 */

/** Format version. A decoder rejects other versions. */
const PROTOCOL = 1;
const LENGTH_BYTES = 4;

const size = Type.Integer({ minimum: 0, maximum: 2 ** 31 });
/** Same limit as at admission. */
const text = Type.String({ maxLength: limits.bodyBytes });

const InputHead = Type.Object({
  kind: Type.Enum(Object.keys(carriage) as CommandKind[]),
  public_key: text,
  target: text,
  timestamp: text,
  signature: text,
  body: size,
  /** Absent without a file. */
  file: Type.Optional(size),
  /** For a proposal: index of the first transaction whose signature is invalid, or -1. */
  failedTransaction: Type.Optional(Type.Integer({ minimum: -1, maximum: 2 ** 31 })),
  /** Absent if empty. */
  spender: Type.Optional(text),
});
type InputHead = Static<typeof InputHead>;

const Head = Type.Object({
  protocol: Type.Literal(PROTOCOL),
  node: NodeName,
  incarnation: Drawn,
  k: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  stamp: Instant,
  witness: Witness,
  inputs: Type.Array(InputHead, { maxItems: 4_096 }),
});
type Head = Static<typeof Head>;

const problemOf = validator('order_head', Head);

/** Creates the error for bytes that are not a batch. */
export const unreadableBatch = (reason: string) => new OrderError('BATCH_UNREADABLE', { reason });

/** Approximate size of an input in a batch. */
export function countBytes({ request }: Pick<Input, 'request'>): number {
  const { target, body, file } = request;
  return 512 + target.length + body.length + (file?.length ?? 0);
}

export function encodeBatch({ inputs, ...rest }: Batch): Buffer {
  const { node, incarnation, k, stamp, witness } = rest;
  const made = { node, incarnation, k, stamp, witness };
  const head: Head = { protocol: PROTOCOL, ...made, inputs: inputs.map(headOf) };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const parts = inputs.flatMap(({ request: { body, file } }) => (file ? [body, file] : [body]));
  return Buffer.concat([length, text, ...parts]);
}

function headOf({ request, spender, failedTransaction }: Input): InputHead {
  const { kind, public_key, target, timestamp, signature, body, file } = request;
  return {
    ...{ kind, public_key, target, timestamp, signature },
    body: body.length,
    ...(file ? { file: file.length } : {}),
    ...(failedTransaction === undefined ? {} : { failedTransaction }),
    ...(spender === '' ? {} : { spender }),
  };
}

/**
 * @throws {OrderError} `BATCH_UNREADABLE`, or `OTHER_PROTOCOL` for a batch that a node with a
 * different version may be able to read.
 */
export function decodeBatch(bytes: Uint8Array): Batch {
  return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}

function decode(bytes: Buffer): Batch {
  const textEnd = LENGTH_BYTES + (bytes.length < LENGTH_BYTES ? 0 : bytes.readUInt32BE(0));
  if (textEnd > bytes.length) {
    throw unreadableBatch(`truncated batch: ${bytes.length} of at least ${textEnd} bytes`);
  }
  const head = headIn(bytes.toString('utf8', LENGTH_BYTES, textEnd));
  const { node, incarnation, k, stamp, witness } = head;
  let at = textEnd;
  const take = (length: number) => {
    at += length;
    // Copies the bytes, so that a request does not keep the whole batch's buffer alive.
    return new Uint8Array(bytes.subarray(at - length, at));
  };
  const inputs = head.inputs.map((input) => inputOf(input, take));
  if (at !== bytes.length) {
    throw unreadableBatch(`invalid batch length: ${bytes.length} bytes (expected ${at})`);
  }
  return { node, incarnation, k, stamp, witness, inputs };
}

function headIn(json: string): Head {
  const head = parseJsonOrUndefined(json);
  const { protocol, node, incarnation, k } = (head ?? {}) as Record<string, unknown>;
  if (Number.isSafeInteger(protocol) && protocol !== PROTOCOL) {
    const by = { node: String(node), incarnation: String(incarnation), k: Number(k) };
    throw new OrderError(
      'OTHER_PROTOCOL',
      { protocol: Number(protocol), expected: PROTOCOL },
      { by },
    );
  }
  const problem = problemOf(head);
  if (problem) {
    const what = `${problem.pointer} ${problem.message}`.trim();
    throw unreadableBatch(`invalid batch head: ${what}`);
  }
  return head as Head;
}

function inputOf(head: InputHead, take: (length: number) => Uint8Array): Input {
  const { kind, public_key, target, timestamp, signature, body, file } = head;
  const { failedTransaction, spender = '' } = head;
  const texts = { kind, public_key, target, timestamp, signature };
  const request: SignedRequest = { ...texts, body: take(body) };
  if (file !== undefined) request.file = take(file);
  return { request, spender, ...(failedTransaction === undefined ? {} : { failedTransaction }) };
}

/** Parses JSON. Returns undefined if the text is not JSON. */
export function parseJsonOrUndefined(json: string): unknown {
  try {
    return parseUnique(json);
  } catch {
    return undefined;
  }
}
