/** A generator that cannot keep its schedule blames itself, not the server. */
import { load, operation } from '../generator.js';
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
