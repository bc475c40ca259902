/** Latencies agree with what the server wrote down, and a stall cannot hide in the open loop. */
import { expect, test } from 'vitest';
import { load, operation, sum } from './generator.js';
import { type KnownServer, knownServer, percentile, reads, serviceTimes } from './known-server.js';

/** What is between the server's clock and the generator's on a busy machine; at the tail more. */
const SLACK_MS = { p50: 20, p90: 60, p99: 150 };

async function ownTimes(server: KnownServer): Promise<number[]> {
  const { requests } = await server.record();
  return serviceTimes(requests.filter(({ route }) => reads.includes(route)));
}

test.each([
  ['constant', 50, 50],
  ['uniform', 20, 220],
])('latency: of a %s delay, agrees with the record of the server', async (_, fromMs, toMs) => {
  const server = await knownServer({ behaviours: [{ on: reads, does: 'delay', fromMs, toMs }] });
  const { service, response } = operation(await load(server, { rate: 300 }), 'read');
  const own = await ownTimes(server);
  for (const [name, percent] of [
    ['p50', 50],
    ['p90', 90],
    ['p99', 99],
  ] as const) {
    const truth = percentile(own, percent);
    expect(service[name], name).toBeGreaterThan(truth - 2);
    expect(service[name], name).toBeLessThan(truth + SLACK_MS[name]);
    expect(response[name], name).toBeGreaterThanOrEqual(service[name]!);
  }
  expect(service.min).toBeGreaterThanOrEqual(fromMs - 1);
  expect(service.max).toBeGreaterThan(own.at(-1)! - 1);
});

const stall = { on: reads, does: 'stall', startMs: 1_000, endMs: 2_000 } as const;

test('latency: a stall of a second shows in p99 in the open loop, and in its seconds', async () => {
  const server = await knownServer({ behaviours: [stall] });
  const result = await load(server, { rate: 200, durationMs: 4_000, connections: 16 });
  const { response, service, broken, timed_out } = operation(result, 'read');
  // Two hundred of eight hundred wait, on average half of the second.
  expect(response.p90).toBeGreaterThan(500);
  expect(response.p99).toBeGreaterThan(800);
  expect(response.p99).toBeLessThan(2_000);
  // Sixteen were sent and stood still, the others waited in line: only the response time has them.
  expect(service.p90).toBeLessThan(500);
  expect(service.max).toBeGreaterThan(900);
  expect([broken, timed_out]).toEqual([0, 0]);
  expect(result.seconds[1]!.accepted).toBeLessThan(100);
  expect(result.seconds[2]!.accepted).toBeGreaterThan(250);
  expect(result.seconds[2]!.response_p99).toBeGreaterThan(500);
  expect(sum(result.seconds.map(({ accepted }) => accepted))).toBe(800);
});

test('latency: the closed loop does not see the same stall in p99', async () => {
  const server = await knownServer({ behaviours: [stall] });
  const concurrency = 4;
  const result = await load(server, { rate: null, concurrency, durationMs: 4_000 });
  const { response, sent } = operation(result, 'read');
  expect(sent).toBeGreaterThan(100 * concurrency);
  expect(response.p99).toBeLessThan(500);
  expect(response.max).toBeGreaterThan(900);
  const slow = (await ownTimes(server)).filter((time) => time > 500);
  expect(slow).toHaveLength(concurrency);
  expect(result.asked).toMatchObject({ loop: 'closed', rate: null, concurrency });
});
