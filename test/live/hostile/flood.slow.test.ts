/** WebSocket floods from unauthenticated clients: memory is bounded. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/fixture.js';
import { type Host, host, residentBytes, stop } from '../../support/host.js';
import { Caller } from '../clients/caller.js';

/** Maximum memory growth. The floods below send several times as much. */
const GROWTH_BYTES = 120 * 1024 * 1024;
const FLOOD_MS = 4_000;

/** Builds a masked client frame. */
function frame(opcode: number, payload: Buffer, fin = true): Buffer {
  const head = [(fin ? 0x80 : 0) | opcode];
  if (payload.length < 126) head.push(0x80 | payload.length);
  else head.push(0x80 | 126, payload.length >> 8, payload.length & 255);
  // A mask of zeros is valid.
  return Buffer.concat([Buffer.from(head), Buffer.alloc(4), payload]);
}

/** Opens a WebSocket that is never read. */
function deaf(server: Host): Promise<{ socket: Socket; ended: () => boolean }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let over = false;
    socket.once('error', reject);
    socket.on('error', () => {});
    socket.on('close', () => {
      over = true;
    });
    socket.once('data', () => {
      socket.pause();
      resolve({ socket, ended: () => over });
    });
    const key = randomBytes(16).toString('base64');
    socket.write(
      'GET /ws/v1 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    onTestFinished(() => void socket.destroy());
  });
}

/** Repeatedly writes the same bytes. Returns the server's peak memory. */
async function flood(server: Host, sockets: Socket[], bytes: Buffer): Promise<number> {
  let most = 0;
  const end = performance.now() + FLOOD_MS;
  while (performance.now() < end) {
    for (const socket of sockets) {
      if (socket.writable && socket.writableLength < 4 * bytes.length) socket.write(bytes);
    }
    await sleep(2);
    most = Math.max(most, residentBytes(server.pid));
  }
  return most;
}

describe.each(['uws', 'node'])('flood: over %s', (transport) => {
  const begin = async () => {
    const server = await host({ data: temporaryFolder(), args: ['--transport', transport] });
    await new Caller(server.url).call('GET', '/healthz');
    return { server, before: residentBytes(server.pid) };
  };

  test('flood: pings whose pongs are never read use bounded memory', async () => {
    const { server, before } = await begin();
    const eight = await Promise.all(Array.from({ length: 8 }, () => deaf(server)));
    const ping = frame(9, Buffer.alloc(125));
    const bytes = Buffer.concat(Array.from({ length: 2_000 }, () => ping));
    const most = await flood(
      server,
      eight.map(({ socket }) => socket),
      bytes,
    );
    process.stdout.write(`flood: pings over ${transport}: +${(most - before) >> 20} MiB\n`);
    expect(most - before).toBeLessThan(GROWTH_BYTES);
    await stop(server);
  });

  test('flood: fragments of a message that never ends use bounded memory', async () => {
    const { server, before } = await begin();
    const open = await Promise.all(Array.from({ length: 300 }, () => deaf(server)));
    const piece = (index: number) => frame(index === 0 ? 1 : 0, Buffer.alloc(1_024, 97), false);
    const bytes = Buffer.concat(Array.from({ length: 1_000 }, (_, index) => piece(index)));
    for (const { socket } of open) socket.write(bytes);
    let most = 0;
    for (let look = 0; look < 150; look += 1) {
      await sleep(20);
      most = Math.max(most, residentBytes(server.pid));
    }
    process.stdout.write(`flood: pieces over ${transport}: +${(most - before) >> 20} MiB\n`);
    expect(most - before).toBeLessThan(GROWTH_BYTES);
    await stop(server);
  });
});
