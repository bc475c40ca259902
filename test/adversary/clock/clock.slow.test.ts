/**
 * A wall clock that is shifted by an hour in either direction, while a server runs and between two
 * runs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../support/fixture.js';
import { type Host, host, stop } from '../../support/host.js';
import { connect } from '../../support/service/live.js';
import { agentOf, propose, register, status } from '../../support/service/signer.js';
import { call, GENESIS_HASH, get } from '../../support/service/world.js';

const HOUR_MS = 3_600_000;
const ada = agentOf('of the clock');
const nodeArgs = ['--import', fileURLToPath(new URL('./set-clock.mjs', import.meta.url))];

interface Options {
  limits?: string;
  periodMs?: number;
  offsetMs?: number;
  data?: string;
}

function server({ limits = 'off', periodMs = 500, offsetMs = 0, data }: Options = {}) {
  const args = ['--limits', limits, '--voting-period-ms', `${periodMs}`];
  const env = { FOLKMOOT_TEST_CLOCK_MS: `${offsetMs}` };
  return host({ data: data ?? temporaryFolder(), args, env, nodeArgs });
}

/** Returns a timestamp from a client with a correct clock, or with the server's offset. */
const at = (offsetMs = 0) => new Date(Date.now() + offsetMs).toISOString();

async function block(from: Host, offsetMs = 0): Promise<string> {
  const { head_hash } = (await get(from.url, '/api/v1/network/state')).data;
  const request = propose(ada, { parent_hash: head_hash ?? GENESIS_HASH }, at(offsetMs));
  const { data, text } = await call(from.url, request);
  expect(data, text).toHaveProperty('block_hash');
  return String(data.block_hash);
}

/**
 * Waits for the deadline without a separate timeout, so that a deadline an hour late fails the
 * test.
 */
async function expired(from: Host, hash: string): Promise<void> {
  for (;;) {
    const { data } = await get(from.url, `/api/v1/blocks/${hash}`);
    if (data.status === 'expired') return;
    expect(data.status).toBe('voting');
    await sleep(50);
  }
}

/** Parses the header RateLimit. */
async function readLimit(from: Host): Promise<{ left: number; seconds: number }> {
  const { headers } = await get(from.url, '/api/v1/network/state');
  const [, left, seconds] = /r=(\d+);t=(\d+)/.exec(headers.get('ratelimit')!)!;
  return { left: Number(left), seconds: Number(seconds) };
}

/** Returns the engine time of the last event. */
async function lastTold(from: Host): Promise<number> {
  const { events } = (await get(from.url, '/api/v1/events?limit=1000')).data;
  const { data } = (events as { data: { timestamp: string } }[]).at(-1)!;
  return Date.parse(data.timestamp);
}

describe.each([
  ['ahead', HOUR_MS],
  ['back', -HOUR_MS],
])('clock: set an hour %s', (_, jumpMs) => {
  test('while serving: deadlines and `at` are unaffected', async () => {
    const one = await server();
    await call(one.url, register(ada));
    const before = await block(one);
    expect(await one.ask(`${jumpMs}`)).toBe(jumpMs);
    await expired(one, before);
    const told = await lastTold(one);
    expect(Math.abs(told - Date.now())).toBeLessThan(HOUR_MS / 2);
    await expired(one, await block(one, jumpMs));
    expect(await lastTold(one)).toBeGreaterThan(told);
    await stop(one);
  });

  test('while serving: freshness follows the wall clock, and refusals show the time', async () => {
    const one = await server();
    await call(one.url, register(ada));
    await one.ask(`${jumpMs}`);
    const stale = await call(one.url, status(ada, { status: 'inactive' }, ada.agentId, at()));
    expect(stale.error.details.reason).toBe('TIMESTAMP_SKEW');
    const { server_time, skew_ms } = stale.error.details as {
      server_time: string;
      skew_ms: number;
    };
    expect(Math.abs(Date.parse(server_time) - Date.now() - jumpMs)).toBeLessThan(HOUR_MS / 2);
    expect(Math.sign(skew_ms)).toBe(-Math.sign(jumpMs));
    const fresh = status(ada, { status: 'inactive' }, ada.agentId, at(jumpMs));
    expect((await call(one.url, fresh)).status).toBe(200);
    await stop(one);
  });

  test('while serving: limits neither forget uses nor lock out clients', async () => {
    const one = await server({ limits: 'spec' });
    for (let times = 0; times < 20; times += 1) await readLimit(one);
    const before = await readLimit(one);
    await one.ask(`${jumpMs}`);
    const after = await readLimit(one);
    // This holds unless the machine was so busy that a minute has passed.
    expect(after.left).toBeLessThan(before.left);
    expect(after.seconds).toBeLessThanOrEqual(60);
    await stop(one);
  });

  test("while serving: the jump does not renew a connection's message limit", async () => {
    const one = await server({ limits: 'bench' });
    await call(one.url, register(ada));
    const live = await connect(one.wsUrl);
    await live.auth(ada);
    for (let id = 1; id < 100; id += 1) live.send({ type: 'ping', id });
    for (let id = 1; id < 100; id += 1) expect(await live.next()).toMatchObject({ type: 'pong' });
    await one.ask(`${jumpMs}`);
    live.send({ type: 'ping', id: 100 });
    expect(await live.next()).toMatchObject({ type: 'error', error: { code: 'RATE_LIMITED' } });
    await stop(one);
  });

  test('between two runs: a block is in voting for exactly its period', async () => {
    const data = temporaryFolder();
    const offsetMs = Math.max(0, -jumpMs);
    const one = await server({ data, offsetMs });
    await call(one.url, register(ada, {}, at(offsetMs)));
    const before = await block(one, offsetMs);
    await stop(one);
    const next = await server({ data, offsetMs: offsetMs + jumpMs });
    await expired(next, before);
    await expired(next, await block(next, offsetMs + jumpMs));
    await stop(next);
  });
});
