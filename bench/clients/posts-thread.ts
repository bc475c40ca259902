/**
 * A thread that posts over raw sockets, one request at a time per socket, in rounds. A round starts
 * once all responses to the previous round have arrived. Every response must be a success and is
 * not parsed further, because a parsing client would be slower than the server.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface PostsOrder {
  port: number;
  connections: number;
  /** Complete requests, head and body. */
  rounds: Uint8Array[][];
}

/**
 * Message from the parent: post the rounds from `from` up to, but not including, `to`. The reply
 * contains the duration and the number of requests.
 */
export type Posting = { from: number; to: number };
export type PostTimes = { milliseconds: number; requests: number };

const { port, connections, rounds } = workerData as PostsOrder;
const SUCCESS = '"success":true';
const idle: Socket[] = [];
let requests: Uint8Array[] = [];
let sent = 0;
let answered = 0;
let roundIsOver = () => {};

parentPort?.on('message', async ({ from, to }: Posting) => {
  const begin = performance.now();
  const posted = rounds.slice(from, to);
  for (const round of posted) await post(round);
  const milliseconds = performance.now() - begin;
  const requests = posted.reduce((sum, { length }) => sum + length, 0);
  parentPort?.postMessage({ milliseconds, requests } satisfies PostTimes);
});

for (let opened = 0; opened < connections; opened += 1) open();

function post(round: Uint8Array[]): Promise<void> {
  requests = round;
  sent = 0;
  answered = 0;
  return new Promise((resolve) => {
    roundIsOver = resolve;
    for (const socket of idle.splice(0)) sendNext(socket);
  });
}

function sendNext(socket: Socket): void {
  const request = requests[sent];
  if (!request) return void idle.push(socket);
  sent += 1;
  socket.write(request);
}

function open(): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = '';
  socket.on('connect', () => {
    idle.push(socket);
    if (idle.length === connections) parentPort?.postMessage('ready');
  });
  socket.on('error', (error) => {
    throw error;
  });
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    if (!isWhole(received)) return;
    if (!received.includes(SUCCESS)) throw new Error(`expected a success, got ${received}`);
    received = '';
    answered += 1;
    sendNext(socket);
    if (answered === requests.length) roundIsOver();
  });
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf('\r\n\r\n');
  if (head < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(answer);
  if (!length) throw new Error(`expected a Content-Length in ${answer.slice(0, head)}`);
  return answer.length >= head + 4 + Number(length[1]);
}
