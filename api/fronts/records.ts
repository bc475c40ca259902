/**
 * Records exchanged between a front process and the engine's process. All records from one
 * event-loop turn are sent in one write. Both processes run the same program, so records carry no
 * version.
 */
import type { Duplex } from 'node:stream';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import type { RequestHead } from '../transport/transport.js';

/** File descriptor of the channel to the parent process. */
export const CHANNEL = 3;

/** Record kinds. `id` identifies a request or WebSocket; `value` is a number. */
const kinds = [
  // From a front, about a request: either complete, prepared or not, or in parts (head, received
  // bytes, body).
  'prepared',
  'whole',
  'begin',
  'took',
  'body',
  'unread',
  'upgrade',
  'late',
  'release',
  // From a front, about a WebSocket: messages, control frames, sent bytes.
  'message',
  'binary',
  'pinged',
  'ponged',
  'left',
  'missed',
  'closed',
  // From a front, about a connection, a response that its transport gave, and itself.
  'connected',
  'answered',
  'listening',
  'deaf',
  'usage',
  // From the engine's process, about requests.
  'answer',
  'upgraded',
  // From the engine's process, about WebSockets.
  'shared',
  'text',
  'bytes',
  'ping',
  'join',
  'leave',
  'publish',
  'close',
  // From the engine's process, to a front.
  'crowded',
  'settings',
  'stop',
] as const;
export type RecordKind = (typeof kinds)[number];

/** A record. `bytes` may share memory with other records and must not be modified. */
export interface FrontRecord {
  kind: RecordKind;
  id: number;
  value: number;
  text: string;
  bytes: Uint8Array;
}

/**
 * Size of a record's head: length of the remaining record, kind, id, value, text length. The text
 * and the bytes follow.
 */
const HEAD = 21;
const numbers = new Map(kinds.map((kind, number) => [kind, number]));
const BUFFER_BYTES = 64 * 1024;
/** Bytes that wait for the other process, above which the channel is cut. */
const MOST_WAITING_BYTES = 256 * 1024 * 1024;
const nothing = new Uint8Array();

/** Writes records, batched per event-loop turn. */
export class Outgoing {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #planned = false;

  constructor(private readonly stream: Duplex) {}

  /** Sends a record. A string in `bytes` is sent as UTF-8. Bytes must not change afterwards. */
  send(kind: RecordKind, id: number, body: Partial<RecordBody> = {}): void {
    const { value = 0, text = '', bytes = nothing, more = '' } = body;
    // A UTF-16 unit takes at most three bytes.
    const texts = 3 * (text.length + more.length);
    const most = HEAD + texts + (typeof bytes === 'string' ? 3 : 1) * bytes.length;
    const apart = typeof bytes !== 'string' && most > BUFFER_BYTES && more === '';
    this.#room(apart ? most - bytes.length : most);
    const start = this.#used;
    const buffer = this.#buffer;
    const textBytes = buffer.write(text, start + HEAD);
    let end = start + HEAD + textBytes;
    if (typeof bytes === 'string') end += buffer.write(bytes, end);
    else if (!apart) {
      buffer.set(bytes, end);
      end += bytes.length;
    }
    if (more !== '') end += buffer.write(more, end);
    const length = end - start - 4 + (apart ? bytes.length : 0);
    buffer.writeUInt32LE(length, start);
    buffer[start + 4] = numbers.get(kind)!;
    buffer.writeUInt32LE(id, start + 5);
    buffer.writeDoubleLE(value, start + 9);
    buffer.writeUInt32LE(textBytes, start + 17);
    this.#used = end;
    if (apart) {
      this.flush();
      this.stream.write(bytes);
    } else if (!this.#planned) {
      this.#planned = true;
      setImmediate(() => {
        this.#planned = false;
        this.flush();
      });
    }
  }

  flush(): void {
    if (this.#used === 0) return;
    this.stream.write(this.#buffer.subarray(0, this.#used));
    const waiting = this.stream.writableLength;
    // The other process hangs, or is much too slow.
    if (waiting > MOST_WAITING_BYTES) this.stream.destroy();
    // A pending write still reads the buffer, so the buffer cannot be reused.
    const lent = waiting > 0;
    if (lent || this.#used > BUFFER_BYTES) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    this.#used = 0;
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    this.flush();
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(bytes);
  }
}

interface RecordBody {
  value: number;
  text: string;
  bytes: Uint8Array | string;
  /** Text that follows the bytes. */
  more: string;
}

/** Calls `take` for each record in order, and `taken` after each chunk. */
export function receive(
  stream: Duplex,
  take: (record: FrontRecord) => void,
  taken: () => void = () => {},
): void {
  let parts: Buffer[] = [];
  let have = 0;
  let wanted = 4;
  stream.on('data', (chunk: Buffer) => {
    parts.push(chunk);
    have += chunk.length;
    if (have < wanted) return;
    const all = parts.length === 1 ? chunk : Buffer.concat(parts, have);
    let at = 0;
    for (;;) {
      const left = have - at;
      wanted = left < 4 ? 4 : 4 + all.readUInt32LE(at);
      if (left < wanted) break;
      take(recordAt(all, at, at + wanted));
      at += wanted;
    }
    have -= at;
    parts = have === 0 ? [] : [all.subarray(at)];
    taken();
  });
}

function recordAt(all: Buffer, start: number, end: number): FrontRecord {
  const text = start + HEAD;
  const bytes = text + all.readUInt32LE(start + 17);
  return {
    kind: kinds[all[start + 4]!]!,
    id: all.readUInt32LE(start + 5),
    value: all.readDoubleLE(start + 9),
    text: all.toString('utf8', text, bytes),
    bytes: all.subarray(bytes, end),
  };
}

/** Number of payloads that a front caches: those from one commit, with some margin. */
const REMEMBERED = 64;
/** Larger payloads are sent individually, to bound the front's memory. */
const MOST_BYTES = 16 * 1024;

/** Sends a shared payload to a front once. Later messages refer to the payload by number. */
export class SharedBytes {
  readonly #numbers = new Map<Uint8Array, number>();
  readonly #payloads: Uint8Array[] = [];
  #next = 0;

  constructor(private readonly out: Outgoing) {}

  /** Returns a payload's number, from 1, or 0 if the payload must be sent individually. */
  numberOf(bytes: Uint8Array): number {
    const known = this.#numbers.get(bytes);
    if (known !== undefined) return known;
    if (bytes.length > MOST_BYTES) return 0;
    const slot = this.#next;
    this.#next = (slot + 1) % REMEMBERED;
    const before = this.#payloads[slot];
    if (before) this.#numbers.delete(before);
    this.#payloads[slot] = bytes;
    this.#numbers.set(bytes, slot + 1);
    this.out.send('shared', slot, { bytes });
    return slot + 1;
  }
}

/**
 * Joins parts with line feeds, which no parsed head contains. Writes JSON if a part contains one.
 */
const joined = (parts: readonly string[]): string =>
  parts.some((part) => part.includes('\n')) ? `[${JSON.stringify(parts)}` : ` ${parts.join('\n')}`;

const partsOf = (text: string): string[] =>
  text[0] === '[' ? (JSON.parse(text.slice(1)) as string[]) : text.slice(1).split('\n');

export function encodeHead(head: Omit<RequestHead, 'address'>, address: string): string {
  const { method, target, fault, headers } = head;
  const parts = [method, target, address, fault === null ? '' : JSON.stringify(fault)];
  for (const [name, value] of headers) parts.push(name, value);
  return joined(parts);
}

export function decodeHead(text: string): RequestHead {
  const parts = partsOf(text);
  const [method = '', target = '', address = '', fault = ''] = parts;
  const headers = new Map<string, string>();
  for (let at = 4; at < parts.length; at += 2) headers.set(parts[at]!, parts[at + 1]!);
  const query = target.indexOf('?');
  return {
    method,
    target,
    path: query < 0 ? target : target.slice(0, query),
    headers,
    address,
    fault: fault === '' ? null : (JSON.parse(fault) as Refusal),
  };
}

export function encodeHeaders(headers: Readonly<Record<string, string>>): string {
  const parts: string[] = [];
  for (const name in headers) parts.push(name, headers[name]!);
  return joined(parts);
}

export function decodeHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  if (text === ' ') return headers;
  const parts = partsOf(text);
  for (let at = 0; at < parts.length; at += 2) headers[parts[at]!] = parts[at + 1]!;
  return headers;
}
