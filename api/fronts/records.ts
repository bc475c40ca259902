/**
 * What a front and the engine's process say to each other: records, of which all of a turn of the
 * event loop leave in one write. Both are the same program, so there is no version in them.
 */
import type { Duplex } from 'node:stream';

/** The file descriptor of a front by which it speaks to the process that started it. */
export const CHANNEL = 3;

/** What a record is about: its `id` is that of a request or WebSocket, its `value` a number. */
export const kinds = [
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
export type RecordKind = (typeof kinds)[number];

/** One record; `bytes` may share memory with its neighbours, and is not changed. */
export interface Record {
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
  take: (record: Record) => void,
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

function recordAt(all: Buffer, start: number, end: number): Record {
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
