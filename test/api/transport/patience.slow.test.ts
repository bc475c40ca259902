/**
 * Timeouts in real seconds, tested concurrently: missing auth, and shutdowns that clients delay.
 */
import { connect as dial } from 'node:net';
import { expect, test } from 'vitest';
import { Live } from '../../support/service/live.js';
import { serve, transports } from '../../support/service/server.js';
import { agentOf, auth, register } from '../../support/service/signer.js';
import { call } from '../../support/service/world.js';

test.concurrent.each(
  transports,
)('auth over %s: closes with 4408 when missing', async (transport) => {
  const server = await serve({ transport });
  const live = await Live.open(server.wsUrl);
  const { code } = await live.closed;
  expect(live.received).toMatchObject([{ type: 'error', error: { code: 'INVALID_SIGNATURE' } }]);
  expect(code).toBe(4408);
  await server.close();
});

test.concurrent.each(
  transports,
)('auth over %s: keeps the connection open when in time', async (transport) => {
  const server = await serve({ transport });
  const ada = agentOf('Ada');
  await call(server.url, register(ada));
  const [late, live] = [await Live.open(server.wsUrl), await Live.open(server.wsUrl)];
  live.send(auth(ada));
  await live.until('auth_ok');
  expect((await late.closed).code).toBe(4408);
  expect(await live.settled()).toEqual([]);
  await server.close();
});

const stalled = {
  'nothing at all': '',
  'half a head': 'POST /api/v1/agents/register HTTP/1.1\r\nHost: localhost\r\n',
  'half a body':
    'POST /api/v1/agents/register HTTP/1.1\r\nHost: localhost\r\n' +
    'Content-Type: application/json\r\n' +
    'Content-Length: 10\r\n\r\n{',
};

test.concurrent.each(
  transports.flatMap((transport) =>
    Object.entries(stalled).map(([what, text]) => ({ transport, what, text })),
  ),
)('stop over $transport: is not delayed by a client that sent $what', async ({
  transport,
  text,
}) => {
  const server = await serve({ transport });
  const socket = dial(Number(new URL(server.url).port), '127.0.0.1');
  socket.on('error', () => {});
  await new Promise((resolve) => socket.write(text || '\r\n', resolve));
  // By the time the server answers a second request, it has read the bytes.
  await call(server.url, { method: 'GET', path: '/healthz', headers: {}, body: '' });
  await server.close();
  socket.destroy();
});

test.concurrent.each(
  transports,
)('stop over %s: is not delayed by a client that does not read', async (transport) => {
  const server = await serve({ transport });
  const live = await Live.open(server.wsUrl);
  // Never reads again, so that the client never answers the close.
  live.socket.pause();
  await server.close();
  live.socket.terminate();
});
