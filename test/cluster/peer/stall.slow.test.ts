/** Silent peers. The waiting side times out, and the server frees the slot. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createSilent } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { composeMeme } from 'folkmoot';
import { fetchSnapshot } from '../../../dist/cluster/peer/fetch.js';
import {
  formatDescription,
  headers,
  PROTOCOL,
  proveRequest,
  proveResponse,
} from '../../../dist/cluster/peer/proof.js';
import { PeerServer } from '../../../dist/cluster/peer/server.js';
import { agents, fetching, openNode, registration } from '../../support/cluster/nodes.js';
import { MemoryOrder } from '../../support/cluster/order.js';
import { temporaryFolder } from '../../support/fixture.js';

const secret = 'c3'.repeat(32);

function fetched(port: number) {
  const file = join(temporaryFolder(), 'data.mdb');
  return fetchSnapshot({ ...fetching(secret), from: `http://127.0.0.1:${port}`, file });
}

async function listening(server: ReturnType<typeof createSilent>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('peer: gives up on a peer that is silent, or stalls in the middle of a snapshot', async () => {
  const stops = createServer((request, response) => {
    const { nonce } = JSON.parse(
      Buffer.from(String(request.headers[headers.asking]), 'base64url').toString(),
    );
    const described = { protocol: PROTOCOL, network: 'devnet', log: 'a', version: 3 } as const;
    const text = formatDescription({ ...described, bytes: 1_000_000, sha256: 'f'.repeat(64) });
    response.writeHead(200, {
      [headers.snapshot]: text,
      [headers.proof]: proveResponse(secret, nonce, text),
    });
    response.write(Buffer.alloc(1_000));
  });
  const ports = [await listening(createSilent()), await listening(stops)];
  const [silent, cut] = await Promise.allSettled(ports.map(fetched));
  expect(silent).toMatchObject({ reason: { code: 'UNREACHABLE' } });
  expect(String((silent as PromiseRejectedResult).reason)).toMatch(/no data for \d+ ms/);
  expect(cut).toMatchObject({ reason: { code: 'CUT' } });
});

test('peer: closes a half-open connection after ten seconds', async () => {
  const tell = () => {};
  const options = { host: '127.0.0.1', port: 0, secret, network: 'devnet', tell };
  const server = await PeerServer.listen(options);
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);
  const sockets = ['', 'GET /snapshot HTTP/1.1\r\nHost: '].map((sent) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write(sent);
    return socket;
  });
  const late = sleep(20_000, 'late', { ref: false });
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close'))).then(() => 'closed');
  expect(await Promise.race([closed, late])).toBe('closed');
});

test('peer: a client that does not read its snapshot loses the slot', async () => {
  const path = temporaryFolder();
  const node = await openNode(new MemoryOrder(), { path });
  for (const by of agents) await node.submit(registration(by));
  // Sends more data than a connection's buffers hold.
  for (let number = 0; number < 12; number += 1) {
    const file = Buffer.alloc(1_000_000, number);
    Buffer.from('89504e470d0a1a0a', 'hex').copy(file);
    const by = agents[number % agents.length]!;
    const at = new Date(node.network.read.position.at + 1).toISOString();
    const { result } = await node.submit(
      composeMeme(by, at, { caption: `${number}`, tags: [], file }),
    );
    expect(result).toBe('accepted');
  }
  const tell = () => {};
  const options = { host: '127.0.0.1', port: 0, secret, network: 'devnet', tell };
  const server = await PeerServer.listen(options);
  onTestFinished(() => server.close());
  server.give(path);
  const { url } = server;
  const asking = { network: 'devnet', to: url, node: 'n3', at: Date.now(), nonce: 'once' };
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  const head = [
    'GET /snapshot HTTP/1.1',
    'Host: peer',
    `${headers.asking}: ${Buffer.from(JSON.stringify(asking)).toString('base64url')}`,
    `${headers.proof}: ${proveRequest(secret, asking)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await once(socket, 'readable');
  // The silent peer holds the only slot until the timeout.
  const port = Number(new URL(url).port);
  await expect(fetched(port)).rejects.toMatchObject({ message: expect.stringContaining('BUSY') });
  await expect
    .poll(
      () =>
        fetched(port).then(
          ({ bytes }) => bytes > 10_000_000,
          () => false,
        ),
      { timeout: 120_000, interval: 1_000 },
    )
    .toBe(true);
  socket.destroy();
});
