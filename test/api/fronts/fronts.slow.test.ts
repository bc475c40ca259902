/** Front processes: killed under load, equal logs, shutdown. */
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { virtualClock } from 'folkmoot';
import { AgentClient, generateKeys } from 'folkmoot/client';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { fronts, insist } from '../../support/service/fronts.js';
import { raw, statusOf } from '../../support/service/raw.js';
import { serve, world } from '../../support/service/server.js';
import { agentOf, register, status } from '../../support/service/signer.js';
import { call } from '../../support/service/world.js';

test('fronts: lose no acknowledged write and no event when killed repeatedly', async () => {
  const path = temporaryFolder();
  const ended: string[] = [];
  const there = await world({
    path,
    transport: 'uws',
    limits: 'off',
    server: { fronts: 2, onFrontEnded: (error) => ended.push(error.message) },
  });
  const listener = new AgentClient({ url: there.url, keys: generateKeys() });
  await listener.register({ name: 'listener', personality: 'neutral', capabilities: ['producer'] });
  const events = listener.events(['network']);
  await events.opened;
  const seen: string[] = [];
  const agents = Array.from({ length: 300 }, (_, number) => agentOf(`agent ${number}`));
  const following = (async () => {
    for await (const { type, data } of events) {
      if (type === 'agent_status') seen.push(data.agent_id);
      if (seen.length === agents.length) return;
    }
  })();
  let kills = 0;
  const killing = (async () => {
    while (seen.length < agents.length) {
      const [victim] = fronts();
      if (victim !== undefined && kills < 6) {
        process.kill(victim, 'SIGKILL');
        kills += 1;
      }
      await pause(200);
    }
  })();
  const queue = [...agents];
  const worker = async () => {
    for (let one = queue.shift(); one; one = queue.shift()) {
      const answered = await insist(there.url, register(one, { name: 'someone' }));
      // 200 means that the response to an earlier attempt was lost.
      expect([200, 201]).toContain(answered);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await following;
  await killing;
  expect(kills).toBeGreaterThan(0);
  expect(ended).toHaveLength(kills);
  // Each event arrives once, in order.
  const ids = agents.map(({ agentId }) => agentId).sort();
  expect([...seen].sort()).toEqual(ids);
  await expect.poll(async () => (await there.get('/metrics')).text).toMatch(/^folkmoot_fronts 2$/m);
  const { text } = await there.get('/metrics');
  for (const name of ['cpu_seconds_total', 'resident_memory_bytes']) {
    expect(
      Number(new RegExp(`^folkmoot_fronts_${name} (\\d\\S*)$`, 'm').exec(text)?.[1]),
    ).toBeGreaterThan(0);
  }
  const restarts = Number(/^folkmoot_fronts_restarts_total (\d+)$/m.exec(text)?.[1]);
  // A front that is killed while starting is also restarted.
  expect(restarts).toBeGreaterThan(0);
  expect(restarts).toBeLessThanOrEqual(kills);
});

describe('fronts: the same requests in the same order', () => {
  async function digestWith(count: number): Promise<unknown> {
    const clock = virtualClock(START_MS);
    const there = await serve({
      transport: 'uws',
      clock,
      limits: 'off',
      server: { fronts: count },
    });
    const at = (ms: number) => new Date(START_MS + ms).toISOString();
    const answers: unknown[] = [];
    for (let number = 0; number < 20; number += 1) {
      const agent = agentOf(`agent ${number}`);
      const joined = await call(there.url, register(agent, { name: `no. ${number}` }, at(0)));
      const moved = status(agent, { status: 'inactive' }, agent.agentId, at(number + 1));
      const again = [await call(there.url, moved), await call(there.url, moved)];
      answers.push(...[joined, ...again].map(({ status, data }) => [status, data]));
    }
    const { seq, digest, log_digest } = there.network.read.position;
    await there.close();
    return { seq, digest, log_digest, answers };
  }

  test('give the same log and responses for any number of fronts', async () => {
    const alone = await digestWith(0);
    expect(await digestWith(1)).toEqual(alone);
    expect(await digestWith(2)).toEqual(alone);
  });
});

test('fronts: answer requests in flight on a stop, then exit', async () => {
  const there = await serve({ transport: 'uws', limits: 'off', server: { fronts: 2 } });
  expect(fronts()).toHaveLength(2);
  const agents = Array.from({ length: 40 }, (_, number) => agentOf(`agent ${number}`));
  const answers = agents.map((agent) => call(there.url, register(agent, { name: 'n' })));
  await expect.poll(() => there.network.applied).toBeGreaterThan(0);
  const applied = () => there.network.applied;
  await there.close();
  const statuses = (await Promise.allSettled(answers)).map((one) =>
    one.status === 'fulfilled' ? one.value.status : 'cut',
  );
  expect(statuses.filter((status) => status === 201)).toHaveLength(applied());
  expect(fronts()).toEqual([]);
});

test('fronts: refuse an address that opens too many connections', async () => {
  const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  for (const count of [1, 3]) {
    const server = { fronts: count, figures: { connections: 40 } };
    const there = await serve({ transport: 'uws', limits: 'spec', server });
    const begun = performance.now();
    const answers: string[] = [];
    for (let number = 0; number < 90; number += 1) answers.push(await raw(there.url, health));
    const elapsedMs = performance.now() - begun;
    const answered = answers.filter((text) => statusOf(text) === 200).length;
    expect(answered).toBeGreaterThanOrEqual(40);
    // Each front accepts one connection before it learns of the excess, four times a second.
    expect(answered).toBeLessThanOrEqual(40 + count * (1 + elapsedMs / 250));
    await there.close();
  }
});

test('fronts: reject a port in use and leave no process', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve);
  });
  const { port } = other.address() as { port: number };
  const begun = serve({ transport: 'uws', server: { fronts: 1, port } });
  await expect(begun).rejects.toMatchObject({ problem: 'EADDRINUSE' });
  other.close();
  expect(fronts()).toEqual([]);
});

test('fronts: reject the transport node', async () => {
  const begun = serve({ transport: 'node', server: { fronts: 1 } });
  await expect(begun).rejects.toMatchObject({ problem: 'FRONTS_NEED_UWS' });
});
