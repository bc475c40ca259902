/** A generator that cannot keep its schedule blames itself, not the server. */
import { expect, onTestFinished, test } from 'vitest';
import { load, onSchedule, operation } from '../generator.js';
import { reads } from '../known/behaviour.js';
import { knownServer } from '../known/known-server.js';

/** Repeatedly blocks the generator's event loop. */
function block(forMs: number, everyMs: number): void {
  const timer = setInterval(() => {
    const untilMs = performance.now() + forMs;
    while (performance.now() < untilMs);
  }, everyMs);
  onTestFinished(() => clearInterval(timer));
}

test('generator: is CLIENT_BOUND with its lag when blocked again and again', async () => {
  const server = await knownServer();
  block(150, 200);
  const result = await load(server, { rate: 200 });
  expect(result.verdict).toBe('CLIENT_BOUND');
  expect(result.generator.lag.p99).toBeGreaterThan(100);
  expect(result.generator.utilization).toBeGreaterThan(0.5);
  expect(result.seconds[0]!.lag_max).toBeGreaterThan(100);
  // The lag is part of the response time, as a server stall would be.
  expect(operation(result, 'read').response.p99).toBeGreaterThan(100);
});

test('generator: is not blamed for a slow server without free connections', async () => {
  const { result } = await onSchedule(async () => {
    const server = await knownServer({
      behaviours: [{ on: reads, after: 1, does: 'delay', fromMs: 400, toMs: 400 }],
    });
    return { result: await load(server, { rate: 100, connections: 8 }) };
  });
  expect(result.verdict).toBe('INVALID');
  expect(result.arrivals.held!.connections).toBeGreaterThan(0.5);
  expect(operation(result, 'read').response.p90).toBeGreaterThan(600);
  // Eight requests ran at a time, each for 400 ms, and the other requests were queued.
  expect(result.arrivals.accepted).toBeLessThanOrEqual(40);
});
