/** `folkmoot serve` as a process: output, persistence and errors. */
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { host } from '../../support/host.js';
import { replayHere, suiteFolder } from '../../support/runs.js';
import { abandon } from '../../support/service/raw.js';
import { transports } from '../../support/service/server.js';
import { agentOf, meme, type Request, register, status } from '../../support/service/signer.js';
import { World } from '../../support/service/world.js';

const folder = suiteFolder();
/** Starts a server on a free port and waits for its first line. */
async function start(name: string, args: string[] = [], env = {}) {
  const options = ['--limits', 'bench', ...args];
  const server = await host({ data: join(folder, name), args: options, env });
  const stop = async (by: NodeJS.Signals = 'SIGTERM') => (await server.kill(by)).code;
  const first = JSON.parse(server.stdout().split('\n', 1)[0]!) as Record<string, string>;
  return { ...server, stop, first, world: new World(server) };
}

const serve = (name: string, ...args: string[]) =>
  folkmoot(['serve', '--data', join(folder, name), ...args]);

test.each(transports)('serve: prints, serves and stops, %s', async (transport) => {
  const name = `first-${transport}`;
  const server = await start(name, ['--transport', transport, '--network-id', 'mine']);
  expect(server.first).toEqual({
    ...{ event: 'listening', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    ws_url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/ws\/v1$/),
    ...{ page_url: `${server.url}/ui/`, network_id: 'mine' },
  });
  const { world } = server;
  for (const path of ['/healthz', '/readyz']) {
    expect((await world.get(path)).data).toEqual({ status: 'ok' });
  }
  const ada = await world.join('Ada');
  const live = await world.listen(ada, ['network']);
  const metrics = await world.get('/metrics');
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(metrics.text).toMatch(/^folkmoot_ws_connections 1$/m);
  const counted = /^folkmoot_http_requests_total\{route="\/api\/v1\/agents\/register",.*\} 1$/m;
  expect(metrics.text).toMatch(counted);
  expect([(await world.read('/api/v1/meta')).durable, await server.stop()]).toEqual([true, 0]);
  expect((await live.closed).code).toBe(1001);
  expect(server.stdout().split('\n')).toHaveLength(2);
});

test('serve: reads options from the environment; a flag takes precedence', async () => {
  const env = {
    FOLKMOOT_NETWORK_ID: 'from-env',
    FOLKMOOT_POLICY: 'majority',
    FOLKMOOT_WEIGHTS: 'reputation',
    FOLKMOOT_VOTING_PERIOD_MS: '1234',
    FOLKMOOT_MIN_VALIDATORS: '2',
    FOLKMOOT_LIMITS: 'off',
    FOLKMOOT_CORS: 'https://a.example',
    FOLKMOOT_LOG_LEVEL: 'silent',
    FOLKMOOT_TRANSPORT: 'node',
    FOLKMOOT_VERIFY_THREADS: '3',
  };
  const server = await start('environment', ['--limits', 'spec'], env);
  expect(await server.world.read('/api/v1/meta')).toMatchObject({
    ...{ network_id: 'from-env', policy: 'majority', weights: 'reputation' },
    ...{ voting_period_ms: 1234, min_validators: 2, limits: { profile: 'spec' } },
  });
  const metrics = (await server.world.get('/metrics')).text;
  expect(metrics).toMatch(/^folkmoot_verify_threads_limit 3$/m);
  const Origin = 'https://a.example';
  const { headers } = await fetch(`${server.url}/healthz`, { headers: { Origin } });
  expect(headers.get('access-control-allow-origin')).toBe('https://a.example');
  expect([await server.stop('SIGINT'), server.stderr()]).toEqual([0, '']);
});

test.each(transports)('serve: SIGTERM under load loses no answer, %s', async (transport) => {
  const name = `work-${transport}`;
  const server = await start(name, ['--transport', transport]);
  const { world } = server;
  const answered: string[] = [];
  // Eight clients send requests until the server stops.
  const client = async (number: number) => {
    for (let count = 0; ; count += 1) {
      const agent = agentOf(`${number}-${count}`);
      const answer = await world.send(register(agent)).catch(() => null);
      if (answer?.status !== 201) return;
      answered.push(agent.agentId);
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
  await expect.poll(() => answered.length).toBeGreaterThan(50);
  const before = answered.length;
  expect(await server.stop()).toBe(0);
  await clients;
  // Pending requests receive responses. New requests do not delay shutdown.
  expect(answered.length - before).toBeLessThan(1_000);
  const replayed = await replayHere(join(folder, name));
  expect(replayed).toMatchObject({ match: true, first_divergence: null });
  const again = await start(name, ['--transport', transport]);
  const { validators } = await again.world.read('/api/v1/network/agents');
  const ids = new Set((validators as { id: string }[]).map(({ id }) => id));
  expect(answered.filter((id) => !ids.has(id))).toEqual([]);
  expect(replayed.entries).toBe(ids.size + 1);
  expect(await again.stop()).toBe(0);
});

test.each(transports)('serve: malformed bytes do not end the process, %s', async (transport) => {
  const server = await start(`wrong-${transport}`, ['--transport', transport]);
  const ada = await server.world.join('Ada');
  const { url } = server;
  const form = meme(ada, { file: 'Hello', caption: 'A' });
  const cut = (most: number): Request => ({ ...form, body: form.body.slice(0, most) });
  for (let most = 1; most < form.body.length; most += 11) {
    await server.world.send(cut(most)).catch(() => null);
  }
  const head =
    'POST /api/v1/agents/register HTTP/1.1\r\nHost: localhost\r\n' +
    'Content-Type: application/json\r\n';
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  await abandon(url, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}`);
  await abandon(url, `${head}Content-Length: 999999999\r\n\r\n{`);
  await abandon(url, `${head}Content-Length: 100\r\n\r\n{`);
  expect([(await server.world.get('/healthz')).status, await server.stop()]).toEqual([200, 0]);
  expect(server.stderr()).not.toContain('Error');
});

test('serve: a new folder gets a random network id and keeps it', async () => {
  const first = await start('drawn');
  const { network_id } = first.first;
  expect(network_id).toMatch(/^devnet-[a-z2-7]{10}$/);
  expect(await first.world.read('/api/v1/meta')).toMatchObject({ network_id });
  expect(await first.stop()).toBe(0);
  const again = await start('drawn');
  expect(again.first.network_id).toBe(network_id);
  expect(await again.stop()).toBe(0);
  const named = await start('drawn', ['--network-id', network_id!]);
  expect(await named.stop()).toBe(0);
  const other = await start('drawn-too');
  expect(other.first.network_id).not.toBe(network_id);
  expect(await other.stop()).toBe(0);
});

test('serve: continues after a restart with the same epoch', async () => {
  const first = await start('goes-on');
  const ada = await first.world.join('Ada');
  await first.world.do(status(ada, { status: 'maintenance' }), 200);
  const before = await first.world.read('/api/v1/meta');
  expect(await first.stop()).toBe(0);
  const second = await start('goes-on');
  expect(await second.world.read('/api/v1/meta')).toEqual(before);
  expect((await second.world.read(`/api/v1/agents/${ada.agentId}`)).status).toBe('maintenance');
  expect(await second.stop()).toBe(0);
});

test.each(transports)('serve: a port of another server counts as in use, %s', async (transport) => {
  const server = await start(`holds-${transport}`, ['--transport', transport]);
  const { port } = new URL(server.url);
  const ended = await folkmoot([
    ...['serve', '--data', join(folder, `wants-${transport}`), '--port', port, '--transport'],
    transport,
  ]);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expectOneLine(ended);
  expect(await server.stop()).toBe(0);
});

test('serve: a locked folder exits with code 13, another network with 2', async () => {
  const server = await start('locked');
  const locked = await serve('locked', '--port', '0');
  expect([locked.code, locked.stdout]).toEqual([13, '']);
  expectOneLine(locked);
  expect(await server.stop()).toBe(0);
  const other = await serve('locked', '--port', '0', '--network-id', 'other');
  expect([other.code, other.stdout]).toEqual([2, '']);
  expectOneLine(other);
});
