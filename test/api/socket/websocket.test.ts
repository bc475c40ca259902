/** WebSocket connections over both transports: authentication, messages, limits and closing. */
import { createVerifier, virtualClock } from 'folkmoot';
import { afterAll, describe, expect, test } from 'vitest';
import { connect, type Live } from '../../support/service/live.js';
import { type Around, transports, world } from '../../support/service/server.js';
import {
  type Agent,
  agentOf,
  auth,
  debugSocket,
  type Request,
  stamp,
  status,
} from '../../support/service/signer.js';
import { expectError } from '../../support/service/world.js';

const verifier = createVerifier('pool');
afterAll(() => verifier.close());

const errorOf = (code: string, reason: string) => ({
  type: 'error',
  error: { code, message: expect.any(String), details: expect.objectContaining({ reason }) },
});

/** Flips one bit in a signature. */
const tampering = (by: Agent): Agent => ({
  ...by,
  sign: (text) => by.sign(text).replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
});

describe.each(transports)('websocket over %s', (transport) => {
  const begin = (around: Around = {}) => world({ transport, verifier, ...around });

  const one = async (around: Around = {}) => {
    const there = await begin(around);
    const ada = await there.join('Ada');
    return { there, ada, live: await there.listen(ada) };
  };

  test('auth: must come first; else 4401', async () => {
    const there = await begin();
    for (const first of [
      { type: 'subscribe', topics: ['blocks'] },
      { type: 'unsubscribe', topics: ['blocks'] },
      { type: 'ping', id: 1 },
    ]) {
      const live = await connect(there.wsUrl);
      live.send(first);
      expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'MISSING'));
      expect((await live.closed).code).toBe(4401);
    }
  });

  test.each([
    ['tampered', (by: Agent) => auth(tampering(by))],
    ['signed as an HTTP request', (by: Agent) => auth(prefixed(by, 'agentnet-v1-http\n'))],
    ['signed as a vote', (by: Agent) => auth(prefixed(by, 'agentnet-v1-vote\n'))],
    ['for another time', (by: Agent) => ({ ...auth(by), timestamp: stamp() })],
  ])('auth: a signature that is %s closes with 4401 and changes nothing', async (_, message) => {
    const there = await begin();
    const ada = await there.join('Ada');
    const before = await there.digest();
    const live = await connect(there.wsUrl);
    live.send(message(ada));
    expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'MISMATCH'));
    expect((await live.closed).code).toBe(4401);
    expect(await there.digest()).toBe(before);
  });

  test('auth: a timestamp too old or too new closes with 4401 TIMESTAMP_SKEW', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    for (const off of [-301_000, 301_000]) {
      const live = await connect(there.wsUrl);
      live.send(auth(ada, new Date(Date.now() + off).toISOString()));
      expect(await live.next()).toEqual(errorOf('INVALID_SIGNATURE', 'TIMESTAMP_SKEW'));
      expect((await live.closed).code).toBe(4401);
    }
  });

  test('auth: an unregistered key closes with 4403', async () => {
    const there = await begin();
    const live = await connect(there.wsUrl);
    live.send(auth(agentOf('Stranger')));
    expect(await live.next()).toEqual(errorOf('INVALID_AGENT', 'UNKNOWN_KEY'));
    expect((await live.closed).code).toBe(4403);
  });

  test('auth: accepts any agent status, and upper-case hex', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    await there.do(status(ada, { status: 'inactive' }), 200);
    const upper = { ...ada, publicKey: ada.publicKey.toUpperCase() };
    const live = await connect(there.wsUrl);
    expect(await live.auth(upper)).toMatchObject({ agent_id: ada.agentId });
  });

  test('auth: a second one is an error and changes nothing', async () => {
    const { there, ada, live } = await one();
    const bob = await there.join('Bob');
    await live.subscribe(['network']);
    for (const by of [ada, bob, agentOf('Stranger')]) {
      live.send(auth(by));
      expect(await live.next()).toMatchObject({
        type: 'error',
        error: { code: 'INVALID_REQUEST' },
      });
    }
    await there.join('Eve');
    expect((await live.next()).type).toBe('agent_status');
  });

  test('connections: a fifth closes the oldest of an agent with 4409', async () => {
    const there = await begin();
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const four: Live[] = [];
    for (let count = 0; count < 4; count += 1) four.push(await there.listen(ada!));
    const fifth = await there.listen(ada!);
    const [oldest, ...others] = four;
    expect((await oldest!.closed).code).toBe(4409);
    expect(oldest!.received.at(-1)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    await there.listen(bob!);
    for (const live of [...others, fifth]) expect(await live.settled()).toEqual([]);
    await there.listen(ada!);
    expect((await others[0]!.closed).code).toBe(4409);
  });

  test('connections: four of ten concurrent ones stay open', async () => {
    const there = await begin();
    const ada = await there.join('Ada');
    const ten = await Promise.all(Array.from({ length: 10 }, () => connect(there.wsUrl)));
    for (const live of ten) live.send(auth(ada));
    const types = await Promise.all(ten.map(async (live) => (await live.next()).type));
    expect(types.filter((type) => type === 'auth_ok')).toHaveLength(10);
    const settled = await Promise.all(ten.map((live) => live.settled().catch(() => null)));
    expect(settled).toHaveLength(10);
    const ended = ten.filter(({ socket }) => socket.readyState === socket.CLOSED);
    expect(ended).toHaveLength(6);
  });

  test('malformed: gives an error twice, and closes with 4400 the third time', async () => {
    for (const text of ['{', '[]', '"auth"', '{"type":"dance"}', '{"type":"ping"}', '\u0000']) {
      const { live } = await one();
      for (let time = 1; time <= 3; time += 1) {
        live.send(text);
        expect(await live.next()).toMatchObject({
          type: 'error',
          error: { code: 'INVALID_REQUEST' },
        });
      }
      expect((await live.closed).code).toBe(4400);
    }
  });

  test.each([
    '{"type":"subscribe","topics":[]}',
    '{"type":"subscribe","topics":"blocks"}',
    '{"type":"subscribe","topics":["blocks"],"since":{"epoch":"x","seq":-1}}',
    '{"type":"subscribe","topics":["blocks"],"since":5}',
    '{"type":"subscribe","topics":["blocks"],"__proto__":{}}',
    `${'['.repeat(2000)}${']'.repeat(2000)}`,
    '{"type":"toString"}',
    '{"type":"__proto__"}',
    '{"type":"ping","id":1e999}',
  ])('malformed: %s is an error, and the connection stays open', async (text) => {
    const { live } = await one();
    live.send(text);
    expect(await live.next()).toMatchObject({ type: 'error', error: { code: 'INVALID_REQUEST' } });
    expect(await live.settled()).toEqual([]);
  });

  test.each([
    ['{"type":"ping","id":1,"id":2}', '/id'],
    ['{"type":"subscribe","topics":["blocks"],"since":{"seq":1,"seq":1}}', '/since/seq'],
  ])('malformed: %s has a member twice', async (text, pointer) => {
    const { live } = await one();
    live.send(text);
    const details = { reason: 'SCHEMA', pointer };
    expect(await live.next()).toMatchObject({ error: { code: 'INVALID_REQUEST', details } });
  });

  test('malformed: errors older than 60 s do not count', async () => {
    const clock = virtualClock(Date.now());
    const { live } = await one({ clock });
    for (let time = 1; time <= 4; time += 1) {
      if (time === 3) clock.set(clock.now() + 60_001);
      live.send('{');
      expect(await live.next()).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    }
    live.send({ type: 'ping', id: 1 });
    expect(await live.next()).toMatchObject({ type: 'pong' });
    live.send('{');
    await live.next();
    expect((await live.closed).code).toBe(4400);
  });

  test('malformed: counts binary frames, including empty ones', async () => {
    const { live } = await one();
    for (const bytes of [
      Buffer.from('{"type":"ping","id":1}'),
      Buffer.alloc(0),
      Buffer.from([255]),
    ]) {
      live.socket.send(bytes, { binary: true });
      expect(await live.next()).toMatchObject({
        type: 'error',
        error: { code: 'INVALID_REQUEST' },
      });
    }
    expect((await live.closed).code).toBe(4400);
  });

  test.each([70_000, 1_000_000])('too large: %i bytes close the connection', async (bytes) => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(bytes));
    expect((await live.closed).code).toBe(transport === 'node' ? 1009 : 1006);
  });

  test.each([16 * 1024 + 1, 64 * 1024])('too large: %i bytes close with 1009', async (bytes) => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(bytes));
    expect((await live.closed).code).toBe(1009);
    expect(live.received.at(-1)).toEqual(errorOf('INVALID_REQUEST', 'TOO_LARGE'));
  });

  test('message size: accepts 16 KiB, even in many small frames', async () => {
    const { live } = await one();
    live.send(JSON.stringify({ type: 'ping', id: 'x' }).padEnd(16 * 1024));
    expect(await live.next()).toMatchObject({ type: 'pong', data: { id: 'x' } });
    for (const part of ['{"type":"pi', 'ng","id"']) live.socket.send(part, { fin: false });
    live.socket.send(':9}', { fin: true });
    expect(await live.next()).toMatchObject({ type: 'pong', data: { id: 9 } });
  });

  test('too many: warns at message 101, and closes with 4429 at the third warning', async () => {
    const { live } = await one();
    for (let id = 1; id <= 102; id += 1) live.send({ type: 'ping', id });
    const answers: string[] = [];
    for (let count = 0; count < 102; count += 1) answers.push((await live.next()).type);
    expect(answers).toEqual([...Array(99).fill('pong'), 'error', 'error', 'error']);
    expect(live.received.at(-1)!.error.code).toBe('RATE_LIMITED');
    expect((await live.closed).code).toBe(4429);
  });

  test('topics: an unknown topic among known ones changes nothing', async () => {
    const { there, live } = await one();
    live.send({ type: 'subscribe', topics: ['network', 'weather'] });
    expect(await live.next()).toEqual(errorOf('INVALID_REQUEST', 'UNKNOWN_TOPIC'));
    await there.join('Bob');
    expect(await live.settled()).toEqual([]);
    expect(await live.subscribe(['blocks'])).toMatchObject({ topics: ['blocks'] });
    live.send({ type: 'unsubscribe', topics: ['blocks', 'weather'] });
    expect(await live.next()).toEqual(errorOf('INVALID_REQUEST', 'UNKNOWN_TOPIC'));
    expect(await live.subscribe(['network'])).toMatchObject({ topics: ['blocks', 'network'] });
  });

  test('debug: shows a connection only to its owner, even after it has closed', async () => {
    const there = await begin();
    const [ada, bob] = await there.joinAll('Ada', 'Bob');
    const live = await connect(there.wsUrl);
    const id = String((await live.auth(ada!)).connection_id);
    for (let time = 1; time <= 3; time += 1) live.send('{');
    await live.closed;
    const seen = await there.do(debugSocket(ada!, id), 200);
    expect(seen).toMatchObject({ state: 'closed', closed: { code: 4400 } });
    const tampered = debugSocket(tampering(ada!), id);
    const old = debugSocket(ada!, id, new Date(Date.now() - 301_000).toISOString());
    const refused = async (request: Request, reason: string) =>
      expectError(await there.send(request), 401, 'INVALID_SIGNATURE', reason);
    await refused(tampered, 'MISMATCH');
    await refused(old, 'TIMESTAMP_SKEW');
    const foreign = await there.send(debugSocket(bob!, id));
    expectError(foreign, 404, 'INVALID_REQUEST', 'UNKNOWN_CONNECTION');
  });

  test('stop: closes all connections with 1001', async () => {
    const { there, live, ada } = await one();
    const quiet = await connect(there.wsUrl);
    const subscribed = await there.listen(ada, ['network']);
    await there.close();
    const codes = await Promise.all([live, quiet, subscribed].map(({ closed }) => closed));
    expect(codes.map(({ code }) => code)).toEqual([1001, 1001, 1001]);
  });
});

function prefixed(by: Agent, prefix: string): Agent {
  return { ...by, sign: (text) => by.sign(`${prefix}${text}`) };
}
