/** `folkmoot serve` as a process: output, persistence and errors. */
import { join } from 'node:path';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { host } from '../../support/host.js';
import { suiteFolder } from '../../support/runs.js';
import { transports } from '../../support/service/server.js';
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
  const live = await world.listen(await world.join('Ada'), ['network']);
  const metrics = await world.get('/metrics');
  expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(metrics.text).toMatch(/^folkmoot_ws_connections 1$/m);
  const counted = /^folkmoot_http_requests_total\{route="\/api\/v1\/agents\/register",.*\} 1$/m;
  expect(metrics.text).toMatch(counted);
  expect([(await world.read('/api/v1/meta')).durable, await server.stop()]).toEqual([true, 0]);
  expect((await live.closed).code).toBe(1001);
  expect(server.stdout().split('\n')).toHaveLength(2);
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

test.each(transports)('serve: a port of another server counts as in use, %s', async (transport) => {
  const server = await start(`holds-${transport}`, ['--transport', transport]);
  const { port } = new URL(server.url);
  const ended = await folkmoot([
    ...['serve', '--data', join(folder, `wants-${transport}`), '--port', port, '--transport'],
    transport,
  ]);
  expect([ended.code, ended.stdout]).toEqual([1, '']);
  expectOneLine(ended);
  expect(ended.stderr).toContain(`127.0.0.1:${port}`);
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
