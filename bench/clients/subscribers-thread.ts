/**
 * A thread of WebSocket subscribers over raw sockets. The thread counts events without parsing
 * them, because a parsing client would be slower than the server.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { countFrames, frameText } from './frames.js';

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
  const counter = countFrames(() => {
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
    for (const text of greeting) socket.write(frameText(text));
    if (greeting.length === 0) started();
    counter(head.subarray(end + 4));
    socket.on('data', counter);
  };
  socket.on('data', answered);
}
