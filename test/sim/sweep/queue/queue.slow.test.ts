/** Sweeps with workers that join, crash, stop and continue produce the bytes of a local sweep. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { etcd, hasEtcd } from '../../../support/etcd.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { suiteFolder } from '../../../support/runs.js';
import { expectSame, runsIn, sweepIn } from '../folders.js';
import { smallRaw, writeScenario } from '../scenarios.js';
import {
  claimWithoutWorker,
  done,
  firstOf,
  keysOf,
  neverEnds,
  queued,
  startQueue,
  stoppedWithClaim,
  worker,
} from './queued.js';

const around = suiteFolder();
/** Runs long enough to be interrupted. */
const raw = { ...smallRaw(40), length: { blocks: 12 } };
const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 4 };
const RUNS = 12;
const file = writeScenario(around, { ...raw, sweep });
const alone = join(around, 'alone');

beforeAll(async () => {
  if (hasEtcd) expect((await sweepIn(file, alone)).code).toBe(0);
});

describe.skipIf(!hasEtcd)('sweep --queue (needs etcd-server)', () => {
  test('queue: works with early and late workers, and survives the loss of a member', async () => {
    const running = await etcd({ members: 3 });
    const out = join(temporaryFolder(), 'out');
    const first = worker(running.url);
    await first.printed(/^folkmoot worker: 1 runs /m);
    const sweeping = queued(file, out, running.url);
    await sweeping.printed(/queue: 1 workers, 1 /);
    const second = worker(running.url);
    await expect.poll(() => existsSync(join(out, 'runs')) && runsIn(out)).toBeGreaterThan(1);
    await (await running.leader()).signal('SIGKILL');
    await done(sweeping);
    expectSame(alone, out);
    expect(first.stderr()).toMatch(/\nqueue [0-9a-f]{16}: sweep: a small town\n/);
    expect(sweeping.stderr()).toContain(`by workers of ${running.url}, in ${out}`);
    expect(sweeping.stderr()).toContain(`${RUNS}/${RUNS} runs`);
    // Idle workers wait for the next sweep until they are stopped.
    for (const one of [first, second]) {
      expect(await one.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
    }
    const stored = [first, second].map((one) => Number(/^(\d+) runs/.exec(one.stdout())?.[1]));
    // If a response was lost with the leader, no worker or both may have counted a result.
    for (const one of stored) expect(one).toBeLessThanOrEqual(RUNS);
  });

  test('queue: discards late results, and survives a killed worker', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    const stopped = worker(running.url);
    const claim = await stoppedWithClaim(client, stopped);
    await expect.poll(() => keysOf(client, 'claim')).not.toContain(claim);
    const killed = worker(running.url);
    await firstOf(client, 'claim');
    await killed.stop('SIGKILL');
    stopped.child.kill('SIGCONT');
    await Promise.race([done(sweeping), neverEnds(stopped)]);
    expectSame(alone, out);
    await expect.poll(() => stopped.stderr()).toMatch(/run \d+ discarded/);
  });

  test('queue: releases the runs of a worker on SIGINT', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    const leaving = worker(running.url, '--lease-seconds', '3600');
    await firstOf(client, 'claim');
    await leaving.stop('SIGINT');
    expect(await keysOf(client, 'claim')).toEqual([]);
    const staying = worker(running.url);
    await done(sweeping);
    expectSame(alone, out);
    await expect.poll(async () => (await client.range({ prefix: 'folkmoot/' })).count).toBe(0);
    await staying.stop('SIGTERM');
  });

  test.each(['SIGINT', 'SIGKILL'] as const)('queue: resumes a sweep after %s', async (signal) => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    await claimWithoutWorker(client);
    worker(running.url);
    await expect.poll(() => existsSync(join(out, 'runs')) && runsIn(out)).toBeGreaterThan(1);
    expect(await sweeping.stop(signal)).toEqual({ code: null, signal });
    expect(runsIn(out)).toBeLessThan(RUNS);
    if (signal === 'SIGINT') {
      expect(sweeping.stderr()).toMatch(/interrupted; .*--resume.*\n$/);
      expect(await keysOf(client, 'head')).toEqual([]);
    }
    await done(queued(file, out, running.url, '--resume'));
    expectSame(alone, out);
  });

  test('queue: waits for etcd and continues', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    const claim = await claimWithoutWorker(client);
    worker(running.url);
    await expect.poll(() => existsSync(join(out, 'runs')) && runsIn(out)).toBeGreaterThan(1);
    const [member] = running.members;
    await member!.signal('SIGKILL');
    expect(runsIn(out)).toBeLessThan(RUNS);
    member!.restart();
    await expect.poll(() => client.delete(claim).catch(() => 0)).toBe(1);
    await done(sweeping);
    expectSame(alone, out);
  });

  test('queue: offers unfinished runs again after etcd lost the queue', async () => {
    const { running, client, out } = await startQueue();
    const sweeping = queued(file, out, running.url);
    await claimWithoutWorker(client);
    worker(running.url);
    await expect.poll(() => existsSync(join(out, 'runs')) && runsIn(out)).toBeGreaterThan(1);
    const head = await firstOf(client, 'head');
    await client.revokeLease((await client.get(`folkmoot/queue/head/${head}`))!.lease);
    expect(runsIn(out)).toBeLessThan(RUNS);
    await done(sweeping);
    expect(sweeping.stderr()).toMatch(/etcd lost the queue/);
    expectSame(alone, out);
  });

  test('queue: adds runs in rounds until the interval is narrow', async () => {
    const running = await etcd();
    const folder = temporaryFolder();
    const factors = [{ path: 'links.loss', values: [0, 0.3] }];
    const small = writeScenario(folder, { ...smallRaw(), sweep: { factors } });
    const until = ['--until-interval', '1%', '--most-replicates', '14'];
    const [local, out] = [join(folder, 'local'), join(folder, 'out')];
    expect((await sweepIn(small, local, ...until)).code).toBe(0);
    worker(running.url, '--jobs', '2');
    await done(queued(small, out, running.url, ...until));
    expectSame(local, out);
  });
});
