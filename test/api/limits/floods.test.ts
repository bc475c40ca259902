/** Floods of invalid requests: bounded work, and no effect on other clients. */
import { connect } from 'node:net';
import { createVerifier } from 'folkmoot';
import { limitTable } from '../../../dist/api/contract/limit-table.js';
import { HistoryReads } from '../../../dist/api/http/handler.js';
import type { History } from '../../../dist/engine/history/history.js';
import { raw, statusesOf, statusOf } from '../../support/service/raw.js';
import {
  type Around,
  oneTransport,
  type TimedWorld,
  timedWorld,
} from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  meme,
  propose,
  type Request,
  register,
  status,
  vote,
} from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const HASH = 'a'.repeat(64);
const DAY_MS = 86_400_000;
const GET = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LENGTH = 'Content-Length: 2000000\r\n';
const forgedBy = (agent: Agent): Agent => ({ ...agent, sign: () => '0'.repeat(128) });

const begin = (transport: 'uws' | 'node', around: Around = {}) =>
  timedWorld({ transport, ...around });

async function join(scene: TimedWorld, ...names: string[]): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (const name of names) agents.push(await scene.join(name));
  return agents;
}

const many = <T>(count: number, one: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => one(i));

/**
 * Sends a request until it has a response. The server closes idle connections, which a later
 * request may encounter, and those of bodies that it refuses and that do not arrive in time.
 */
async function statusFrom(there: TimedWorld['there'], request: Request): Promise<number> {
  try {
    return (await there.send(request)).status;
  } catch (error) {
    expect((error as Error).cause).toMatchObject({ code: 'ECONNRESET' });
    return statusFrom(there, request);
  }
}

/** Sends the same bytes on many connections. Returns the first response. */
function firstAnswer(url: string, bytes: Uint8Array, count: number): Promise<string> {
  return new Promise((resolve) => {
    const sockets = many(count, () => connect(Number(new URL(url).port), '127.0.0.1'));
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.write(bytes);
      socket.on('data', (chunk) => {
        for (const each of sockets) each.destroy();
        resolve(chunk.toString('latin1'));
      });
    }
  });
}

describe.each(oneTransport)('floods over %s', (transport) => {
  test.each([
    ['without an earlier valid signature', DAY_MS, 128],
    ['after a valid signature from here', 0, 300],
  ])('300 forged votes at once %s: get bounded verifications', async (_, passed, verified) => {
    const verifier = createVerifier('pool');
    onTestFinished(() => verifier.close());
    const figures = { signed_requests: 301 };
    const scene = await begin(transport, { verifier, server: { figures } });
    const [ada] = await join(scene, 'Ada');
    const { there, at, pass } = scene;
    pass(passed);
    const before = there.network.stats.rejected;
    const forged = vote(forgedBy(ada!), { block_hash: HASH }, at());
    const codes: number[] = [];
    // Connections are not all opened at once, because a busy machine's accept queue is shorter.
    const one = async () => {
      for (let sent = 0; sent < 3; sent += 1) codes.push(await statusFrom(there, forged));
    };
    await Promise.all(many(100, one));
    expect(codes.filter((code) => code === 401).length).toBe(verified);
    expect(codes.filter((code) => code === 429).length).toBe(300 - verified);
    // Only the first 20 failures are diagnosed, each with at most 20 verifications.
    const { rejected } = there.network.stats;
    expect(rejected - before).toBeLessThanOrEqual(verified + 20 * 20);
    expect(rejected - before).toBeGreaterThanOrEqual(verified);
    // In the same instant, only an agent with an earlier valid signature is served.
    const own = await there.send(status(ada!, { status: 'active' }, ada!.agentId, at()));
    expect(own.status).toBe(passed === 0 ? 200 : 429);
    pass(1_000);
    await there.do(status(ada!, { status: 'active' }, ada!.agentId, at()), 200);
  });

  test('forged requests and reads of others at its address lock out no agent', async () => {
    const scene = await begin(transport);
    const [ada] = await join(scene, 'Ada');
    const { there, at, pass } = scene;
    const active = () => status(ada!, { status: 'active' }, ada!.agentId, at());
    const forger = forgedBy(ada!);
    const forged = [
      vote(forger, { block_hash: HASH }, at()),
      propose(forger, { parent_hash: HASH, meme_content: { content: 'x'.repeat(40_000) } }, at()),
      meme(forger, { file: 'x'.repeat(100_000) }, at()),
      { ...active(), body: '{' },
    ];
    for (const request of forged) {
      await Promise.all(many(70, () => statusFrom(there, request)));
    }
    await there.do(active(), 200);
    // Fills the quotas of all requests that do not name a registered key.
    const each = limitTable.requests.quota / 20;
    const all = (text: string) => statusesOf(text).length === each;
    await Promise.all(many(20, () => raw(there.url, GET.repeat(each), all)));
    expect((await there.get('/api/v1/meta')).status).toBe(429);
    pass(1);
    await there.do(active(), 200);
  });

  test('replayed signatures: exempt no address from the limit', async () => {
    const scene = await begin(transport, { server: { trustedProxies: ['127.0.0.1'] } });
    const { there, at, pass } = scene;
    const from = (address: string, { headers, ...request }: Request): Request => ({
      ...request,
      headers: { ...headers, 'X-Forwarded-For': address },
    });
    const ada = agentOf('Ada');
    await there.do(from('192.0.2.1', register(ada, {}, at())));
    pass(60_000);
    const captured = status(ada, { status: 'active' }, ada.agentId, at());
    await there.do(from('192.0.2.1', captured), 200);
    const forged = vote(forgedBy(ada), { block_hash: HASH }, at());
    const codes = async (address: string) => {
      const answers = await Promise.all(many(140, () => there.send(from(address, forged))));
      return answers.filter((answer) => answer.status === 401).length;
    };
    for (const last of [1, 2, 3, 4, 5]) {
      const address = `198.51.100.${last}`;
      await there.do(from(address, captured), 200);
      expect(await codes(address)).toBe(128);
    }
    expect(await codes('192.0.2.1')).toBe(140);
  });

  test('200 copies of a valid request at once: are all accepted', async () => {
    const scene = await begin(transport);
    const [ada] = await join(scene, 'Ada');
    const request = status(ada!, { status: 'active' }, ada!.agentId, scene.at());
    const codes = await Promise.all(
      many(200, async () => (await scene.there.send(request)).status),
    );
    expect(new Set(codes)).toEqual(new Set([200]));
  });

  test('requests that a web page can send: lock out no client', async () => {
    const scene = await begin(transport);
    const [ada] = await join(scene, 'Ada');
    const { there, at } = scene;
    const { body, headers } = meme(ada!, { file: 'Hi' }, at());
    const form = { 'Content-Type': headers['Content-Type']! };
    const plain = { 'Content-Type': 'text/plain' };
    const path = '/api/v1/social/memes';
    const post = (named: Record<string, string>, to = path): Request => ({
      ...{ method: 'POST', path: to, headers: named, body },
    });
    await Promise.all(many(70, () => there.send(post(form))));
    await Promise.all(many(70, () => there.send(post(plain, '/api/v1/blocks/propose'))));
    expect((await there.send(post(form))).status).toBe(429);
    await there.do(status(ada!, { status: 'active' }, ada!.agentId, at()), 200);
  });

  test('many keys claimed from one address: share one quota', async () => {
    const scene = await begin(transport);
    const agents = await join(scene, ...many(3, (index) => `Agent ${index}`), 'Ada');
    const ada = agents.at(-1)!;
    const { there, at, pass } = scene;
    pass(DAY_MS);
    const active = (by: Agent) => status(by, { status: 'active' }, by.agentId, at());
    await there.do(active(ada), 200);
    const before = there.network.stats.rejected;
    for (const agent of agents.slice(0, 3)) {
      const forged = vote(forgedBy(agent), { block_hash: HASH }, at());
      await Promise.all(many(70, () => there.send(forged)));
    }
    const { rejected } = there.network.stats;
    expect(rejected - before).toBeLessThanOrEqual(128 + 20 * 20);
    pass(1);
    // Ada has sent a valid signature from here.
    await there.do(active(ada), 200);
    expect((await there.send(active(agents[0]!))).status).toBe(429);
    pass(1_000);
    await there.do(active(agents[0]!), 200);
  });

  test('costly invalid requests: are refused unread once the quota is used', async () => {
    const scene = await begin(transport);
    const [ada, bob] = await join(scene, 'Ada', 'Bob');
    const { there, at, pass } = scene;
    pass(DAY_MS);
    await there.do(status(bob!, { status: 'active' }, bob!.agentId, at()), 200);
    const path = '/api/v1/blocks/propose';
    const headers = { 'Content-Type': 'application/json', 'X-Agent-Public-Key': ada!.publicKey };
    const body = `[${'0,'.repeat(1024 * 1024 - 2)}0]`;
    const send = () => there.send({ method: 'POST', path, headers, body });
    // The quota is 8 MiB in 10 seconds.
    for (let times = 0; times < 4; times += 1) {
      expectError(await send(), 400, 'INVALID_REQUEST', 'BAD_JSON');
      pass(1_000);
    }
    const json = `Content-Type: application/json\r\n${LENGTH}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${json}`;
    const unread = await raw(there.url, `${head}X-Agent-Public-Key: ${ada!.publicKey}\r\n\r\n`);
    expect(statusOf(unread)).toBe(429);
    expect(unread).toContain('"limit":"refused_large"');
    // Small requests of all agents are still served.
    for (const agent of [ada!, bob!]) {
      const proposal = await there.send(propose(agent, { parent_hash: HASH }, at()));
      expectError(proposal, 409, 'INVALID_REQUEST');
    }
    pass(7_000);
    expectError(await send(), 400, 'INVALID_REQUEST', 'BAD_JSON');
  });

  test('a large body with an unknown key, or without a key: is not read', async () => {
    const { there } = await begin(transport);
    const head =
      'POST /api/v1/blocks/propose HTTP/1.1\r\nHost: localhost\r\n' +
      'Content-Type: application/json\r\n';
    const length = 'Content-Length: 2000000\r\n';
    const stranger = `X-Agent-Public-Key: ${agentOf('Stranger').publicKey}\r\n`;
    const unknown = await raw(there.url, `${head}${length}${stranger}\r\n`);
    expect([statusOf(unknown), unknown.includes('UNKNOWN_KEY')]).toEqual([401, true]);
    const missing = await raw(there.url, `${head}${length}\r\n`);
    expect([statusOf(missing), missing.includes('"body_sha256":null')]).toEqual([401, true]);
  });

  test('bodies in flight: are bounded per address', async () => {
    const scene = await begin(transport, { limits: 'bench' });
    const [ada] = await join(scene, 'Ada');
    const { there } = scene;
    const named = `Content-Type: application/json\r\nX-Agent-Public-Key: ${ada!.publicKey}\r\n`;
    const head = `POST /api/v1/blocks/propose HTTP/1.1\r\nHost: localhost\r\n${named}${LENGTH}\r\n`;
    const part = Buffer.concat([Buffer.from(head), Buffer.alloc(1_900_000, ' ')]);
    const text = await firstAnswer(there.url, part, 40);
    expect([statusOf(text), text.includes('QUEUE_FULL')], text).toEqual([503, true]);
    const { head_hash } = await there.read('/api/v1/network/state');
    await there.do(propose(ada!, { parent_hash: head_hash }, scene.at()));
  });

  test('limits requests and connections of an address, but not health checks', async () => {
    const { there } = await begin(transport, {
      server: { figures: { requests: 20, connections: 40 } },
    });
    const codes = await Promise.all(
      many(30, async () => (await there.get('/api/v1/network/state')).status),
    );
    expect(codes.filter((code) => code === 200).length).toBe(20);
    expect(codes.filter((code) => code === 429).length).toBe(10);
    expect((await there.get('/healthz')).status).toBe(200);
    const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const answers = await Promise.all(many(60, () => raw(there.url, health)));
    const taken = answers.filter((text) => statusOf(text) === 200).length;
    expect(taken).toBeLessThanOrEqual(40);
    expect(answers.filter((text) => text === '').length).toBe(60 - taken);
  });
});

test('reads at earlier entries: one address fills a quarter of the queue', async () => {
  const reads = new HistoryReads({ at: () => new Promise(() => {}) } as unknown as History);
  const fill = (address: string, from: number) => {
    for (let entry = from; entry < from + 4; entry += 1) void reads.at(entry, address);
  };
  const full = expect.objectContaining({ reason: 'QUEUE_FULL' });
  fill('address:192.0.2.1', 0);
  expect(await reads.at(90, 'address:192.0.2.1')).toEqual(full);
  for (const other of [2, 3, 4]) fill(`address:192.0.2.${other}`, 4 * other);
  expect(await reads.at(91, 'address:192.0.2.5')).toEqual(full);
});
