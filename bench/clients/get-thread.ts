/**
 * A thread that requests one path over raw sockets, one request at a time per socket, and counts
 * responses. The thread does not parse responses, because a parsing client would be slower than the
 * server.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface GetOrder {
  port: number;
  path: string;
  connections: number;
}

/** Responses so far, sent on each message from the parent. */
export type GetCount = { answered: number; atMs: number };

const { port, path, connections } = workerData as GetOrder;
const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
const OK = Buffer.from('HTTP/1.1 200 ');
let answered = 0;

for (let opened = 0; opened < connections; opened += 1) open();

parentPort?.on('message', () => {
  parentPort?.postMessage({ answered, atMs: performance.now() } satisfies GetCount);
});

function open(): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  /** Response size including the head. On an idle network, all responses have equal sizes. */
  let size = 0;
  let received = 0;
  socket.on('connect', () => socket.write(request));
  socket.on('error', (error) => {
    throw error;
  });
  socket.on('data', (chunk) => {
    if (received === 0 && !chunk.subarray(0, 13).equals(OK)) {
      throw new Error(`expected 200, got ${chunk.subarray(0, 64).toString()}`);
    }
    if (size === 0) size = sizeOf(chunk);
    received += chunk.length;
    if (received < size) return;
    received -= size;
    answered += 1;
    socket.write(request);
  });
}

function sizeOf(chunk: Buffer): number {
  const head = chunk.indexOf('\r\n\r\n');
  const length = /content-length: *(\d+)/i.exec(chunk.subarray(0, head).toString());
  if (head < 0 || !length) throw new Error('no Content-Length in the first response');
  return head + 4 + Number(length[1]);
}
