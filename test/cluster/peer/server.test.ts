/** A node's peer port. Authenticated peers get a snapshot, and other clients get nothing. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fetchSnapshot } from '../../../dist/cluster/peer/fetch.js';
import {
  checkedSecret,
  headers,
  type PeerRequest,
  proveRequest,
} from '../../../dist/cluster/peer/proof.js';
import { PeerServer } from '../../../dist/cluster/peer/server.js';
import { agents, fetching, openNode, registration } from '../../support/cluster/nodes.js';
import { MemoryOrder } from '../../support/cluster/order.js';
import { temporaryFolder } from '../../support/fixture.js';

const secret = 'a1'.repeat(32);
/** The copy process exists before it has started copying. */
const at = { interval: 2 };

async function peer() {
  const lines: string[] = [];
  const tell = (line: string) => lines.push(line);
  const options = { host: '127.0.0.1', port: 0, secret, network: 'devnet', tell };
  const server = await PeerServer.listen(options);
  onTestFinished(() => server.close());
  return { server, lines };
}

async function givingPeer() {
  const path = temporaryFolder();
  const order = new MemoryOrder();
  const node = await openNode(order, { path });
  for (const by of agents) await node.submit(registration(by));
  const made = await peer();
  made.server.give(path);
  return { ...made, path, node };
}

/** Sends a valid request with some parts replaced. Returns the status and reason. */
async function answerTo(
  { url }: PeerServer,
  asking: Partial<PeerRequest> = {},
  request: { secret?: string; path?: string; method?: string; body?: string } = {},
) {
  const nonce = randomUUID();
  const whole = { network: 'devnet', to: url, node: 'n2', at: Date.now(), nonce, ...asking };
  const { path = '/snapshot', secret: used = secret, ...rest } = request;
  const answer = await fetch(url + path, {
    ...rest,
    headers: {
      [headers.asking]: Buffer.from(JSON.stringify(whole)).toString('base64url'),
      [headers.proof]: proveRequest(used, whole),
    },
  });
  if (answer.status === 200) {
    await answer.body?.cancel();
    return [200, ''];
  }
  return [answer.status, ((await answer.json()) as { reason: string }).reason];
}

test('peer: refuses requests without the secret or with a misused proof', async () => {
  const { server } = await givingPeer();
  const { url } = server;
  for (const path of ['/', '/snapshot', '/readyz']) {
    expect((await fetch(url + path)).status).toBe(401);
  }
  const forged = { [headers.proof]: 'f'.repeat(64), [headers.asking]: '' };
  for (const header of ['bm9uZQ', 'bnVsbA', 'e30', 'x'.repeat(4_000)]) {
    forged[headers.asking] = header;
    expect((await fetch(`${url}/snapshot`, { headers: forged })).status).toBe(401);
  }
  expect(await answerTo(server, {}, { secret: 'b2'.repeat(32) })).toEqual([401, 'SECRET']);
  expect(await answerTo(server, { at: Date.now() - 61_000 })).toEqual([401, 'CLOCK']);
  expect(await answerTo(server, { to: 'http://10.0.0.1:7000' })).toEqual([401, 'ADDRESS']);
  expect(await answerTo(server, { network: 'city' })).toEqual([409, 'OTHER_NETWORK']);
  const nonce = randomUUID();
  expect(await answerTo(server, { nonce })).toEqual([200, '']);
  expect(await answerTo(server, { nonce })).toEqual([401, 'USED']);
});

test('peer: refuses other routes and methods, and large requests', async () => {
  const { server } = await givingPeer();
  expect(await answerTo(server, {}, { path: '/other' })).toEqual([404, 'ROUTE']);
  expect(await answerTo(server, {}, { method: 'DELETE' })).toEqual([405, 'METHOD']);
  expect(await answerTo(server, {}, { method: 'POST', body: 'x' })).toEqual([405, 'METHOD']);
  const { port } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET /snapshot HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/^HTTP\/1.1 431 /);
});

test('peer: sends a consistent snapshot during writes; one at a time', async () => {
  const { server, path, node, lines } = await givingPeer();
  const file = join(temporaryFolder(), 'data.mdb');
  const fetched = fetchSnapshot({ ...fetching(secret), from: server.url, file });
  await expect.poll(() => readdirSync(path), at).toContain('copied.tmp');
  expect(await answerTo(server)).toEqual([503, 'BUSY']);
  await node.submit(registration(agents[0]!, 'Again'));
  const { version, network, bytes } = await fetched;
  expect([network, version > 0, bytes > 0]).toEqual(['devnet', true, true]);
  expect(existsSync(file)).toBe(true);
  await expect.poll(() => readdirSync(path)).not.toContain('copied.tmp');
  expect(lines.join()).toMatch(/snapshot to node n2: batch \d+, \d+ bytes/);
});

test('peer: answers STARTING without a folder; deletes the copy on disconnect', async () => {
  const { server } = await peer();
  expect(await answerTo(server)).toEqual([503, 'STARTING']);
  const { server: giving, path } = await givingPeer();
  const gone = new AbortController();
  const file = join(temporaryFolder(), 'data.mdb');
  const options = { ...fetching(secret), from: giving.url, file };
  const fetched = fetchSnapshot({ ...options, signal: gone.signal });
  await expect.poll(() => readdirSync(path), at).toContain('copied.tmp');
  gone.abort(new Error('not wanted any more'));
  await expect(fetched).rejects.toThrow('not wanted any more');
  await expect.poll(() => readdirSync(path)).not.toContain('copied.tmp');
  expect(await answerTo(giving)).toEqual([200, '']);
});

/** Opens connections from a client that sends half of a request head and stops. */
async function halfOpen(port: number, count: number) {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    socket.on('error', () => {});
    if (socket.connecting) await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    socket.write('GET /snapshot HTTP/1.1\r\nHost: ');
  }
  return sockets;
}

test('peer: sends a snapshot while strangers hold connections open', async () => {
  const { server } = await givingPeer();
  const sockets = await halfOpen(Number(new URL(server.url).port), 200);
  expect(await answerTo(server)).toEqual([200, '']);
  // The newest strangers are still waiting. The server closed older connections.
  expect(sockets.at(-1)!.destroyed).toBe(false);
  expect(await answerTo(server, {}, { secret: 'b2'.repeat(32) })).toEqual([401, 'SECRET']);
});

test('peer: a secret is long and has one line', () => {
  expect(checkedSecret(`${secret}\n`)).toBe(secret);
  expect(() => checkedSecret('short')).toThrow(TypeError);
  expect(() => checkedSecret('short')).toThrow(/5 characters/);
  expect(() => checkedSecret(`${secret} ${secret}`)).toThrow(TypeError);
});
