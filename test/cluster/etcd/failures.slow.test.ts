/** The etcd client when members die, stall, return, or never existed. */
import { createServer } from 'node:net';
import { EtcdClient } from '../../../dist/cluster/etcd/client.js';
import { EtcdError } from '../../../dist/cluster/etcd/wire.js';
import { etcd, etcdClient, hasEtcd, type TestEtcd } from '../../support/etcd.js';
import { freePort } from '../../support/fixture.js';

/** Increments a counter under a condition, so that a write with an unknown outcome is detected. */
async function count(client: EtcdClient, from: number, most: number): Promise<void> {
  for (let next = from; next <= most; next += 1) {
    for (;;) {
      try {
        const at = await client.get('count');
        if (at?.version === next) break;
        expect(at?.version ?? 0).toBe(next - 1);
        const done = await client.transact({
          if: [{ key: 'count', is: '=', version: next - 1 }],
          do: [{ put: 'count', value: String(next) }],
        });
        if (done.succeeded) break;
      } catch (error) {
        expect(error).toMatchObject({ kind: 'unavailable' });
      }
    }
  }
}

/** Follows `count` over several watches, and yields each version once. */
async function follow(client: EtcdClient, most: number, onCut: () => void): Promise<number[]> {
  const seen: number[] = [];
  let from = 1;
  while (seen.length < most) {
    try {
      for await (const { events } of client.watch('count', { from })) {
        for (const { version, modRevision } of events) {
          if (modRevision < from) continue;
          seen.push(version);
          from = modRevision + 1;
        }
        if (seen.length >= most) return seen;
      }
    } catch (error) {
      expect(error).toMatchObject({ kind: 'unavailable' });
      onCut();
    }
  }
  return seen;
}

const upTo = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

/** Increments the counter during and after a fault. */
async function counted(running: TestEtcd, happens: () => Promise<void>): Promise<number> {
  const client = etcdClient(running, { callMs: 2_000 });
  let cuts = 0;
  const following = follow(client, 60, () => {
    cuts += 1;
  });
  await count(client, 1, 20);
  await happens();
  await count(client, 21, 60);
  expect(await following).toEqual(upTo(60));
  return cuts;
}

describe.skipIf(!hasEtcd)('etcd client, failures (needs etcd-server)', () => {
  test('etcd: loses and repeats no write when the leader is killed and returns', async () => {
    const running = await etcd({ members: 3 });
    await counted(running, async () => {
      const leader = await running.leader();
      await leader.signal('SIGKILL');
      onTestFinished(() => leader.restart());
    });
  });

  test('etcd: loses and repeats no write when the member in use stalls silently', async () => {
    const running = await etcd({ members: 3 });
    const [first] = running.members;
    const cuts = await counted(running, () => first!.signal('SIGSTOP'));
    // The first watch starts at the first member.
    expect(cuts).toBeGreaterThan(0);
    await first!.signal('SIGCONT');
  });

  test('etcd: loses and repeats no write when the leader stalls', async () => {
    const running = await etcd({ members: 3 });
    await counted(running, async () => (await running.leader()).signal('SIGSTOP'));
  });

  test('etcd: a write without any member is not done; calls recover with the members', async () => {
    const running = await etcd({ members: 3 });
    const client = etcdClient(running);
    await client.put('count', '1');
    for (const member of running.members) await member.signal('SIGKILL');
    // The client notices a broken connection before using it, or when writing to it.
    await expect
      .poll(() => client.put('lost', '').catch((error: EtcdError) => error.outcome))
      .toBe('not_done');
    const status = await client.status();
    expect(status.map(({ problem }) => problem)).toEqual(
      running.endpoints.map((endpoint) => expect.stringContaining(`etcd at ${endpoint}: `)),
    );
    for (const member of running.members) member.restart();
    await expect.poll(() => client.get('count').catch(() => null)).toMatchObject({ version: 1 });
    expect(await client.get('lost')).toBe(null);
  });

  test('etcd: writes fail as unavailable without a quorum', async () => {
    const running = await etcd({ members: 3 });
    const client = etcdClient(running, { callMs: 2_000 });
    const [, second, third] = running.members;
    await second!.signal('SIGKILL');
    await third!.signal('SIGKILL');
    const put = () => client.put('k', '').catch((error) => error);
    expect(await put()).toMatchObject({ kind: 'unavailable' });
    await expect.poll(() => put()).toMatchObject({ kind: 'unavailable', outcome: 'not_done' });
    // A serializable read still works on the remaining member.
    expect(await client.range('k', { serializable: true })).toMatchObject({ count: 0 });
  });

  test('etcd: calls are unavailable at a missing, unknown or silent server', async () => {
    const absent = new EtcdClient({ endpoints: [`127.0.0.1:${await freePort()}`] });
    const gone = await absent.get('k').catch((error) => error);
    expect(gone).toBeInstanceOf(EtcdError);
    expect(gone).toMatchObject({ kind: 'unavailable', outcome: 'not_done' });
    expect(gone.message).toContain('ECONNREFUSED');
    absent.close();
    const unnamed = new EtcdClient({ endpoints: ['no-such-host.invalid:2379'] });
    const unknown = await unnamed.put('k', '').catch((error) => error);
    expect(unknown).toMatchObject({ kind: 'unavailable', outcome: 'not_done' });
    expect(unknown.message).toMatch(/no-such-host\.invalid:2379: Name resolution failed/);
    unnamed.close();
    const mute = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void mute.close());
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as { port: number };
    const waits = new EtcdClient({ endpoints: [`127.0.0.1:${port}`], connectMs: 300, callMs: 300 });
    onTestFinished(() => waits.close());
    expect(await waits.put('k', '').catch((error) => error)).toMatchObject({ kind: 'unavailable' });
    const watched = waits.watch('k').next();
    expect(await watched.catch((error) => error)).toMatchObject({ kind: 'unavailable' });
  });
});
