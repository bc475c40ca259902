/** Classification of responses that the known server never gives, and requests of the warm-up. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { load, onSchedule } from '../generator.js';

const state = JSON.stringify({
  success: true,
  data: { block_height: 1, validators: [], producers: [] },
});
const refusal = { success: false, error: { code: 'RATE_LIMITED', details: { reason: 'RATE' } } };

/** Closes each connection after its response. */
const close: RequestListener = (_, response) => {
  response.setHeader('Connection', 'close').end(state);
};
const answers: RequestListener[] = [
  close,
  (_, response) => response.end(state),
  (_, response) => response.writeHead(429).end(JSON.stringify(refusal)),
  (_, response) => response.writeHead(502).end('<html>'),
  (_, response) => response.end(),
  (_, response) => response.end('{"success":true,"data":{}}'),
  (_, response) => void response.socket!.destroy(),
];

/** Starts a server without /meta that gives the answers in turn. */
async function inTurn(all: readonly RequestListener[]) {
  let count = 0;
  const serving = createServer((request, response) => {
    if (request.url === '/api/v1/meta') return void response.writeHead(404).end('{}');
    count += 1;
    all[count % all.length]!(request, response);
  });
  serving.listen(0, '127.0.0.1');
  await new Promise((resolve) => serving.once('listening', resolve));
  onTestFinished(() => {
    serving.closeAllConnections();
    serving.close();
  });
  const { port } = serving.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => count };
}

test('run: accepts only responses with data, and counts the others by kind', async () => {
  const { result } = await onSchedule(async () => ({
    result: await load(await inTurn(answers), { rate: 70, durationMs: 1_000 }),
  }));
  const [only] = result.operations;
  expect(only).toMatchObject({ sent: 70, accepted: 20, lies: 20, broken: 10, timed_out: 0 });
  expect(only!.refused).toEqual([
    { status: 429, code: 'RATE_LIMITED', reason: 'RATE', count: 10 },
    { status: 502, code: '-', reason: '-', count: 10 },
  ]);
  expect(result.verdict).toBe('INVALID');
});

test('run: the warm-up is sent and not counted, on connections that close', async () => {
  const { result, server } = await onSchedule(async () => {
    const started = await inTurn([close]);
    const asked = { rate: 100, durationMs: 1_000, warmupMs: 200 };
    return { server: started, result: await load(started, asked) };
  });
  expect(result.operations[0]).toMatchObject({ operation: 'read', sent: 100, accepted: 100 });
  // The total includes up to 20 warm-up requests, and the preceding request for the list of agents.
  expect(server.asked()).toBeGreaterThan(101);
  expect(server.asked()).toBeLessThanOrEqual(121);
  expect(result.server).toMatchObject({ url: server.url, version: null, epoch: null });
});
