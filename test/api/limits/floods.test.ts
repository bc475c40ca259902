/** Floods of invalid requests: bounded work, and no effect on other clients. */
import { connect } from 'node:net';
import { createVerifier, type VirtualClock, virtualClock } from 'folkmoot';
import { describe, expect, onTestFinished, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { raw, statusOf } from '../../support/service/raw.js';
import { type Around, oneTransport, type Running, world } from '../../support/service/server.js';
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
import { expectError, type World } from '../../support/service/world.js';

const HASH = 'a'.repeat(64);
const LENGTH = 'Content-Length: 2000000\r\n';
const forgedBy = (agent: Agent): Agent => ({ ...agent, sign: () => '0'.repeat(128) });

interface Scene {
  there: World & Running;
  clock: VirtualClock;
  at(): string;
}

async function begin(transport: 'uws' | 'node', around: Around = {}): Promise<Scene> {
  const clock = virtualClock(START_MS);
  const there = await world({ transport, limits: 'spec', clock, ...around });
  return { there, clock, at: () => new Date(clock.now()).toISOString() };
}

async function join({ there, clock, at }: Scene, ...names: string[]): Promise<Agent[]> {
  const agents = names.map(agentOf);
  for (const agent of agents) {
    await there.do(register(agent, {}, at()));
    clock.set(clock.now() + 60_000);
  }
  return agents;
}

const many = <T>(count: number, one: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => one(i));

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
  test('600 forged votes at once: get no more verifications than the limit', async () => {
    const verifier = createVerifier('pool');
    onTestFinished(() => verifier.close());
    const scene = await begin(transport, { verifier });
    const [ada] = await join(scene, 'Ada');
    const { there, at } = scene;
    const before = there.network.stats.rejected;
    const forged = vote(forgedBy(ada!), { block_hash: HASH }, at());
    const codes: number[] = [];
    // Connections are not all opened at once, because a busy machine's accept queue is shorter. The
    // server closes idle connections, which a later request may encounter.
    const send = async (): Promise<number> => {
      try {
        return (await there.send(forged)).status;
      } catch (error) {
        expect((error as Error).cause).toMatchObject({ code: 'ECONNRESET' });
        return send();
      }
    };
    const one = async () => {
      for (let sent = 0; sent < 5; sent += 1) codes.push(await send());
    };
    await Promise.all(many(120, one));
    expect(codes.filter((code) => code === 401).length).toBe(60);
    expect(codes.filter((code) => code === 429).length).toBe(540);
    // Only the first five failures are diagnosed, each with at most 20 verifications.
    expect(there.network.stats.rejected - before).toBeLessThanOrEqual(60 + 5 * 20);
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
      method: 'POST',
      path: to,
      headers: named,
      body,
    });
    for (let round = 0; round < 7; round += 1) {
      await Promise.all(many(50, () => there.send(post(form))));
      await Promise.all(many(50, () => there.send(post(plain, '/api/v1/blocks/propose'))));
    }
    expect((await there.send(post(form))).status).toBe(429);
    await there.do(status(ada!, { status: 'active' }, ada!.agentId, at()), 200);
  });

  test('many keys claimed from one address: share one quota and lock out no client', async () => {
    const scene = await begin(transport, { server: { figures: { failed_signature_total: 120 } } });
    const names = many(6, (index) => `Agent ${index}`);
    const agents = await join(scene, ...names, 'Ada', 'Bob');
    const [ada, bob] = agents.slice(-2) as [Agent, Agent];
    const { there, at } = scene;
    const active = (by: Agent) => status(by, { status: 'active' }, by.agentId, at());
    await there.do(active(ada), 200);
    const before = there.network.stats.rejected;
    for (const agent of agents.slice(0, 6)) {
      const forged = vote(forgedBy(agent), { block_hash: HASH }, at());
      await Promise.all(many(70, () => there.send(forged)));
    }
    const { rejected } = there.network.stats;
    expect(rejected - before).toBeLessThanOrEqual(120 + 6 + 6 * 5 * 20);
    scene.clock.set(scene.clock.now() + 1);
    // Ada has sent a valid signature from here, and Bob's first attempt is free.
    await there.do(active(ada), 200);
    await there.do(active(bob), 200);
  });

  test('costly invalid requests: are refused unread once the quota is used', async () => {
    const scene = await begin(transport);
    const [ada, bob] = await join(scene, 'Ada', 'Bob');
    const { there, at } = scene;
    const path = '/api/v1/blocks/propose';
    const headers = { 'Content-Type': 'application/json', 'X-Agent-Public-Key': ada!.publicKey };
    const body = `[${'0,'.repeat(1024 * 1024 - 2)}0]`;
    const send = () => there.send({ method: 'POST', path, headers, body });
    // The quota is 600 units, and 2 MiB cost 64 units.
    for (let times = 0; times < 9; times += 1) {
      expectError(await send(), 400, 'INVALID_REQUEST', 'BAD_JSON');
      scene.clock.set(scene.clock.now() + 1_000);
    }
    const json = `Content-Type: application/json\r\n${LENGTH}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${json}`;
    const unread = await raw(there.url, `${head}X-Agent-Public-Key: ${ada!.publicKey}\r\n\r\n`);
    expect(statusOf(unread)).toBe(429);
    expect(unread).toContain('"limit":"refused"');
    // Other clients at the address, and small requests by Ada, are still served.
    expectError(
      await there.send(propose(bob!, { parent_hash: HASH }, at())),
      409,
      'INVALID_REQUEST',
    );
    expectError(
      await there.send(propose(ada!, { parent_hash: HASH }, at())),
      409,
      'INVALID_REQUEST',
    );
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
