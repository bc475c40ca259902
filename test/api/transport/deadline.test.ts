/** Every request and every shutdown has a deadline. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Verifier } from 'folkmoot';
import { describe, expect, test } from 'vitest';
import { virtualClock } from '../../../dist/engine/node/clock.js';
import { serve, transports, world } from '../../support/service/server.js';
import { agentOf, discuss, type Request, register } from '../../support/service/signer.js';
import { call, expectError } from '../../support/service/world.js';

/** An application that never answers. */
const silent = {
  backend: 'silent',
  workers: 0,
  verify: () => new Promise<never>(() => {}),
  close: async () => {},
} as unknown as Verifier;

const registration = (name: string): Request => register(agentOf(name));
const head = 'POST /api/v1/agents/register HTTP/1.1\r\nHost: localhost\r\n';

/** Sends an endless body byte by byte. Returns the response. */
function trickle(url: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 8000\r\n\r\n{`);
    const more = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => {
      clearInterval(more);
      resolve(text);
    });
  });
}

describe.each(transports)('deadlines over %s', (transport) => {
  const begin = (exchange: object) => serve({ transport, verifier: silent, server: { exchange } });

  test('an unanswered request: answers 503 DEADLINE and closes the connection', async () => {
    const server = await begin({ requestMs: 400, stopMs: 200 });
    const answers = await Promise.all(
      ['Ada', 'Bob'].map((name) => call(server.url, registration(name))),
    );
    for (const answer of answers) {
      expectError(answer, 503, 'NETWORK_ERROR', 'DEADLINE');
      expect(answer.headers.get('connection')).toBe('close');
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(
      (await call(server.url, { method: 'GET', path: '/healthz', headers: {}, body: '' })).status,
    ).toBe(200);
    await server.close();
  });

  test('a body that never ends: answers 503 DEADLINE and closes the connection', async () => {
    const server = await begin({ requestMs: 400, stopMs: 200 });
    const text = await trickle(server.url);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toContain('"DEADLINE"');
    await server.close();
  });

  test('a body that is held back: its signature expires meanwhile', async () => {
    const clock = virtualClock(Date.now());
    const there = await world({ transport, clock });
    const ada = await there.join('Ada');
    const request = discuss(ada, { block_hash: await there.propose(ada) });
    const { method, path, headers, body } = request;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const size = Buffer.byteLength(body as string);
    const start = [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines];
    const socket = connect(Number(new URL(there.url).port), '127.0.0.1');
    const answer = once(socket, 'data');
    socket.write(`${[...start, `Content-Length: ${size}`].join('\r\n')}\r\n\r\n`);
    // A later request is answered once the server has read the head.
    for (let left = 5; left > 0; left -= 1) await there.read('/api/v1/meta');
    // Requests are signed by the real time, which is later than this clock on a busy machine.
    clock.set(clock.now() + 3_600_000);
    const before = await there.digest();
    socket.write(body);
    const [text] = await answer;
    socket.destroy();
    expect(String(text)).toMatch(/^HTTP\/1\.1 401 [\s\S]*"TIMESTAMP_SKEW"/);
    expect(await there.digest()).toBe(before);
  });

  test('a stop: cuts requests in flight after the grace period', async () => {
    const server = await begin({ requestMs: 3_600_000, stopMs: 300 });
    const unanswered = call(server.url, registration('Ada')).catch((error: Error) => error);
    const body = trickle(server.url);
    await call(server.url, { method: 'GET', path: '/healthz', headers: {}, body: '' });
    await server.close();
    expect(await unanswered).toBeInstanceOf(Error);
    expect(await body).toBe('');
  });
});
