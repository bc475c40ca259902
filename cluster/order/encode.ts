/**
 * A batch as bytes: the length of its head in four bytes, big-endian; the head as JSON; then the
 * bodies and files, whose lengths the head has.
 */
import {
  type CommandKind,
  carriage,
  limits,
  type SignedRequest,
  type Static,
  Type,
  validator,
} from '../../engine/internal.js';
import { type Batch, Drawn, type Input, Instant, NodeName, OrderError, Witness } from './order.js';

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

const problemOf = validator(Head);

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
export function bytesOf({ request }: Pick<Input, 'request'>): number {
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
  const head = jsonIn(json);
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
export function jsonIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
