/** The etcd client over gRPC, against a real etcd. Other calls are tested on a simulated one. */
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { EtcdClient } from '../../../dist/cluster/etcd/client.js';
import { EtcdError } from '../../../dist/cluster/etcd/wire.js';
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

  test('etcd: refuses a value that is too large', async () => {
    const client = etcdClient(await etcd());
    for (const bytes of [1_600_000, 70_000_000]) {
      const large = await failure(client.put('k', Buffer.alloc(bytes)));
      expect(large).toMatchObject({ kind: 'too_large', outcome: 'not_done' });
    }
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
