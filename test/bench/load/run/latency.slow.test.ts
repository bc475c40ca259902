/** Latencies match the server's record, and a stall is visible in the open loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { counts } from '../../../support/counts.js';
import { load, longEnough, onSchedule, operation, sum } from '../generator.js';
import { reads } from '../known/behaviour.js';
import { type KnownServer, knownServer, percentile, serviceTimes } from '../known/known-server.js';

/** Allowed difference between the clocks of server and generator on a busy machine. */
const SLACK_MS = 25;

async function ownTimes(server: KnownServer): Promise<number[]> {
  const { requests } = await server.record();
  return serviceTimes(requests.filter(({ route }) => reads.includes(route)));
}

test.each([
  ['constant', 50, 50],
  ['uniform', 20, 220],
])('latency: matches the record of the server for a %s delay', async (_, fromMs, toMs) => {
  const server = await knownServer({ behaviours: [{ on: reads, does: 'delay', fromMs, toMs }] });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const { service, response } = operation(await load(server, { rate: 100 }), 'read');
  delays.disable();
  const own = await ownTimes(server);
  // On a busy machine, each process also reads late what the other one has sent.
  const lateMs = delays.max / 1e6 + (await server.record()).lateMs;
  for (const [name, percent] of [
    ['p50', 50],
    ['p90', 90],
    ['p99', 99],
  ] as const) {
    const truth = percentile(own, percent);
    expect(service[name], name).toBeGreaterThan(truth - 2);
    expect(service[name], name).toBeLessThan(truth + SLACK_MS + 2 * lateMs);
    expect(response[name], name).toBeGreaterThanOrEqual(service[name]!);
  }
  expect(own[0]).toBeGreaterThan(fromMs - 2);
  expect(service.min).toBeGreaterThan(own[0]! - 1);
  expect(service.max).toBeGreaterThan(own.at(-1)! - 1);
});

const durationMs = 1_000 * counts.stalledSeconds;
const stall = { on: reads, does: 'stall', startMs: 500, endMs: 1_500 } as const;

test('latency: a stall of a second shows in p99 and seconds of the open loop', async () => {
  const { result } = await onSchedule(async () => {
    const server = await knownServer({ behaviours: [stall] });
    return { result: await load(server, { rate: 200, durationMs, connections: 16 }) };
  });
  const { response, service, broken, timed_out } = operation(result, 'read');
  // Two hundred requests, at least a tenth of all, wait half a second on average.
  expect(response.p99).toBeGreaterThan(800);
  expect(response.p99).toBeLessThan(2_000);
  // Sixteen requests were in flight and the others were queued. Only response times include
  // queuing.
  expect(service.p90).toBeLessThan(500);
  expect(service.max).toBeGreaterThan(900);
  expect([broken, timed_out]).toEqual([0, 0]);
  // The stall covers the second half of the first second and the first half of the next second.
  expect(result.seconds[0]!.accepted).toBeLessThan(150);
  expect(Math.max(...result.seconds.map(({ accepted }) => accepted))).toBeGreaterThan(200);
  expect(result.seconds[1]!.response_p99).toBeGreaterThan(700);
  expect(sum(result.seconds.map(({ accepted }) => accepted))).toBe(200 * counts.stalledSeconds);
});

test('latency: the same stall does not show in p99 of the closed loop', async () => {
  const concurrency = 4;
  const { server, result } = await longEnough(
    async (ms) => {
      const known = await knownServer({ behaviours: [stall] });
      const asked = { rate: null, concurrency, durationMs: ms };
      return { server: known, result: await load(known, asked) };
    },
    // The requests of the stall are less than a hundredth of all.
    (found) => operation(found.result, 'read').sent > 100 * concurrency,
    durationMs,
  );
  const { response, sent } = operation(result, 'read');
  expect(sent).toBeGreaterThan(100 * concurrency);
  expect(response.p99).toBeLessThan(500);
  expect(response.max).toBeGreaterThan(900);
  const slow = (await ownTimes(server)).filter((time) => time > 500);
  expect(slow).toHaveLength(concurrency);
  expect(result.asked).toMatchObject({ loop: 'closed', rate: null, concurrency });
});
