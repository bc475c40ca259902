/**
 * A thread of WebSocket subscribers over raw sockets. The thread counts events without parsing
 * them, because a parsing client would be slower than the server.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface SubscribersOrder {
  port: number;
  path: string;
  /** First messages on each connection. The server replies to each with one message. */
  greetings: string[][];
}

/** Message from the parent: reply after this many more deliveries across all connections. */
export interface Expecting {
  deliveries: number;
}

const { port, path, greetings } = workerData as SubscribersOrder;
const SWITCHING = Buffer.from('HTTP/1.1 101');
const upgrade = [
  `GET ${path} HTTP/1.1`,
  `Host: 127.0.0.1:${port}`,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');
let ready = 0;
let missing = 0;

for (const greeting of greetings) open(greeting);

parentPort?.on('message', ({ deliveries }: Expecting) => {
  missing += deliveries;
  // The deliveries may arrive before this message.
  if (missing === 0) parentPort?.postMessage('delivered');
});

function open(greeting: readonly string[]): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let waiting = greeting.length;
  const started = () => {
    ready += 1;
    if (ready === greetings.length) parentPort?.postMessage('ready');
  };
  const counter = frames(() => {
    if (waiting > 0) {
      waiting -= 1;
      if (waiting === 0) started();
      return;
    }
    missing -= 1;
    if (missing === 0) parentPort?.postMessage('delivered');
  });
  socket.on('error', (error) => {
    throw error;
  });
  socket.on('connect', () => socket.write(upgrade));
  let head = Buffer.alloc(0);
  const answered = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    socket.off('data', answered);
    if (!head.subarray(0, 12).equals(SWITCHING)) {
      throw new Error(`expected an upgrade, got ${head.subarray(0, 64).toString()}`);
    }
    for (const text of greeting) say(socket, text);
    if (greeting.length === 0) started();
    counter(head.subarray(end + 4));
    socket.on('data', counter);
  };
  socket.on('data', answered);
}

const TEXT = 0x81;
const MASKED = 0x80;
/**
 * The second byte contains lengths up to 125. The values 126 and 127 mean that two or eight length
 * bytes follow.
 */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

/** Sends a short text as one masked frame. A zero mask leaves the text unchanged. */
function say(socket: Socket, text: string): void {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt8(TEXT, 0);
  head.writeUInt8(MASKED | IN_TWO_BYTES, 1);
  head.writeUInt16BE(payload.length, 2);
  socket.write(Buffer.concat([head, payload]));
}

/** Calls back for each complete text frame, then drops the frame. */
export function frames(onText: () => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const size = frameSize(data, at);
      if (size === null || at + size > data.length) break;
      if (data[at] === TEXT) onText();
      at += size;
    }
    rest = data.subarray(at);
  };
}

/** Size of the head and payload; null if the head is incomplete. */
function frameSize(data: Buffer, at: number): number | null {
  if (data.length < at + 2) return null;
  const short = data[at + 1]!;
  if (short < IN_TWO_BYTES) return 2 + short;
  if (short < IN_EIGHT_BYTES) return data.length < at + 4 ? null : 4 + data.readUInt16BE(at + 2);
  return data.length < at + 10 ? null : 10 + Number(data.readBigUInt64BE(at + 2));
}
