/** etcd client calls against a real etcd. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Lease } from '../../../dist/cluster/etcd/client.js';
import { EtcdError } from '../../../dist/cluster/etcd/wire.js';
import { etcd, etcdClient, hasEtcd } from '../../support/etcd.js';

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
  test('etcd: puts, pages, deletes; version and revisions of a key', async () => {
    const client = etcdClient(await etcd());
    const first = await client.put('a/1', 'one');
    const second = await client.put('a/1', Buffer.of(0, 255));
    expect(second).toBe(first + 1);
    expect(await client.get('a/1')).toEqual({
      ...{ key: 'a/1', value: Buffer.of(0, 255), createRevision: first, modRevision: second },
      ...{ version: 2, lease: '0' },
    });
    for (const key of ['a/2', 'a/3', 'a/', 'b']) await client.put(key, key);
    const part = await client.range({ prefix: 'a/' }, { limit: 2 });
    expect(part).toMatchObject({ more: true, count: 4, revision: second + 4 });
    expect(part.values.map(({ key }) => key)).toEqual(['a/', 'a/1']);
    const rest = await client.range({ prefix: 'a/' }, { after: 'a/1', keysOnly: true });
    expect(rest.values.map(({ key, value }) => `${key}=${value}`)).toEqual(['a/2=', 'a/3=']);
    expect((await client.range({ prefix: '' })).count).toBe(5);
    const before = await client.range('a/1', { revision: first });
    expect(before.values[0]!.value.toString()).toBe('one');
    expect([await client.delete({ prefix: 'a/' }), await client.get('a/1')]).toEqual([4, null]);
    expect(await client.delete({ prefix: '' })).toBe(1);
    // After re-creation, the version starts at 1, with a new create revision.
    const again = await client.put('a/1', '');
    expect(await client.get('a/1')).toMatchObject({ version: 1, createRevision: again });
  });

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

  test('etcd: a transaction executes one of its branches, by its conditions', async () => {
    const client = etcdClient(await etcd());
    const claim = (value: string) =>
      client.transact({
        if: [{ key: 'k', is: '=', version: 0 }],
        do: [{ put: 'k', value }, { get: 'k' }],
        otherwise: [{ get: { prefix: 'k' } }],
      });
    const won = await claim('mine');
    expect([won.succeeded, won.results[0]]).toEqual([true, null]);
    const lost = await claim('yours');
    expect(lost.succeeded).toBe(false);
    expect(lost.results).toMatchObject([{ count: 1, values: [{ key: 'k', version: 1 }] }]);
    const held = await client.transact({
      if: [
        { key: 'k', is: '=', value: 'mine' },
        { key: 'k', is: '!=', value: 'yours' },
        { key: 'k', is: '>', version: 0 },
        { key: 'k', is: '=', modRevision: won.revision },
        { key: 'k', is: '<', createRevision: won.revision + 1 },
        { key: 'k', is: '=', lease: '0' },
      ],
      do: [{ delete: { prefix: '' } }],
    });
    expect(held).toMatchObject({ succeeded: true, results: [{ deleted: 1 }] });
    const twice = { put: 'k', value: '' };
    const refused = await failure(client.transact({ do: [twice, twice] }));
    expect(refused).toMatchObject({ kind: 'refused', outcome: 'not_done' });
    expect(refused.message).toMatch(/127\.0\.0\.1:\d+: .*duplicate key/);
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

  test('etcd: a lease keeps its key while renewed, and deletes it when it expires', async () => {
    const client = etcdClient(await etcd());
    // A busy machine may be a few seconds late.
    const lease = await Lease.grant(client, 8);
    await client.put('mine', 'yes', lease.id);
    expect(await client.get('mine')).toMatchObject({ lease: lease.id });
    // Waits longer than the granted time.
    const until = performance.now() + 10_000;
    await expect.poll(() => performance.now() > until).toBe(true);
    expect(await client.get('mine')).not.toBe(null);
    expect(lease.lost.aborted).toBe(false);
    await lease.release();
    expect(await client.get('mine')).toBe(null);
    expect(await failure(client.keepLease(lease.id))).toMatchObject({ kind: 'no_lease' });
    expect(await failure(client.put('mine', '', lease.id))).toMatchObject({
      kind: 'no_lease',
      outcome: 'not_done',
    });
    const claim = { do: [{ put: 'mine', value: '', lease: lease.id }] };
    expect(await failure(client.transact(claim))).toMatchObject({ kind: 'no_lease' });
    await client.revokeLease(lease.id);
    // A different client revokes the lease, and the holder notices.
    const other = await Lease.grant(client, 2);
    await client.revokeLease(other.id);
    await expect.poll(() => other.lost.aborted).toBe(true);
  });

  test('etcd: a watch delivers events since a revision, and fails with compacted', async () => {
    const client = etcdClient(await etcd());
    const first = await client.put('w/1', 'a');
    await client.put('elsewhere', 'x');
    await client.put('w/1', 'b');
    await client.delete('w/1');
    const seen: string[] = [];
    const end = new AbortController();
    for await (const { events } of client.watch(
      { prefix: 'w/' },
      { from: first, signal: end.signal },
    )) {
      for (const { type, key, value, version } of events) {
        seen.push(`${type} ${key} ${value} ${version}`);
      }
      if (seen.length === 3) await client.put('w/2', 'live');
      if (seen.length === 4) end.abort();
    }
    expect(seen).toEqual(['put w/1 a 1', 'put w/1 b 2', 'delete w/1  0', 'put w/2 live 1']);
    await client.compact(first + 2);
    const gone = await failure(
      (async () => {
        for await (const { events } of client.watch('w/1', { from: first })) {
          expect(events).toEqual([]);
        }
      })(),
    );
    expect(gone).toMatchObject({ kind: 'compacted', compactRevision: first + 2 });
  });
});
