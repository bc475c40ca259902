/**
 * The records that a front and the engine's process exchange, and the texts in them. All records of
 * one turn of the event loop leave in one write. Both processes are the same program, so records
 * carry no version.
 */
import type { Duplex } from 'node:stream';
import type { Refusal } from '../../engine/protocol/schema/reason.js';
import type { RequestHead } from '../transport/transport.js';

/** The file descriptor of a front by which it speaks to the process that started it. */
export const CHANNEL = 3;

/** What a record is about: its `id` is that of a request or WebSocket, its `value` a number. */
const kinds = [
  // From a front: a request whole, with a signature that holds or not looked at; or its head, what
  // arrives of its body, and that body.
  'held',
  'whole',
  'begin',
  'took',
  'body',
  'unread',
  'upgrade',
  'late',
  'release',
  // From a front, of a WebSocket: what it received, what has left.
  'message',
  'binary',
  'pinged',
  'ponged',
  'left',
  'closed',
  // From a front about itself.
  'listening',
  'deaf',
  'usage',
  // From the engine's process: about requests.
  'answer',
  'upgraded',
  // And for WebSockets, with what several are sent.
  'shared',
  'text',
  'bytes',
  'ping',
  'close',
  // And for a front itself.
  'settings',
  'stop',
] as const;
type RecordKind = (typeof kinds)[number];

/** One record; `bytes` may share memory with its neighbours, and is not changed. */
export interface FrontRecord {
  kind: RecordKind;
  id: number;
  value: number;
  text: string;
  bytes: Uint8Array;
}

/** Length of what follows, kind, id, value, length of the text; then the text, then the bytes. */
const HEAD = 21;
const numbers = new Map(kinds.map((kind, number) => [kind, number]));
const BUFFER_BYTES = 64 * 1024;
const nothing = new Uint8Array();

/** Records on their way out: those of a turn leave together. */
export class Outgoing {
  readonly #stream: Duplex;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;
  #planned = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** `bytes` as text is its UTF-8. They must not be changed afterwards. */
  send(
    kind: RecordKind,
    id: number,
    { value = 0, text = '', bytes = nothing }: Partial<Body> = {},
  ): void {
    // Every UTF-16 unit takes three bytes at most.
    const most = HEAD + 3 * text.length + (typeof bytes === 'string' ? 3 : 1) * bytes.length;
    const apart = typeof bytes !== 'string' && most > BUFFER_BYTES;
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
    const length = end - start - 4 + (apart ? bytes.length : 0);
    buffer.writeUInt32LE(length, start);
    buffer[start + 4] = numbers.get(kind)!;
    buffer.writeUInt32LE(id, start + 5);
    buffer.writeDoubleLE(value, start + 9);
    buffer.writeUInt32LE(textBytes, start + 17);
    this.#used = end;
    if (apart) {
      this.flush();
      this.#stream.write(bytes);
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
    this.#stream.write(this.#buffer.subarray(0, this.#used));
    // What was not taken at once is read later: then the memory is no longer ours.
    const lent = this.#stream.writableLength > 0;
    if (lent || this.#used > BUFFER_BYTES) this.#buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
    this.#used = 0;
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return;
    this.flush();
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(bytes);
  }
}

interface Body {
  value: number;
  text: string;
  bytes: Uint8Array | string;
}

/** Calls back with each record that arrives, in order, and after those that came together. */
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

/** How many are remembered over there: those of one commit, and a little more. */
const REMEMBERED = 64;
/** Larger ones go to each by themselves: they would fill a front's memory. */
const MOST_BYTES = 16 * 1024;

export class SharedBytes {
  readonly #out: Outgoing;
  readonly #numbers = new Map<Uint8Array, number>();
  readonly #payloads: Uint8Array[] = [];
  #next = 0;

  constructor(out: Outgoing) {
    this.#out = out;
  }

  /** Its number, beginning with 1; 0 where it has none. */
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
    this.#out.send('shared', slot, { bytes });
    return slot + 1;
  }
}

/** No part of a head that was parsed has a line end in it; one that has is written as JSON. */
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
