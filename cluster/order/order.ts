/**
 * The order of a network that several nodes keep: batches of requests, one after the other, the
 * same for all nodes. A batch is durable before any node sees it. Batches are encoded as canonical
 * JSON with a limit on their size.
 */
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { Genesis } from '../../engine/protocol/schema/genesis.js';
import { validator } from '../../engine/protocol/schema/validator.js';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Milliseconds since 1970, until the end of the year 9999. */
const Instant = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });
/** What a process draws for itself. */
const Drawn = Type.String({ minLength: 1, maxLength: 64 });
const NodeName = Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' });
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
const Witness = Type.Object({ seq: count, digest: Digest });
type Witness = Static<typeof Witness>;

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
export interface BatchId extends Pick<Batch, 'node' | 'incarnation' | 'k'> {
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
  isAppended(batch: BatchId): Promise<boolean>;
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

/*
 * What was appended here and has not come out of the order yet: whoever made a batch need not read
 * it again. The same bytes are the same batch, for they name the process that made it and count.
 */

/** One is under way at a time; more are kept where they come late. */
const MOST = 4;

export class AppendedParts {
  #all: { value: Buffer; batch: Batch }[] = [];

  /** A batch, and its value in the order. */
  add(value: Buffer, batch: Batch): void {
    this.#all = [...this.#all.slice(1 - MOST), { value, batch }];
  }

  /** The batch whose value came out of the order; undefined of one that was made elsewhere. */
  take(value: Buffer): Batch | undefined {
    const found = this.#all.find((one) => one.value.equals(value));
    if (found) this.#all = this.#all.filter((one) => one !== found);
    return found?.batch;
  }
}

/*
 * A batch as bytes: the length of its head in four bytes, big-endian; the head as JSON; then the
 * bodies and files, whose lengths the head has.
 */

/** Of what is written here: who finds another number must not guess. */
const PROTOCOL = 1;
const LENGTH_BYTES = 4;

const size = Type.Integer({ minimum: 0, maximum: 2 ** 31 });
/** As long as admission takes them. */
const text = Type.String({ maxLength: limits.bodyBytes });

const InputHead = Type.Object({
  kind: Type.Enum(Object.keys(carriage) as CommandKind[]),
  public_key: text,
  target: text,
  timestamp: text,
  signature: text,
  /** Bytes. */
  body: size,
  /** Bytes; absent without one. */
  file: Type.Optional(size),
  /** Of a proposal: the first transaction whose signature does not hold, -1 for none. */
  failedTransaction: Type.Optional(Type.Integer({ minimum: -1, maximum: 2 ** 31 })),
  /** Absent where it is empty. */
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

/** A batch that names another protocol: nodes of another version may read it. */
export class OtherProtocol extends OrderError {
  constructor(
    readonly by: Pick<Batch, 'node' | 'incarnation' | 'k'>,
    protocol: number,
  ) {
    const what = `a batch of the order is written by protocol ${protocol}`;
    super('FOREIGN', `${what}; expected ${PROTOCOL}: all nodes must run the same version`);
  }
}

/** Bytes that are not a batch: the same for every node, and so every node skips them. */
export class UnreadableBatch extends Error {
  override name = 'UnreadableBatch';
}

/** About how many bytes an input takes in a batch. */
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
 * @throws {UnreadableBatch}
 * @throws {OtherProtocol}
 */
export function decodeBatch(bytes: Uint8Array): Batch {
  return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
}

function decode(bytes: Buffer): Batch {
  const textEnd = LENGTH_BYTES + (bytes.length < LENGTH_BYTES ? 0 : bytes.readUInt32BE(0));
  if (textEnd > bytes.length) throw new UnreadableBatch(`it is cut off at ${bytes.length} bytes`);
  const head = headIn(bytes.toString('utf8', LENGTH_BYTES, textEnd));
  const { node, incarnation, k, stamp, witness } = head;
  let at = textEnd;
  const take = (length: number) => {
    at += length;
    // A copy: what is kept of a request must not keep the whole batch.
    return new Uint8Array(bytes.subarray(at - length, at));
  };
  const inputs = head.inputs.map((input) => inputOf(input, take));
  if (at !== bytes.length) {
    throw new UnreadableBatch(`it has ${bytes.length} bytes; expected ${at}`);
  }
  return { node, incarnation, k, stamp, witness, inputs };
}

function headIn(json: string): Head {
  const head = parseJsonOrUndefined(json);
  const { protocol, node, incarnation, k } = (head ?? {}) as Record<string, unknown>;
  if (Number.isSafeInteger(protocol) && protocol !== PROTOCOL) {
    const by = { node: String(node), incarnation: String(incarnation), k: Number(k) };
    throw new OtherProtocol(by, protocol as number);
  }
  const problem = problemOf(head);
  if (problem) throw new UnreadableBatch(`its head: ${problem.pointer} ${problem.message}`.trim());
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

/** Undefined where a text is not JSON. */
export function parseJsonOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
