/** Runs against a small server in this process: requests, their times, and their outcomes. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { LoadOptions } from '../../../../dist/bench/load/options.js';
import { type LoadResult, LoadResult as schema } from '../../../../dist/bench/load/result.js';
import { runLoad } from '../../../../dist/bench/load/run.js';
import { Value } from '../../../../dist/engine/protocol/bundled/typebox.js';
import { onSchedule } from '../generator.js';

const state = JSON.stringify({
  success: true,
  data: { block_height: 1, validators: [], producers: [] },
});

/** Starts a server that handles reads with `listener` and has no /meta. */
async function server(listener: RequestListener): Promise<string> {
  const serving = createServer((request, response) => {
    if (request.url !== '/api/v1/meta') return listener(request, response);
    response.writeHead(404).end('{}');
  });
  serving.listen(0, '127.0.0.1');
  await new Promise((resolve) => serving.once('listening', resolve));
  onTestFinished(() => {
    serving.closeAllConnections();
    serving.close();
  });
  return `http://127.0.0.1:${(serving.address() as AddressInfo).port}`;
}

const run = (url: string, change: Partial<LoadOptions>, signal?: AbortSignal) => {
  const options: LoadOptions = {
    url,
    workload: 'reads',
    rate: 100,
    concurrency: null,
    agents: 0,
    batch: 0,
    durationMs: 1_000,
    warmupMs: 200,
    timeoutMs: 60_000,
    finalityTimeoutMs: 1_000,
    connections: 16,
    seed: 'x',
    keepAgents: false,
    ...change,
  };
  return runLoad(options, signal ? { signal } : {});
};

/** Checks that every request has one outcome, and that the result matches its schema. */
function consistent(result: LoadResult): void {
  expect(Value.Check(schema, result)).toBe(true);
  for (const one of result.operations) {
    const refused = one.refused.reduce((sum, { count }) => sum + count, 0);
    const { accepted, lies, timed_out, broken, unfinished } = one;
    expect(accepted + refused + lies + timed_out + broken + unfinished).toBe(one.sent);
  }
}

test('run: the open loop follows its schedule, and does not count the warm-up', async () => {
  const { result, url, asked } = await onSchedule(async () => {
    let count = 0;
    const at = await server((_, response) => {
      count += 1;
      response.end(state);
    });
    const found = await run(at, {});
    return { result: found, url: at, asked: count };
  });
  consistent(result);
  expect(result.arrivals.intended).toBe(100);
  expect(result.operations[0]).toMatchObject({ operation: 'read', sent: 100, accepted: 100 });
  // The total includes up to 20 warm-up requests, and the preceding request for the list of agents.
  expect(asked).toBeGreaterThan(101);
  expect(asked).toBeLessThanOrEqual(121);
  expect(result.server).toMatchObject({ url, version: null, epoch: null });
});

test('run: the closed loop never exceeds its concurrency', async () => {
  let underWay = 0;
  let most = 0;
  const url = await server((_, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    setTimeout(() => {
      underWay -= 1;
      response.end(state);
    }, 10);
  });
  const result = await run(url, { rate: null, concurrency: 5, durationMs: 5_000 });
  consistent(result);
  expect(most).toBe(5);
  expect(result.arrivals.accepted).toBeGreaterThan(5);
  expect(result.asked).toMatchObject({ loop: 'closed', rate: null, concurrency: 5 });
});

test('run: response time includes the wait for a connection, service time does not', async () => {
  const url = await server((_, response) => setTimeout(() => response.end(state), 50));
  const result = await run(url, { rate: 40, connections: 1 });
  consistent(result);
  const { response, service } = result.operations[0]!;
  expect(service.p50).toBeLessThan(response.p50!);
  expect(response.max!).toBeGreaterThan(service.max! + 200);
  expect(result.verdict).not.toBe('VALID');
});

test('run: classifies responses, and accepts only those with data', async () => {
  const refusal = { success: false, error: { code: 'RATE_LIMITED', details: { reason: 'RATE' } } };
  const answers: RequestListener[] = [
    (_, response) => response.end(state),
    (_, response) => response.writeHead(429).end(JSON.stringify(refusal)),
    (_, response) => response.writeHead(502).end('<html>'),
    (_, response) => response.end(),
    (_, response) => response.end('{"success":true,"data":{}}'),
    (_, response) => void response.socket!.destroy(),
    () => {},
  ];
  const { result } = await onSchedule(async () => {
    let count = 0;
    const url = await server((...both) => {
      count += 1;
      answers[count % answers.length]!(...both);
    });
    return { result: await run(url, { rate: 70, timeoutMs: 5_000, warmupMs: 0 }) };
  });
  consistent(result);
  const [only] = result.operations;
  expect(only).toMatchObject({ sent: 70, accepted: 10, lies: 20, broken: 10, timed_out: 10 });
  expect(only!.refused).toEqual([
    { status: 429, code: 'RATE_LIMITED', reason: 'RATE', count: 10 },
    { status: 502, code: '-', reason: '-', count: 10 },
  ]);
  expect(only!.response.count).toBe(10);
  expect(result.verdict).toBe('INVALID');
});

test('run: works with a server that closes each connection after its response', async () => {
  const url = await server((_, response) => {
    response.setHeader('Connection', 'close').end(state);
  });
  const result = await run(url, { rate: null, concurrency: 3, durationMs: 5_000 });
  consistent(result);
  expect(result.operations[0]!.accepted).toBe(result.operations[0]!.sent);
  expect(result.arrivals.accepted).toBeGreaterThan(0);
});

test('run: an interruption ends it early, with the figures so far', async () => {
  const url = await server((_, response) => response.end(state));
  const result = await run(url, { durationMs: 60_000 }, AbortSignal.timeout(5_000));
  consistent(result);
  expect(result.ended).toBe('interrupted');
  expect(result.measured_s).toBeLessThan(30);
  expect(result.arrivals.accepted).toBe(result.operations[0]!.accepted);
});
