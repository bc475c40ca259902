/** Delivery counts match what the server sent and withheld. */
import { full } from '../../../support/counts.js';
import { load, operation } from '../generator.js';
import { against, type Found, knownServer } from '../known/known-server.js';

const asked = {
  workload: 'subscribers',
  agents: 20,
  rate: 40,
  durationMs: 1_000,
  // Deliveries still pending after this time count as missing.
  timeoutMs: 10_000,
  // Otherwise, the final updates would also be deliveries.
  keepAgents: true,
} as const;

test.concurrent('subscribers: need only the standard protocol', async () => {
  const server = await knownServer({ shows: 'interface' });
  const { delivery, arrivals } = await load(server, asked);
  const { repeated, delivered, sockets } = await server.record();
  expect(repeated).toEqual([]);
  expect(delivery).toMatchObject({ subscribers: 20, holes: 0, disconnects: 0 });
  expect(delivery.expected).toBe(20 * arrivals.accepted);
  expect([delivery.delivered, sockets.authenticated]).toEqual([delivered.agent_status, 20]);
  expect(delivery.delivered).toBe(delivery.expected);
});

const isMisdelivered = ({ record }: Found) => record.misdelivered > 5;

const wrongs = [
  ['withhold', 'interface'],
  ['repeat', 'everything'],
  ['withhold', 'everything'],
  ['repeat', 'interface'],
] as const;

test.concurrent.each(
  full ? wrongs : wrongs.slice(0, 2),
)('subscribers: each event that a server %ss is a gap (%s)', async (does, shows) => {
  const misdelivers = { types: ['agent_status'], every: 50, does } as const;
  const { result, record } = await against({ shows, misdelivers }, asked, isMisdelivered, 1_000);
  const [{ delivery }, { misdelivered }] = [result, record];
  expect(delivery.holes).toBeLessThanOrEqual(misdelivered);
  // A run ends once all subscribers have the events, so the last event may repeat afterwards.
  expect(delivery.holes).toBeGreaterThanOrEqual(misdelivered - (does === 'repeat' ? 1 : 0));
  const missing = does === 'withhold' ? misdelivered : 0;
  expect(delivery.delivered).toBe(delivery.expected - missing);
});

test.concurrent('subscribers: ignore invalid events', async () => {
  const misdelivers = { types: ['agent_status'], every: 50, does: 'garble' } as const;
  const { result } = await against({ misdelivers }, asked, isMisdelivered, 1_000);
  const { delivery, ended } = result;
  expect(ended).toBe('complete');
  expect(delivery.delivered).toBeGreaterThan(0);
});

test.concurrent('subscribers: a closed connection counts as a disconnect', async () => {
  const behaviours = [{ on: ['status'], after: 1, does: 'closeSockets', startMs: 400 }] as const;
  const server = await knownServer({ behaviours });
  const result = await load(server, asked);
  const { delivery } = result;
  const { delivered, sockets } = await server.record();
  expect([sockets.closed, delivery.disconnects]).toEqual([20, 20]);
  expect(delivery.delivered).toBe(delivered.agent_status);
  expect(delivery.delivered).toBeLessThan(20 * operation(result, 'status').accepted);
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});
