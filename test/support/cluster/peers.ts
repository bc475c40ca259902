/** Nodes with a peer port, and a fake peer. */
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { EtcdTls } from '../../../dist/cluster/etcd/wire.js';
import { EtcdOrder } from '../../../dist/cluster/order/etcd.js';
import { formatDescription, headers, proveResponse } from '../../../dist/cluster/peer/proof.js';
import type { TestEtcd } from '../etcd.js';
import { freePort, temporaryFolder } from '../fixture.js';
import { type Agent, agentOf, register } from '../service/signer.js';
import { update } from './load.js';
import {
  expectTogether,
  insist,
  type NodeProcess,
  type NodeSetup,
  nodeProcess,
} from './processes.js';

export const agents = ['ada', 'bob', 'eve', 'kim'].map(agentOf) as [Agent, ...Agent[]];

/** Creates a secret and its file. */
export function secretFile(): { secret: string; file: string } {
  const secret = randomBytes(32).toString('hex');
  const file = join(temporaryFolder(), 'peer.secret');
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return { secret, file };
}

/** Options of a node with a peer port. */
export const peerArgs = async (file: string): Promise<string[]> => [
  ...['--peer-listen', `127.0.0.1:${await freePort()}`],
  ...['--peer-secret', file],
];

/** Opens a test's order. */
export function orderOf({ endpoints }: TestEtcd, tls?: EtcdTls): EtcdOrder {
  const order = new EtcdOrder({ endpoints, networkId: 'town', ...(tls ? { tls } : {}) });
  onTestFinished(() => order.close());
  return order;
}

/** Starts a node that holds entries that the order has already deleted. */
export async function trimmedTown(
  running: TestEtcd,
  setup: Pick<NodeSetup, 'args'> = {},
  tls?: EtcdTls,
) {
  const folder = temporaryFolder();
  const start = (name: string, more: Partial<NodeSetup> = {}) =>
    nodeProcess({ cluster: running.url, name, folder: join(folder, name), ...setup, ...more });
  const n1 = await start('n1');
  for (const by of agents) expect((await insist([n1], register(by), 0)).status).toBe(201);
  const order = orderOf(running, tls);
  await goneOn(n1, order);
  return { n1, order, folder, start };
}

/** Adds entries, and deletes all batches from the order. */
export async function goneOn(node: NodeProcess, order: EtcdOrder, times = 3): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    for (const by of agents) expect((await insist([node], update(by), 0)).status).toBe(200);
  }
  await expectTogether([node]);
  await order.trim(await order.head());
}

/** Returns the reason from `/readyz`, or ok. */
export async function readiness({ url }: NodeProcess): Promise<string> {
  const answer = await fetch(`${url}/readyz`).catch(() => null);
  if (!answer) return 'unreachable';
  const { error } = (await answer.json()) as { error?: Record<string, unknown> };
  if (!error) return String(answer.status);
  const { reason } = error.details as { reason: string };
  return `${answer.status} ${reason}: ${error.message}`;
}

/** Response from a fake peer that knows the secret. */
export type Answer = (response: ServerResponse, nonce: string, request: IncomingMessage) => void;

/** Starts a fake peer with the highest position in the order. */
export async function fakePeer(order: EtcdOrder, first: Answer) {
  const fake = { answer: first, url: '', asked: 0 };
  const server = createServer((request, response) => {
    fake.asked += 1;
    response.on('error', () => {});
    const asking = Buffer.from(String(request.headers[headers.asking]), 'base64url');
    fake.answer(response, JSON.parse(asking.toString()).nonce, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const incarnation = randomUUID();
  await order.join('fake', incarnation);
  /** Publishes a position in the fake peer's log. */
  const tell = async (seq: number, digest: string) => {
    const times = { began: Date.now(), wall: Date.now() };
    const position = { version: 1_000_000, revision: 1 };
    const place = { position, seq, event_seq: 0, digest };
    const where = { url: '', peer: fake.url, version: '' };
    await order.announce({ node: 'fake', incarnation, ...times, ...place, ...where });
  };
  await tell(1_000_000, 'f'.repeat(64));
  return Object.assign(fake, { tell });
}

/** Builds a response with a valid proof for these bytes. */
export function proven(
  response: ServerResponse,
  { secret, nonce }: { secret: string; nonce: string },
  description: Parameters<typeof formatDescription>[0],
  bytes: Uint8Array,
): void {
  const text = formatDescription(description);
  response.writeHead(200, {
    'Content-Length': description.bytes,
    [headers.snapshot]: text,
    [headers.proof]: proveResponse(secret, nonce, text),
  });
  response.write(bytes);
}
