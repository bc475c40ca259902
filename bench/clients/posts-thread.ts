/**
 * A thread that posts over raw sockets, one request at a time on each: rounds of requests, each
 * round when all of the one before it are answered. Every answer must be a success; it reads no
 * more of them, for a client that parses would be slower than what it measures.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface PostsOrder {
  port: number;
  connections: number;
  /** Whole requests, head and body. */
  rounds: Uint8Array[][];
}

/** From the parent: post these rounds, `to` left out. The answer is how long they took. */
export type Posting = { from: number; to: number };
export type Posted = { milliseconds: number };

const { port, connections, rounds } = workerData as PostsOrder;
const SUCCESS = '"success":true';
const idle: Socket[] = [];
let requests: Uint8Array[] = [];
let sent = 0;
let answered = 0;
let roundIsOver = () => {};

parentPort?.on('message', async ({ from, to }: Posting) => {
  const begin = performance.now();
  for (const round of rounds.slice(from, to)) await post(round);
  parentPort?.postMessage({ milliseconds: performance.now() - begin } satisfies Posted);
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
