/** A WebSocket by hand: RFC 6455 over a plain socket, as much as the protocol needs. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Socket } from 'node:net';

export type Message = Record<string, unknown> & { type: string };

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Opens `ws_url`; `onMessage` gets every message, `onClose` the close code. */
export function openWebSocket(
  url: string,
  handlers: { onMessage(message: Message): void; onClose(code: number): void },
): Promise<RawWebSocket> {
  const headers = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    'Sec-WebSocket-Version': '13',
  };
  return new Promise((resolve, reject) => {
    const asking = request(url.replace('ws:', 'http:'), { headers });
    asking.once('error', reject);
    asking.once('response', ({ statusCode }) => reject(new Error(`no upgrade: ${statusCode}`)));
    asking.once('upgrade', (_, socket: Socket, head) => {
      resolve(new RawWebSocket(socket, head, handlers));
    });
    asking.end();
  });
}

export class RawWebSocket {
  readonly #socket: Socket;
  readonly #onMessage: (message: Message) => void;
  #rest: Buffer = Buffer.alloc(0);
  #code = 1006;

  constructor(
    socket: Socket,
    head: Buffer,
    { onMessage, onClose }: { onMessage(message: Message): void; onClose(code: number): void },
  ) {
    this.#socket = socket;
    this.#onMessage = onMessage;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => {});
    socket.once('close', () => onClose(this.#code));
    this.#take(head);
  }

  send(message: object): void {
    this.#frame(TEXT, Buffer.from(JSON.stringify(message)));
  }

  close(): void {
    this.#frame(CLOSE, Buffer.from([1000 >> 8, 1000 & 255]));
  }

  /** A client masks what it sends. */
  #frame(opcode: number, payload: Buffer): void {
    const mask = randomBytes(4);
    const masked = payload.map((byte, index) => byte ^ mask[index % 4]!);
    const long = payload.length > 125;
    const head = Buffer.alloc(long ? 4 : 2);
    head[0] = 0x80 | opcode;
    head[1] = 0x80 | (long ? 126 : payload.length);
    if (long) head.writeUInt16BE(payload.length, 2);
    this.#socket.write(Buffer.concat([head, mask, masked]));
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const frame = frameIn(this.#rest);
      if (!frame) return;
      this.#rest = this.#rest.subarray(frame.end);
      this.#read(frame.opcode, frame.payload);
    }
  }

  #read(opcode: number, payload: Buffer): void {
    if (opcode === TEXT) this.#onMessage(JSON.parse(payload.toString()) as Message);
    if (opcode === PING) this.#frame(PONG, payload);
    if (opcode !== CLOSE) return;
    this.#code = payload.length < 2 ? 1005 : payload.readUInt16BE(0);
    this.#socket.end();
  }
}

/** The first whole frame; a server's frames are not masked, and each event is one. */
function frameIn(bytes: Buffer): { opcode: number; payload: Buffer; end: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return null;
  const sizes: Record<number, () => number> = {
    4: () => bytes.readUInt16BE(2),
    10: () => Number(bytes.readBigUInt64BE(2)),
  };
  const end = start + (sizes[start]?.() ?? short);
  if (bytes.length < end) return null;
  return { opcode: bytes[0]! & 0x0f, payload: bytes.subarray(start, end), end };
}
