/** The etcd client over gRPC, against a real etcd. Other calls are tested on a simulated one. */
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EtcdClient } from '../../../dist/cluster/etcd/client.js';
import { etcd, etcdClient, hasEtcd } from '../../support/etcd.js';
import { freePort } from '../../support/fixture.js';

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

  test('etcd: refuses a value that is too large', async () => {
    const client = etcdClient(await etcd());
    for (const bytes of [1_600_000, 70_000_000]) {
      const refused = { name: 'EtcdError', kind: 'too_large', outcome: 'not_done' };
      await expect(client.put('k', Buffer.alloc(bytes))).rejects.toMatchObject(refused);
    }
  });

  test('etcd: calls are unavailable at a missing, unknown or silent server', async () => {
    const absent = new EtcdClient({ endpoints: [`127.0.0.1:${await freePort()}`] });
    const refused = { name: 'EtcdError', kind: 'unavailable', outcome: 'not_done' };
    const message = expect.stringContaining('ECONNREFUSED');
    await expect(absent.get('k')).rejects.toMatchObject({ ...refused, message });
    absent.close();
    const unnamed = new EtcdClient({ endpoints: ['no-such-host.invalid:2379'] });
    const unknown = expect.stringMatching(/no-such-host\.invalid:2379: Name resolution failed/);
    await expect(unnamed.put('k', '')).rejects.toMatchObject({ ...refused, message: unknown });
    unnamed.close();
    const mute = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void mute.close());
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as { port: number };
    const waits = new EtcdClient({ endpoints: [`127.0.0.1:${port}`], connectMs: 300, callMs: 300 });
    onTestFinished(() => waits.close());
    await expect(waits.put('k', '')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(waits.watch('k').next()).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
