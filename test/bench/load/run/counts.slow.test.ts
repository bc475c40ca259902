/** A run counts exactly what the server did with its requests, by kind. */
import { load, longEnough, type Operation, operation } from '../generator.js';
import { type Behaviour, reads } from '../known/behaviour.js';
import { knownServer, treated } from '../known/known-server.js';
import type { Received } from '../known/record.js';

/** Treats only requests after the schedule starts. */
const hits = { on: reads, after: 5 } as const;
const full = { does: 'refuse', status: 503, code: 'NETWORK_ERROR', reason: 'DISK_FULL' } as const;

const inRefused = ({ refused }: Operation) => {
  const { does: _, ...refusal } = full;
  expect(refused).toEqual([{ ...refusal, count: expect.any(Number) }]);
  return refused[0]?.count;
};
const broken = (of: Operation) => of.broken;

type Case = [name: string, behaviour: Behaviour, count: (of: Operation) => number | undefined];

test.concurrent.each<Case>([
  ['dropped connections are broken', { ...hits, every: 100, does: 'drop' }, broken],
  ['responses cut in the middle are broken', { ...hits, every: 50, does: 'cut' }, broken],
  ['success without data is a lie', { ...hits, every: 7, does: 'lie' }, ({ lies }) => lies],
  ['503 responses are refusals, by code', { ...hits, ...full, every: 20 }, inRefused],
  ['a disk that fills up gives refusals', { ...hits, ...full, startMs: 500 }, inRefused],
  ['silence', { ...hits, every: 25, does: 'keepSilent' }, ({ timed_out }) => timed_out],
])('counts: %s', async (_, behaviour, count) => {
  const treatment = behaviour.does as Received['treatment'];
  const limits = treatment === 'keepSilent' ? { timeoutMs: 8_000 } : {};
  const { result, record, hit } = await longEnough(
    async (durationMs) => {
      const server = await knownServer({ citizens: 3, behaviours: [behaviour] });
      const loaded = await load(server, { rate: 200, durationMs, ...limits });
      const known = await server.record();
      return { result: loaded, record: known, hit: treated(known, treatment, reads).length };
    },
    (attempt) => attempt.hit >= 2,
    2_000,
  );
  const found = operation(result, 'read');
  expect(hit).toBeGreaterThanOrEqual(2);
  expect(count(found)).toBe(hit);
  expect(found.accepted).toBe(found.sent - hit);
  // All requests that the server saw, except requests before the schedule.
  const before = treated(record, 'answer', reads).length - found.accepted;
  expect(before).toBeLessThanOrEqual(hits.after);
  expect(result.ended).toBe('complete');
  const target = Math.ceil(0.99 * result.arrivals.intended);
  // A late generator determines the verdict instead. Either verdict means that the figures cannot
  // be trusted.
  const trusted = ['VALID', 'UNSTABLE'].includes(result.verdict);
  if (found.accepted < target) expect(trusted).toBe(false);
});

test.concurrent('counts: responses after the timeout are not accepted', async () => {
  const server = await knownServer({
    behaviours: [
      { ...hits, does: 'delay', fromMs: 5, toMs: 5 },
      { ...hits, every: 5, does: 'delay', fromMs: 15_000, toMs: 15_000 },
    ],
  });
  const found = operation(await load(server, { rate: 100, timeoutMs: 6_000 }), 'read');
  const { requests } = await server.record();
  const late = requests.filter(({ atMs, dueAtMs }) => dueAtMs - atMs > 14_900);
  expect(late.length).toBeGreaterThan(0);
  expect(found.timed_out).toBe(late.length);
  expect(found.accepted).toBe(found.sent - late.length);
  // The histogram is accurate to three digits.
  expect(found.service.max).toBeLessThan(6_002);
});

test.concurrent('counts: endless responses are abandoned and use no memory', async () => {
  const server = await knownServer({ behaviours: [{ ...hits, every: 20, does: 'pour' }] });
  const before = process.memoryUsage().rss;
  const found = operation(await load(server, { rate: 100, timeoutMs: 4_000 }), 'read');
  const poured = treated(await server.record(), 'pour', reads).length;
  expect(poured).toBeGreaterThanOrEqual(1);
  expect(found.timed_out + found.broken + found.lies).toBe(poured);
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test.concurrent('counts: nothing is accepted from a silent server', async () => {
  const server = await knownServer({ behaviours: [{ ...hits, does: 'keepSilent' }] });
  const result = await load(server, { rate: 100, durationMs: 1_000, timeoutMs: 500 });
  const found = operation(result, 'read');
  expect(found.accepted).toBeLessThanOrEqual(hits.after);
  expect(found.timed_out).toBe(found.sent - found.accepted);
  expect(['INVALID', 'CLIENT_BOUND']).toContain(result.verdict);
});
