/** Floods one server with WebSockets, so many of each kind at a time, until it is told to leave. */
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

/** Parts sent before it looks at anything else. */
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

/** As much as the other side takes; now and then it looks whether it is told to leave. */
function pour(socket: Socket, { first, again, reads }: Flood): void {
  if (!reads) socket.pause();
  for (const part of first) socket.write(part);
  if (again.length === 0) return;
  const more = () => {
    for (let times = 0; times < TIMES_A_TURN && !socket.destroyed; times += 1) {
      sentBytes += again.length;
      if (!socket.write(again)) return;
    }
    // A kernel that takes all at once never says that it is full: the loop would never end.
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
