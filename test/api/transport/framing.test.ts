/** Request smuggling. Heads on whose end two readers could disagree are refused. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { transports, world } from '../../support/service/server.js';
import { agentOf, type Request, register } from '../../support/service/signer.js';

interface Received {
  statuses: number[];
  reasons: string[];
}

/** Sends bytes in separate segments, and waits until the server closes. */
function receive(url: string, ...pieces: string[]): Promise<Received> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!);
      resolve({
        statuses: all(/HTTP\/1\.1 (\d{3})/g).map(Number),
        reasons: all(/"reason":"(\w+)"/g),
      });
    });
    const next = () => {
      const piece = pieces.shift();
      if (piece !== undefined) socket.write(Buffer.from(piece, 'latin1'), () => setImmediate(next));
    };
    next();
  });
}

const asText = ({ method, path, headers, body }: Request) => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = `Content-Length: ${body.length}\r\n\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${length}${body}`;
};

const start = 'POST /api/v1/agents/register HTTP/1.1\r\nHost: localhost\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
const length = (text: string) => `Content-Length: ${text}\r\n\r\n`;

/** Invalid heads, the bytes that follow, and the reason if the application sees the request. */
const unframed: [string, string, string][] = [
  ['chunks', chunked, '0\r\n\r\n'],
  ['chunk extensions', chunked, '3;a=b\r\nabc\r\n0;x\r\n\r\n'],
  ['digits in a chunk extension', chunked, '1;1\r\na\r\n0\r\n\r\n'],
  ['trailers', chunked, '0\r\nX: y\r\n\r\n'],
  ['a trailer that looks like a request', chunked, '0\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a bad chunk', chunked, 'zz\r\n\r\n'],
  ['two Transfer-Encoding', `Transfer-Encoding: gzip\r\n${chunked}`, '0\r\n\r\n'],
  ['a Transfer-Encoding in capitals', `TRANSFER-${chunked.slice(9).toUpperCase()}`, '0\r\n\r\n'],
  ['a tab before it', 'Transfer-Encoding:\tchunked\r\n\r\n', '0\r\n\r\n'],
];
const twice: [string, string, string][] = [
  ['two Host', `Host: other\r\n${length('0')}`, ''],
  ['the same Host twice', `Host: localhost\r\n${length('0')}`, ''],
];
/** Heads that a transport's library may answer without an envelope. */
const lax: [string, string, string][] = [
  ['two lengths', `Content-Length: 3\r\n${length('0')}`, 'abc'],
  ['the same length twice', `Content-Length: 3\r\n${length('3')}`, 'abc'],
  ['a list of lengths', length('3, 3'), 'abc'],
  ['a length with a sign', length('+3'), 'abc'],
  ['a negative length', length('-3'), 'abc'],
  ['a length in hex', length('0x3'), 'abc'],
  ['no length', length(''), ''],
  ['a length that overflows', length('18446744073709551619'), 'abc'],
  ['length and chunks', `Content-Length: 5\r\n${chunked}`, '0\r\n\r\n'],
  ['chunks and length', `Transfer-Encoding: chunked\r\n${length('5')}`, '0\r\n\r\n'],
  ['an unknown coding', 'Transfer-Encoding: xchunked\r\n\r\n', ''],
  ['an empty coding', 'Transfer-Encoding:\r\n\r\n', ''],
];
/** Heads for whose end uWebSockets.js waits, then closes the connection. */
const endless: [string, string, string][] = [
  ['bare LF', `X: y\nTransfer-Encoding: chunked\r\n${length('0')}`, ''],
  ['a bare LF at the end', 'Content-Length: 0\r\n\n', ''],
  ['a bare CR', `X: y\rZ: a\r\n${length('0')}`, ''],
  ['a folded line', `X: y\r\n Transfer-Encoding: chunked\r\n${length('0')}`, ''],
  ['a line folded by a tab', `X: y\r\n\tz\r\n${length('0')}`, ''],
  ['a blank after a name', `Transfer-Encoding : chunked\r\n${length('0')}`, ''],
  ['a high byte in a name', `Transfer-Encoding\xff: chunked\r\n${length('0')}`, ''],
  ['NUL in a name', `X\0: chunked\r\n${length('0')}`, ''],
  ['NUL in a value', `X: a\0b\r\n${length('0')}`, ''],
  ['a control in a value', `X: a\x01b\r\n${length('0')}`, ''],
  ['parentheses in a name', `X(a): b\r\n${length('0')}`, ''],
  ['no colon', `Xa\r\n${length('0')}`, ''],
];

describe.each(transports)('framing over %s', (transport) => {
  const begin = async () => {
    const there = await world({ transport });
    const smuggled = asText(register(agentOf('Mallory')));
    const { digest } = await there.read('/api/v1/meta');
    /** Expects that no later bytes were read as a request. */
    const unharmed = async (received: Received) => {
      expect(received.statuses.length, JSON.stringify(received)).toBeLessThanOrEqual(1);
      expect((await there.read('/api/v1/meta')).digest).toBe(digest);
    };
    return { there, smuggled, unharmed };
  };

  test.each([
    ...unframed,
    ...twice,
  ])('%s: refused with a reason, and closed', async (name, head, rest) => {
    const { there, smuggled, unharmed } = await begin();
    const reason = twice.some(([other]) => other === name) ? 'SCHEMA' : 'LENGTH_REQUIRED';
    const alone = await receive(there.url, `${start}${head}`);
    // Recent releases of uWebSockets.js refuse a second Host themselves, without an envelope.
    const native = { statuses: [400], reasons: [] };
    const own = { statuses: [reason === 'SCHEMA' ? 400 : 411], reasons: [reason] };
    const isNative = transport === 'uws' && reason === 'SCHEMA' && alone.reasons.length === 0;
    expect(alone).toEqual(isNative ? native : own);
    await unharmed(await receive(there.url, `${start}${head}${rest}${smuggled}`));
    await unharmed(await receive(there.url, `${start}${head}`, `${rest}${smuggled}`));
  });

  test.each(lax)('%s: refused with 400 or 411, and closed', async (_, head, rest) => {
    const { there, smuggled, unharmed } = await begin();
    const alone = await receive(there.url, `${start}${head}${rest}`);
    expect([[400], [411]]).toContainEqual(alone.statuses);
    await unharmed(await receive(there.url, `${start}${head}${rest}${smuggled}`));
    await unharmed(await receive(there.url, `${start}${head}`, `${rest}${smuggled}`));
  });

  test('heads that never end: closed, and no bytes after them are read', async () => {
    const { there, smuggled, unharmed } = await begin();
    const found = await Promise.all(
      endless.map(async ([name, head, rest]) => {
        return [name, await receive(there.url, `${start}${head}${rest}${smuggled}`)] as const;
      }),
    );
    for (const [name, received] of found) {
      // Recent releases of uWebSockets.js answer some of them before they close.
      const expected = transport === 'node' ? [[400]] : [[], [400]];
      expect(expected, name).toContainEqual(received.statuses);
      await unharmed(received);
    }
  });

  test('a request after an oversized body: not read', async () => {
    const { there, smuggled, unharmed } = await begin();
    const received = await receive(there.url, `${start}${length('99999999')}${smuggled}`);
    expect(received).toEqual({ statuses: [413], reasons: ['TOO_LARGE'] });
    await unharmed(received);
  });
});
