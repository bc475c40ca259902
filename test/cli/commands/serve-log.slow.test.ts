/** Log output from `serve` at `debug` and `trace`, and listening errors. */
import { join } from 'node:path';
import { agentOf } from '../../client/helpers.js';
import { folkmoot } from '../../support/cli.js';
import { expectOneLine } from '../../support/command.js';
import { host, stop } from '../../support/host.js';
import { linesOf, suiteFolder } from '../../support/runs.js';
import { transports } from '../../support/service/server.js';

const folder = suiteFolder();
interface Line {
  level: number;
  msg: string;
  [member: string]: unknown;
}

/** Serves with these options, and returns the log after shutdown. */
async function logged(options: readonly string[], work: (url: string) => Promise<unknown>) {
  const server = await host({ args: ['--limits', 'bench', ...options] });
  await work(server.url);
  await stop(server);
  return linesOf(server.stderr()).map((line) => JSON.parse(line) as Line);
}

async function work(url: string): Promise<void> {
  const ada = await agentOf(url);
  const { block_hash } = await ada.propose();
  await ada.vote({ block_hash, decision: 'approve' });
  await ada.block('0'.repeat(64)).catch(() => null);
  await fetch(`${url}/%1b]0;owned%07`);
}

describe.each(transports)('serve --log-level over %s:', (transport) => {
  const options = (level: string) => {
    const data = join(folder, `${level}-${transport}`);
    return ['--transport', transport, '--data', data, '--log-level', level];
  };

  test('debug logs each request, refusal and block', async () => {
    const lines = await logged(options('debug'), work);
    const of = (msg: string) => lines.filter((line) => line.msg === msg);
    expect(of('request')).toContainEqual(
      expect.objectContaining({ method: 'POST', target: '/api/v1/consensus/vote', status: 201 }),
    );
    const [refused, ...more] = of('refused');
    expect(refused).toMatchObject({
      ...{ level: 20, method: 'GET', target: `/api/v1/blocks/${'0'.repeat(64)}`, status: 404 },
      ...{ address: '127.0.0.1', request_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      ...{ reason: 'UNKNOWN_BLOCK', why: expect.stringContaining('0'.repeat(64)) },
    });
    expect(more).toMatchObject([{ reason: 'UNKNOWN_ROUTE' }]);
    expect(of('block proposed')).toMatchObject([{ height: 1 }]);
    expect(of('block finalized')).toMatchObject([{ height: 1, status: 'finalized' }]);
    expect(lines.filter((line) => 'ms' in line)).toEqual([]);
  });

  test('trace adds durations; info logs only the start and the stop', async () => {
    const traced = await logged(options('trace'), work);
    const requests = traced.filter(({ msg }) => msg === 'request' || msg === 'refused');
    expect(requests.length).toBeGreaterThan(4);
    for (const { ms } of requests) expect(ms).toEqual(expect.any(Number));
    const ordinary = await logged(options('info'), work);
    expect(ordinary.map(({ msg }) => msg)).toEqual(['listening', 'stopping']);
    expect(ordinary[0]).toMatchObject({ transport, limits: 'bench', folder: expect.any(String) });
  });

  test('GET / redirects to /docs, and returns JSON for Accept: application/json', async () => {
    await logged(options('warn').slice(0, -2), async (url) => {
      const page = await fetch(url, { redirect: 'manual' });
      expect([page.status, page.headers.get('location')]).toEqual([302, '/docs']);
      const index = (await page.json()) as { data: Record<string, string> };
      const json = await fetch(url, { headers: { Accept: 'application/json' } });
      expect([json.status, await json.json()]).toEqual([200, index]);
      for (const [name, path] of Object.entries(index.data)) {
        const { status } = await fetch(`${url}${path}`);
        expect(status, name).toBe(name === 'events' ? 426 : 200);
      }
    });
  });

  test.each([
    ['an address of another machine', '203.0.113.7'],
    ['an unknown host name', 'nowhere.invalid'],
  ])('--host: %s is named in the error, exit code 1', async (_, name) => {
    const data = ['--data', join(folder, `host-${transport}`)];
    const args = ['serve', '--port', '0', '--host', name, '--transport', transport, ...data];
    const ended = await folkmoot(args);
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expectOneLine(ended);
    expect(ended.stderr).toContain(name);
  });
});
