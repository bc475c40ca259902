/** `folkmoot mcp --http` against DNS rebinding, missing tokens and idle connections. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { live } from '../../client/helpers.js';
import { temporaryFolder } from '../../support/fixture.js';
import { keyFile, type Listening, listening, overHttp } from './clients.js';

const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '0' },
  },
});

interface Answer {
  status: number;
  /** Session id, if the response contains one. */
  id: string | undefined;
  body: string;
}

/** Sends a request with the given headers only. */
function asked(where: Listening, headers: Record<string, string>, body = '{}', method = 'POST') {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(where.url, { method, headers }, async (response) => {
      const id = response.headers['mcp-session-id'] as string | undefined;
      resolve({ status: response.statusCode!, id, body: await text(response) });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('mcp over HTTP: refuses foreign origins, hosts, tokens and large bodies', async () => {
  const { url } = await live();
  const key = await keyFile(temporaryFolder(), 'ada');
  const where = await listening(url, [key]);
  expect(where.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  expect(where.token.length).toBeGreaterThanOrEqual(43);
  const { port } = new URL(where.url);
  const let_in = {
    Authorization: `Bearer ${where.token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const status = async (headers: Record<string, string>, body = hello, method = 'POST') =>
    (await asked(where, headers, body, method)).status;
  expect(await status(let_in)).toBe(200);
  expect(await status({ ...let_in, Host: `evil.example:${port}` })).toBe(421);
  expect(await status({ ...let_in, Origin: 'http://evil.example' })).toBe(403);
  expect(await status({ ...let_in, Origin: 'null' })).toBe(403);
  const rebound = { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` };
  expect(await status({ ...let_in, ...rebound })).toBe(421);
  expect(await status({ ...let_in, Authorization: '' })).toBe(401);
  expect(await status({ ...let_in, Authorization: `Bearer ${where.token}x` })).toBe(401);
  expect(await status({ ...let_in, Authorization: where.token })).toBe(401);
  expect(await status(let_in, '', 'OPTIONS')).toBe(405);
  expect(await status({ ...let_in, 'mcp-session-id': 'another' })).toBe(404);
  expect(await status(let_in, JSON.stringify({ x: 'x'.repeat(3 * 1024 * 1024) }))).toBe(413);
  expect(await status(let_in, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toBe(400);
  const { body } = await asked(where, { ...let_in, Authorization: '' }, hello);
  expect(JSON.parse(body).error.message).toContain('Authorization: Bearer');
  expect(body).not.toContain(where.token);
  expect(await where.stop()).toBe(0);
});

/** Returns a host's first request headers. */
const headersOf = (token: string) => ({
  Authorization: `Bearer ${token}`,
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
});

test('mcp over HTTP: replaces idle sessions; accepts a given token', async () => {
  const { url } = await live();
  const key = await keyFile(temporaryFolder(), 'ada');
  const token = 'a'.repeat(32);
  const where = await listening(url, [key], { FOLKMOOT_MCP_TOKEN: token });
  expect(where.token).toBeUndefined();
  const known = { ...where, token };
  const first = await overHttp(known);
  expect(await first.done('look', { what: 'me' })).toMatchObject({ registered: false });
  for (let count = 0; count < 40; count += 1) {
    expect((await asked(known, headersOf(token), hello)).status).toBe(200);
  }
  // An open stream keeps the session in use.
  expect(await first.done('look', { what: 'me' })).toMatchObject({ registered: false });
});

test('mcp over HTTP: has at most 32 sessions when hosts begin 120 at once', async () => {
  const { url } = await live();
  const where = await listening(url, [await keyFile(temporaryFolder(), 'ada')]);
  const headers = headersOf(where.token);
  const begun = await Promise.all(Array.from({ length: 120 }, () => asked(where, headers, hello)));
  const ids = begun.flatMap(({ status, id }) => (status === 200 ? [id!] : []));
  expect(begun.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const alive = await Promise.all(
    ids.map((id) => asked(where, { ...headers, 'mcp-session-id': id }, list)),
  );
  const answered = alive.filter(({ status }) => status === 200);
  expect(answered.length).toBeGreaterThan(0);
  expect(answered.length).toBeLessThanOrEqual(32);
});

test('mcp over HTTP: frees the place of a session when its client leaves early', async () => {
  const { url } = await live();
  const where = await listening(url, [await keyFile(temporaryFolder(), 'ada')]);
  const headers = headersOf(where.token);
  for (let count = 0; count < 40; count += 1) {
    const sent = request(where.url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': hello.length, Expect: '100-continue' },
    });
    sent.on('error', () => {});
    sent.flushHeaders();
    // The server now waits for a body that never arrives.
    await once(sent, 'continue');
    sent.destroy();
  }
  await expect.poll(async () => (await asked(where, headers, hello)).status).toBe(200);
  expect(await where.stop()).toBe(0);
});

test('mcp over HTTP: serves a host while clients without a token hold connections', async () => {
  const { url } = await live();
  const where = await listening(url, [await keyFile(temporaryFolder(), 'ada')]);
  const sockets = Array.from({ length: 400 }, () =>
    connect(Number(new URL(where.url).port), '127.0.0.1'),
  );
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) {
    socket.on('error', () => {});
    if (socket.connecting) await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    socket.write('POST /mcp HTTP/1.1\r\nHost: ');
  }
  expect((await asked(where, headersOf(where.token), hello)).status).toBe(200);
});

test('mcp over HTTP: closes a half-open connection after ten seconds', async () => {
  const { url } = await live();
  const where = await listening(url, [await keyFile(temporaryFolder(), 'ada')]);
  const socket = connect(Number(new URL(where.url).port), '127.0.0.1');
  socket.resume();
  socket.write('POST /mcp HTTP/1.1\r\nHost: ');
  const late = sleep(20_000, 'late', { ref: false });
  expect(await Promise.race([once(socket, 'close').then(() => 'closed'), late])).toBe('closed');
});

test('mcp over HTTP: refuses a session with 503 when all are in use', async () => {
  const { url } = await live();
  const where = await listening(url, [await keyFile(temporaryFolder(), 'ada')]);
  const headers = headersOf(where.token);
  for (let count = 0; count < 32; count += 1) {
    const { id } = await asked(where, headers, hello);
    await listens(where, { ...headers, 'mcp-session-id': id! });
  }
  expect(await asked(where, headers, hello)).toMatchObject({
    status: 503,
    body: expect.stringContaining('limit 32'),
  });
  expect(await where.stop()).toBe(0);
});

/** Opens a session's message stream. */
function listens({ url }: Listening, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'GET', headers }, resolve);
    sent.on('error', reject);
    sent.end();
    onTestFinished(() => void sent.destroy());
  });
}
