/** A client that reads only after it has sent its body gets the refusal of a large body. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { statusOf } from '../../support/service/raw.js';
import { transports, world } from '../../support/service/server.js';
import { agentOf, meme, type Request, register } from '../../support/service/signer.js';

const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(MIB / 16, 0x20);

interface Sent {
  /** Text that the client received, or the code of the error that it met. */
  received: string;
  /** Bytes of the body that the client could write. */
  written: number;
  ms: number;
}

/** Sends a head and `length` bytes of body piece by piece, and reads only then. */
function sendFirst(url: string, { method, path, headers }: Request, length: number, body = length) {
  const lines = Object.entries({ Host: 'localhost', ...headers, 'Content-Length': `${length}` });
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))];
  const begun = performance.now();
  return new Promise<Sent>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    let [text, written] = ['', 0];
    const end = (received: string) => {
      resolve({ received, written, ms: performance.now() - begun });
      socket.destroy();
    };
    socket.on('error', ({ code }: NodeJS.ErrnoException) => end(code ?? ''));
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => end(text));
    const next = () => {
      if (written >= body) return void socket.resume();
      const piece = PIECE.subarray(0, Math.min(PIECE.length, body - written));
      socket.write(piece, (error) => {
        if (error) return;
        written += piece.length;
        next();
      });
    };
    socket.write(`${head.join('\r\n')}\r\n\r\n`, next);
  });
}

describe.each(transports)('refused bodies over %s', (transport) => {
  const ada = agentOf('Ada');
  const large = { ...meme(ada, { file: 'gm' }), body: '' };
  const cases: [string, number, string, Request, number][] = [
    ['a body that is too large', 413, 'TOO_LARGE', register(ada), 3_000_000],
    ['the largest discarded body', 413, 'TOO_LARGE', register(ada), 8 * MIB],
    ['an unknown route', 404, 'UNKNOWN_ROUTE', { ...register(ada), path: '/nowhere' }, 8 * MIB],
    ['an unknown key', 401, 'UNKNOWN_KEY', large, MIB],
    [
      'an unknown host',
      421,
      'WRONG_HOST',
      { ...large, headers: { ...large.headers, Host: 'a.example' } },
      8 * MIB,
    ],
  ];

  test.each(cases)('%s: %i', async (_, status, reason, request, bytes) => {
    const there = await world({ transport });
    const { received, written } = await sendFirst(there.url, request, bytes);
    expect([statusOf(received), written]).toEqual([status, bytes]);
    expect(received).toContain(`"reason":"${reason}"`);
    expect(received).toMatch(/\r\nConnection: close\r\n/i);
  });

  test('a used-up quota: 429', async () => {
    const there = await world({ transport, limits: 'spec' });
    await there.join('Ada');
    const { received } = await sendFirst(there.url, register(agentOf('Bob')), 8 * MIB);
    expect(statusOf(received), received).toBe(429);
  });

  test('a longer body: the server responds at once, and reads no more', async () => {
    const there = await world({ transport, server: { exchange: { discardMs: 60_000 } } });
    const { received, ms } = await sendFirst(there.url, register(ada), 8 * MIB + 1, 0);
    expect(statusOf(received)).toBe(413);
    expect(ms).toBeLessThan(30_000);
  });

  test('a client that stops sending: gets the response after the time limit', async () => {
    const there = await world({ transport, server: { exchange: { discardMs: 300 } } });
    const { received, ms } = await sendFirst(there.url, register(ada), 3 * MIB, 1_000);
    expect(statusOf(received)).toBe(413);
    expect(ms).toBeGreaterThan(250);
    expect(ms).toBeLessThan(30_000);
  });

  test('more bodies in a second than the server discards: answered at once', async () => {
    const exchange = { discardMs: 60_000, discardBytesPerSecond: MIB };
    const there = await world({ transport, server: { exchange } });
    const { received } = await sendFirst(there.url, register(ada), 2 * MIB, 0);
    expect(statusOf(received)).toBe(413);
    expect(statusOf((await sendFirst(there.url, register(ada), MIB)).received)).toBe(413);
  });

  test('a request behind a refused body: is not handled', async () => {
    const there = await world({ transport });
    const { digest } = await there.read('/api/v1/meta');
    const { method, path, headers, body } = register(ada);
    const lines = Object.entries(headers).map((line) => `${line.join(': ')}\r\n`);
    const start = (line: string, bytes: number) =>
      `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n`;
    const first = `${start('POST /nowhere', 9_000)}\r\n${'x'.repeat(9_000)}`;
    const behind = `${start(`${method} ${path}`, body.length)}${lines.join('')}\r\n${body}`;
    await new Promise((resolve) => {
      const socket = connect(Number(new URL(there.url).port), '127.0.0.1');
      socket
        .on('error', () => {})
        .on('close', resolve)
        .resume();
      socket.write(`${first}${behind}`);
    });
    expect((await there.read('/api/v1/meta')).digest).toBe(digest);
  });
});
