/** Floods a server with WebSockets of each kind until told to stop. */
import { connect, type Socket } from 'node:net';
import { agentOf } from '../../support/service/signer.js';
import { upgradeOf } from '../draw/frames.js';
import { type Flood, floods } from './floods.js';

interface Wanted {
  port: number;
  names: readonly string[];
  epoch: string;
  kinds: readonly string[];
}

/** Number of parts sent between two checks for other events. */
const TIMES_A_TURN = 64;

const open = new Set<Socket>();
let sentBytes = 0;
let opened = 0;
let pouring = 0;
let leaving = false;

function flood({ port, names, epoch, kinds }: Wanted, kind: string): void {
  const again = () => {
    if (leaving) return;
    const one = floods(names.map(agentOf), epoch).find(({ name }) => name === kind)!;
    const socket = connect(port, '127.0.0.1');
    open.add(socket);
    opened += 1;
    socket.write(upgradeOf('/ws/v1'));
    socket.once('data', () => {
      pour(socket, one);
      pouring += 1;
      if (pouring === kinds.length) process.send!('pouring');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(again, 5);
    });
  };
  again();
}

/** Sends as fast as the peer accepts, with regular checks for the signal to stop. */
function pour(socket: Socket, { first, again, reads }: Flood): void {
  if (!reads) socket.pause();
  for (const part of first) socket.write(part);
  if (again.length === 0) return;
  const more = () => {
    for (let times = 0; times < TIMES_A_TURN && !socket.destroyed; times += 1) {
      sentBytes += again.length;
      if (!socket.write(again)) return;
    }
    // Yields, because a kernel that accepts everything never reports backpressure.
    if (!socket.destroyed) setImmediate(more);
  };
  socket.on('drain', () => setImmediate(more));
  more();
}

process.on('message', (message: Wanted | 'leave') => {
  if (message !== 'leave') {
    for (const kind of message.kinds) flood(message, kind);
    return;
  }
  leaving = true;
  for (const socket of open) socket.destroy();
  process.send!({ sentBytes, opened });
});
