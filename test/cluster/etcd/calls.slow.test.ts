/** The etcd client over gRPC, against a real etcd. Other calls are tested on a simulated one. */
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EtcdClient } from '../../../dist/cluster/etcd/client.js';
import { EtcdError } from '../../../dist/cluster/etcd/wire.js';
import { count, follow, upTo } from '../../support/cluster/counter.js';
import { etcd, etcdClient, hasEtcd } from '../../support/etcd.js';
import { freePort } from '../../support/fixture.js';

/** Returns the error with which a call rejects. */
const failure = (call: Promise<unknown>): Promise<EtcdError> =>
  call.then(
    (value) => Promise.reject(new Error(`it did not fail: ${JSON.stringify(value)}`)),
    (error) => {
      expect(error).toBeInstanceOf(EtcdError);
      return error as EtcdError;
    },
  );

describe.skipIf(!hasEtcd)('etcd client (needs etcd-server)', () => {
  test('etcd: a watch does not retain delivered events', async () => {
    const client = etcdClient(await etcd());
    const value = Buffer.alloc(512 * 1024);
    const rounds = 64;
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const kept = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    // Includes the events in flight, whose number varies.
    const seen: number[] = [];
    for await (const { events } of client.watch('large')) {
      for (const _ of events) seen.push(kept());
      if (seen.length === rounds) break;
      await client.put('large', value);
    }
    const least = (some: readonly number[]) => Math.min(...some);
    const grown = least(seen.slice(-rounds / 4)) - least(seen.slice(0, rounds / 4));
    expect(grown).toBeLessThan((rounds / 4) * value.length);
  });

  test('etcd: distinguishes a too large value, a compacted revision and a full disk', async () => {
    const running = await etcd({ args: ['--quota-backend-bytes', String(4 * 1_048_576)] });
    const client = etcdClient(running);
    const large = await failure(client.put('k', Buffer.alloc(1_600_000)));
    expect(large).toMatchObject({ kind: 'too_large', outcome: 'not_done' });
    expect(await failure(client.put('k', Buffer.alloc(70_000_000)))).toMatchObject({
      kind: 'too_large',
    });
    const old = await client.put('k', 'old');
    const now = await client.put('k', 'now');
    await client.compact(now);
    expect(await failure(client.range('k', { revision: old }))).toMatchObject({
      kind: 'compacted',
    });
    expect(await failure(client.compact(now))).toMatchObject({ kind: 'compacted' });
    let full: EtcdError | null = null;
    for (let at = 0; at < 20 && !full; at += 1) {
      full = await client.put(`k/${at}`, Buffer.alloc(1_000_000)).then(
        () => null,
        (error) => error as EtcdError,
      );
    }
    expect(full).toMatchObject({ kind: 'out_of_space', outcome: 'not_done' });
    const alarms = await client.alarms();
    expect(alarms.map(({ alarm }) => alarm)).toEqual(['NOSPACE']);
    expect(await client.get('k')).toMatchObject({ version: 2 });
    await client.delete({ prefix: 'k/' });
    for (const alarm of alarms) await client.disarm(alarm);
    expect(await client.alarms()).toEqual([]);
  });

  test('etcd: loses and repeats no write when the leader is killed and returns', async () => {
    const running = await etcd({ members: 3 });
    const client = etcdClient(running, { callMs: 2_000 });
    const following = follow(client, 60);
    await count(client, 20);
    const leader = await running.leader();
    await leader.signal('SIGKILL');
    onTestFinished(() => leader.restart());
    await count(client, 60);
    expect(await following).toEqual(upTo(60));
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
