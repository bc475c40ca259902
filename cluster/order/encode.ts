/**
 * A batch as bytes: the length of its head in four bytes, big-endian; the head as JSON; then the
 * bodies and files, whose lengths the head has.
 */
import { type CommandKind, carriage, type SignedRequest } from '../../engine/internal.js';
import { type Batch, type Input, OrderError } from './order.js';

/** Of what is written here: who finds another number must not guess. */
const PROTOCOL = 1;
const LENGTH_BYTES = 4;

type Texts = Omit<SignedRequest, 'body' | 'file'>;

interface InputHead extends Texts {
  /** Bytes. */
  body: number;
  /** Bytes; absent without one. */
  file?: number;
  failedTransaction?: number;
  /** Absent where it is empty. */
  spender?: string;
}

interface Head extends Omit<Batch, 'inputs'> {
  protocol: number;
  inputs: InputHead[];
}

/** About how many bytes an input takes in a batch. */
export function bytesOf({ request }: Pick<Input, 'request'>): number {
  const { target, body, file } = request;
  return 512 + target.length + body.length + (file?.length ?? 0);
}

export function encodeBatch({ inputs, ...rest }: Batch): Buffer {
  const head: Head = { protocol: PROTOCOL, ...rest, inputs: inputs.map(headOf) };
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

/** @throws {OrderError} `FOREIGN` for what this program would not have written. */
export function decodeBatch(bytes: Uint8Array): Batch {
  try {
    return decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (cause) {
    if (cause instanceof OrderError) throw cause;
    const why = (cause as Error).message;
    throw new OrderError('FOREIGN', `the order holds what is no batch: ${why}`, { cause });
  }
}

function decode(bytes: Buffer): Batch {
  const textEnd = LENGTH_BYTES + bytes.readUInt32BE(0);
  if (textEnd > bytes.length) throw new RangeError('it is cut short');
  const head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, textEnd)) as Head;
  if (head.protocol !== PROTOCOL) {
    const what = `a batch of the order is written by protocol ${head.protocol}`;
    const expected = `expected ${PROTOCOL}: all nodes must run the same version`;
    throw new OrderError('FOREIGN', `${what}; ${expected}`);
  }
  const { node, incarnation, k, stamp, witness } = head;
  let at = textEnd;
  const take = (length: number) => {
    at += length;
    // A copy: what is kept of a request must not keep the whole batch.
    return new Uint8Array(bytes.subarray(at - length, at));
  };
  const inputs = head.inputs.map((input) => inputOf(input, take));
  if (at !== bytes.length) throw new RangeError(`it has ${bytes.length} bytes, expected ${at}`);
  return { node, incarnation, k, stamp, witness, inputs };
}

function inputOf(head: InputHead, take: (length: number) => Uint8Array): Input {
  const { kind, public_key, target, timestamp, signature, body, file } = head;
  const { failedTransaction, spender = '' } = head;
  if (!Object.hasOwn(carriage, kind)) throw new RangeError(`${kind} is no kind of request`);
  const texts = { kind: kind as CommandKind, public_key, target, timestamp, signature };
  const request: SignedRequest = { ...texts, body: take(body) };
  if (file !== undefined) request.file = take(file);
  return { request, spender, ...(failedTransaction === undefined ? {} : { failedTransaction }) };
}
