/** Payload of a queue, and workers that refuse it. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folkmoot } from '../../../support/cli.js';
import { expectOneLine } from '../../../support/command.js';
import { etcd, etcdClient, hasEtcd } from '../../../support/etcd.js';
import { freePort, temporaryFolder } from '../../../support/fixture.js';
import { expectSame, sweepIn } from '../folders.js';
import { scripted, smallRaw, writeScenario } from '../scenarios.js';
import { done, firstOf, queued, worker } from './queued.js';

const sweep = { factors: [{ path: 'links.loss', values: [0, 0.2] }], replicates: 2 };

/** A sweep whose agents run a script. */
function withScript(folder: string, body: string, head = ''): string {
  const { agents } = scripted(folder, body, 'script.mjs', head);
  return writeScenario(folder, { ...smallRaw(), agents, sweep });
}

const approve = "return { do: 'vote', decision: 'approve' };";

describe.skipIf(!hasEtcd)('sweep --queue, payload (needs etcd-server)', () => {
  test('queue: carries scripts and data; runs scripts only with --scripts', async () => {
    const running = await etcd();
    const folder = temporaryFolder();
    const { agents } = scripted(folder, approve);
    writeFileSync(join(folder, 'measured.csv'), '10\n20\n80\n');
    const links = { latency: { distribution: 'empirical', file: 'measured.csv' } };
    const file = writeScenario(folder, { ...smallRaw(), agents, links, sweep });
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    const local = await sweepIn(file, alone);
    expect(local.code, local.stderr).toBe(0);
    const sweeping = queued(file, out, running.url);
    const careful = worker(running.url);
    await careful.printed(/queue \S+ refused: .*--scripts/);
    await sweeping.printed(/queue: a worker declined the queue: .*it has scripts/);
    worker(running.url, '--scripts');
    await done(sweeping);
    expectSame(alone, out);
    await careful.stop();
  });

  test('queue: handles a script that throws as a local sweep does', async () => {
    const running = await etcd();
    const folder = temporaryFolder();
    const file = withScript(folder, "throw new Error('not today');");
    worker(running.url, '--scripts');
    const sweeping = queued(file, join(folder, 'stopped'), running.url);
    expect((await sweeping.ended).code, sweeping.stderr()).toBe(2);
    expect(sweeping.stderr()).toMatch(/failed, .*: .*not today/);
    const [alone, out] = [join(folder, 'alone'), join(folder, 'out')];
    await sweepIn(file, alone, '--on-error', 'continue');
    const going = queued(file, out, running.url, '--on-error', 'continue');
    expect((await going.ended).code, going.stderr()).toBe(2);
    expectSame(alone, out);
  });

  test('queue: refuses to keep logs, before the first run', async () => {
    const running = await etcd();
    const folder = temporaryFolder();
    const file = writeScenario(folder, { ...smallRaw(), sweep });
    const out = join(folder, 'out');
    const refused = await folkmoot(['sweep', file, '--out', out, '--keep', '--queue', running.url]);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toMatch(/\nfolkmoot: .*--keep.*\n$/);
    expect(existsSync(out)).toBe(false);
  });

  test('queue: refuses relative imports and external deciders', async () => {
    const running = await etcd();
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'other.mjs'), 'export const mood = 1;\n');
    const file = withScript(folder, approve, "import { mood } from './other.mjs'; String(mood);");
    const refused = await folkmoot([
      ...['sweep', file, '--out', join(folder, 'a'), '--queue', running.url],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/\nfolkmoot: .* imports \.\/other\.mjs; .*--shard i\/n\n$/);
    const minds = { kind: 'http', url: 'http://127.0.0.1:9/' };
    const agents = [{ ...smallRaw().agents[0], strategy: minds }];
    const asking = writeScenario(folder, { ...smallRaw(), agents, sweep }, 'asking.yaml');
    const out = join(folder, 'b');
    const asked = await folkmoot(['sweep', asking, '--out', out, '--queue', running.url]);
    expect(asked.code, asked.stderr).toBe(2);
    expect(asked.stderr).toMatch(/\nfolkmoot: .*--queue/);
  });

  test('queue: refuses another version, commit or Node, on both sides', async () => {
    const running = await etcd();
    const client = etcdClient(running);
    const folder = temporaryFolder();
    const file = writeScenario(folder, { ...smallRaw(), sweep });
    const sweeping = queued(file, join(folder, 'out'), running.url);
    const id = await firstOf(client, 'head');
    const head = JSON.parse((await client.get(`folkmoot/queue/head/${id}`))!.value.toString());
    const others = { version: '9.9.9', commit: 'f'.repeat(40), node: 'v99.0.0' };
    for (const [name, value] of Object.entries(others)) {
      const made = { ...head.made, [name]: value };
      await client.put(`folkmoot/queue/head/${name}`, JSON.stringify({ ...head, made }));
    }
    const one = worker(running.url);
    for (const [name, value] of Object.entries(others)) {
      await one.printed(new RegExp(`queue ${name} refused: .* ${name} is "${value}" there`));
      const key = await firstOf(client, `worker/${name}`);
      const told = (await client.get(`folkmoot/queue/worker/${name}/${key}`))!.value.toString();
      expect(JSON.parse(told).refused).toContain(`build: ${name} is "${value}" there`);
    }
    await done(sweeping);
  });

  test('queue: reports connection and option errors in one line', async () => {
    const folder = temporaryFolder();
    const file = writeScenario(folder, { ...smallRaw(), sweep });
    const url = `etcd://127.0.0.1:${await freePort()}`;
    const out = join(folder, 'out');
    const gone = await folkmoot(['worker', '--queue', url]);
    expect(gone.code).toBe(1);
    expectOneLine(gone);
    expect(gone.stderr).toContain('ECONNREFUSED');
    const sweeping = await folkmoot(['sweep', file, '--out', out, '--queue', url]);
    expect(sweeping.code).toBe(1);
    expectOneLine(sweeping, 1);
    for (const [address, ...more] of [
      ['http://127.0.0.1:1'],
      ['etcd://'],
      [url, '--queue-cert', file],
      [url, '--queue-ca', join(folder, 'none.pem')],
    ] as const) {
      const refused = await folkmoot(['worker', '--queue', address, ...more]);
      expect(refused.code).toBe(2);
      expectOneLine(refused);
    }
    expect(existsSync(out)).toBe(false);
  });

  test('queue: gives the same swarm result as a local run', async () => {
    const running = await etcd();
    worker(running.url);
    const local = await folkmoot(['swarm', '--seeds', '12', '--jobs', '1', '--json']);
    const spread = await folkmoot(['swarm', '--seeds', '12', '--queue', running.url, '--json']);
    expect(spread.code, spread.stderr).toBe(0);
    expect(JSON.parse(spread.stdout)).toEqual(JSON.parse(local.stdout));
  });
});
