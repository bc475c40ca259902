/** Checks on host names, origins and WebSocket versions. */
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { servedName } from '../../../dist/api/http/entry-checks.js';
import { raw, statusOf } from '../../support/service/raw.js';
import { type Around, transports, world } from '../../support/service/server.js';

const read = (host: string | null) =>
  `GET /api/v1/network/state HTTP/1.1\r\n${host === null ? '' : `Host: ${host}\r\n`}\r\n`;

const opening = (headers: Record<string, string>) => {
  const all = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET /ws/v1 HTTP/1.1\r\n${lines.join('')}\r\n`;
};

const whole = (text: string) => text.endsWith('\r\n\r\n') || text.endsWith('}');

test('servedName: refuses a scheme, port, path or whitespace', () => {
  expect(servedName('Network.Example')).toBe('network.example');
  expect(servedName('192.0.2.7')).toBe('192.0.2.7');
  for (const other of ['a.example:443', 'https://a.example', 'a.example/', 'a b', '']) {
    expect(() => servedName(other), other).toThrow();
  }
});

/** Expects the status, and that the response contains each part. */
function expectParts(text: string, status: number, ...parts: (string | RegExp)[]): void {
  expect(statusOf(text), text).toBe(status);
  for (const part of parts) expect(text).toMatch(part);
}

describe.each(transports)('head checks of %s', (transport) => {
  const begin = (server: Around['server'] = {}) => world({ transport, server });

  test.each([
    'localhost',
    'LOCALHOST:8080',
    'localhost.:80',
    '127.0.0.1:80',
    '192.0.2.7',
    '[::1]:8080',
    '[2001:db8::1]',
    hostname(),
    'network.example',
    'Network.Example:443',
  ])('answer the host name %s', async (host) => {
    const there = await begin({ hosts: ['network.example'] });
    expect(statusOf(await raw(there.url, read(host)))).toBe(200);
    expect(statusOf(await raw(there.url, opening({ Host: host }), whole))).toBe(101);
  });

  test.each([
    'evil.example',
    'network.example.evil.example',
    'sub.network.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    'localhost:80:80',
    'a b',
    '[::1',
    '.',
  ])('answer the host name %s with 421', async (host) => {
    const there = await begin({ hosts: ['network.example'] });
    for (const bytes of [read(host), opening({ Host: host })]) {
      expectParts(await raw(there.url, bytes), 421, '"WRONG_HOST"', 'serve --hosts');
    }
  });

  test.each([
    ['https://a.example', 101],
    ['http://localhost', 101],
    ['http://localhost:1', 403],
    ['https://evil.example', 403],
    ['null', 403],
    ['https://a.example.evil.example', 403],
  ])('answer a WebSocket from the origin %s with %i', async (Origin, expected) => {
    const there = await begin({ cors: ['https://a.example'] });
    const text = await raw(there.url, opening({ Origin }), whole);
    expectParts(text, expected, ...(expected === 403 ? ['"WRONG_ORIGIN"'] : []));
  });

  test.each([
    '8',
    '12',
    '14',
    '13, 8',
    '',
  ])('answer WebSocket version %j with 426', async (version) => {
    const there = await begin();
    const text = await raw(there.url, opening({ 'Sec-WebSocket-Version': version }));
    expectParts(text, 426, /\r\nSec-WebSocket-Version: 13\r\n/i, '"SOCKET_VERSION"');
  });

  test('treat any other upgrade as an ordinary request', async () => {
    const there = await begin();
    const to = (path: string, more: Record<string, string> = {}) =>
      raw(there.url, opening(more).replace('/ws/v1', path));
    expectParts(await to('/ws/v2'), 404, '"UNKNOWN_ROUTE"');
    expect(statusOf(await to('/healthz', { Upgrade: 'h2c' }))).toBe(200);
    expect(statusOf(await to('/ws/v1', { 'Sec-WebSocket-Key': 'short' }))).toBe(426);
  });

  test.each(['GET', 'POST'])('answer %s of the WebSocket path with 426', async (method) => {
    const there = await begin();
    const text = await raw(there.url, `${method} /ws/v1 HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expectParts(text, 426, /\r\nUpgrade: websocket\r\n/i, /\r\nConnection: Upgrade\r\n/i);
    expectParts(text, 426, '"UPGRADE_REQUIRED"', 'ws://');
  });

  test('open no WebSocket for an ambiguous head', async () => {
    const there = await begin();
    expectParts(await raw(there.url, opening({ 'Transfer-Encoding': 'chunked' })), 411);
  });
});
