/** A node that needs deleted batches automatically gets a snapshot from a peer. */
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore, SCHEMA_VERSION, tables } from 'folkmoot';
import { readTls } from '../../../dist/cluster/etcd/wire.js';
import { certificates } from '../../support/cluster/certificates.js';
import { expectKept } from '../../support/cluster/history.js';
import { mixedLoad, update } from '../../support/cluster/load.js';
import {
  agents,
  fakePeer,
  goneOn,
  orderOf,
  peerArgs,
  proven,
  readiness,
  secretFile,
  trimmedTown,
} from '../../support/cluster/peers.js';
import { expectTogether, insist } from '../../support/cluster/processes.js';
import { etcd, hasEtcd, ready } from '../../support/etcd.js';
import { temporaryFolder } from '../../support/fixture.js';
import { drawnFrom, seed } from '../../support/seeded.js';
import { sha256 } from '../../support/service/signer.js';

const [ada] = agents;
const soon = { timeout: 120_000, interval: 200 };

/** Returns a folder's data with one agent record changed without a log entry. */
async function changedRecord(folder: string): Promise<{ bytes: Buffer; version: number }> {
  const path = temporaryFolder();
  cpSync(folder, path, { recursive: true });
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION });
  const meta = store.meta()!;
  const [{ key, json }] = [...store.range('agents')] as [{ key: string; json: string }];
  const changes = [{ table: 'agents', key, json: json.replace('"agent_', '"Agent_') }];
  expect(changes[0]!.json).not.toBe(json);
  await store.commit({ entries: [], events: [], blobs: [], changes, meta });
  await store.close();
  return { bytes: readFileSync(join(path, 'data.mdb')), version: meta.order!.version };
}

describe.skipIf(!hasEtcd)('snapshots from a peer', () => {
  test('a new node and one that lags too far catch up', async () => {
    const { file } = secretFile();
    const running = await etcd();
    const { n1, order, start } = await trimmedTown(running, { args: await peerArgs(file) });
    const asking = mixedLoad([n1], agents, drawnFrom(seed));
    await asking.more(5);
    const n2 = await start('n2', { args: await peerArgs(file) });
    await asking.stop();
    const { told } = asking;
    await expectTogether([n1, n2]);
    expect(n2.stderr()).toMatch(/snapshot of node n1.*snapshot of node n1 installed/s);
    expect(n1.stderr()).toMatch(/snapshot to node n2/);
    told.push(await insist([n2], update(ada), 0));
    await n2.signal('SIGTERM');
    await goneOn(n1, order);
    const before = n2.stderr().length;
    await n2.restart();
    expect(n2.stderr().slice(before)).toMatch(/snapshot of node n1 installed/);
    told.push(await insist([n2], update(ada), 0));
    await expectTogether([n1, n2]);
    // Temporary copies are deleted on both sides.
    for (const { folder } of [n1, n2]) {
      expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }
    // The node restores its data from the order alone.
    await n2.signal('SIGKILL');
    told.push(await insist([n1], update(ada), 0));
    await n2.restart();
    await expectTogether([n1, n2]);
    await expectKept([n1, n2], told);
  });

  test.each(['snapshot.checked', 'snapshot.swapped'])('recovers, killed at %s', async (point) => {
    const { file } = secretFile();
    const running = await etcd();
    const { n1, start } = await trimmedTown(running, { args: await peerArgs(file) });
    const args = await peerArgs(file);
    const dying = await start('n2', { args, env: { FOLKMOOT_CRASH_AT: point }, early: true });
    expect(await dying.ended()).toBe(null);
    const n2 = await start('n2', { args });
    const isThere = /snapshot of node n1 installed/.test(n2.stderr());
    expect(isThere).toBe(point === 'snapshot.checked');
    const told = [await insist([n2], update(ada), 0)];
    await expectTogether([n1, n2]);
    await expectKept([n1, n2], told);
  });

  test('without a peer it is not ready, reports why, and retries', async () => {
    const { file } = secretFile();
    const running = await etcd();
    const { n1, folder, start } = await trimmedTown(running);
    const n2 = await start('n2', { args: await peerArgs(file), early: true });
    await expect.poll(() => readiness(n2), soon).toMatch(/^503 CATCHING_UP: .*--peer-listen/);
    expect((await fetch(`${n2.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${n2.url}/api/v1/meta`)).status).toBe(503);
    // The node can be stopped, and its data is unchanged.
    await n2.signal('SIGTERM');
    expect(await n2.ended()).toBe(0);
    await n2.restart();
    await n1.signal('SIGTERM');
    const again = await start('n1', { args: await peerArgs(file) });
    await expect.poll(() => readiness(n2), soon).toBe('200');
    await expectTogether([again, n2]);
    await expectKept([again, n2], [await insist([n2], update(ada), 0)]);
    expect(readdirSync(folder).sort()).toEqual(['n1', 'n2']);
  });

  test('with --verify-all every signature is checked; over TLS', async () => {
    const { file } = secretFile();
    const tls = certificates('ours');
    const running = await etcd({ tls });
    await ready(running.endpoints, readTls(tls));
    const named = ['--cluster-ca', tls.ca, '--cluster-cert', tls.cert, '--cluster-key', tls.key];
    const args = async () => [...(await peerArgs(file)), ...named, '--verify-all'];
    const { n1, start } = await trimmedTown(running, { args: await args() }, readTls(tls));
    expect(n1.stderr()).not.toMatch(/is not encrypted/);
    const n2 = await start('n2', { args: await args() });
    expect(n2.stderr()).toMatch(/snapshot of node n1 installed/);
    await expectTogether([n1, n2]);
    // Without a certificate from the same CA, a client fails before it is asked for the secret.
    const peer = (await orderOf(running, readTls(tls)).cards()).find((c) => c.node === 'n1')!.peer;
    expect(peer).toMatch(/^https:/);
    await expect(fetch(peer)).rejects.toThrow();
    await expectKept([n1, n2], [await insist([n2], update(ada), 0)]);
  });

  test('reports an invalid snapshot and leaves the folder unchanged', async () => {
    const { secret, file } = secretFile();
    const running = await etcd();
    const { n1, order, folder, start } = await trimmedTown(running);
    const { log } = await order.found({} as never);
    const other = await etcd();
    const town = await trimmedTown(other);
    await town.n1.signal('SIGTERM');
    await n1.signal('SIGTERM');
    const dataOf = (path: string) => readFileSync(join(path, 'data.mdb'));
    const whole = dataOf(join(folder, 'n1'));
    const theirs = dataOf(town.n1.folder);
    const described = (bytes: Buffer) => ({
      ...{ protocol: 1 as const, network: 'town', log, version: 1_000, bytes: bytes.length },
      sha256: sha256(bytes),
    });
    const damaged = Buffer.from(whole);
    const fake = await fakePeer(order, (response) => response.destroy());
    const n2 = await start('n2', { args: await peerArgs(file), early: true });
    const told = async (why: RegExp, answer: typeof fake.answer) => {
      fake.answer = answer;
      await expect.poll(() => readiness(n2), soon).toMatch(why);
    };
    await told(/fake at \S+: UNREACHABLE/, (response) => response.destroy());
    const before = dataOf(n2.folder);
    await told(/REFUSED, .*401 SECRET; .*--peer-secret/, (response) => {
      response.writeHead(401).end('{"reason":"SECRET","message":"\\u001b[31m"}');
    });
    await told(/REFUSED, .*500/, (response) => response.writeHead(500).end('x'.repeat(1e6)));
    await told(/UNPROVEN/, (response, nonce) =>
      proven(response, { secret: 'x'.repeat(64), nonce }, described(whole), whole),
    );
    await told(/UNSOUND, .*protocol 1/, (response, nonce) =>
      proven(response, { secret, nonce }, { ...described(whole), log: 7 } as never, whole),
    );
    await told(/OTHER_NETWORK, .*city/, (response, nonce) =>
      proven(response, { secret, nonce }, { ...described(whole), network: 'city' }, whole),
    );
    await told(/NO_ROOM, .*\d+ bytes/, (response, nonce) =>
      proven(response, { secret, nonce }, { ...described(whole), bytes: 2 ** 50 }, whole),
    );
    await told(/NOT_AHEAD, .*batch 0/, (response, nonce) =>
      proven(response, { secret, nonce }, { ...described(whole), version: 0 }, whole),
    );
    await told(/CUT, .*\d+ of \d+ bytes/, (response, nonce) => {
      proven(response, { secret, nonce }, described(whole), whole.subarray(0, 9_000));
      setTimeout(() => response.destroy(), 100);
    });
    await told(/UNSOUND, .*SHA-256/, (response, nonce) => {
      proven(response, { secret, nonce }, { ...described(whole), sha256: '0'.repeat(64) }, whole);
    });
    const garbage = Buffer.alloc(40_960, 7);
    await told(/UNSOUND, .*received.tmp/, (response, nonce) =>
      proven(response, { secret, nonce }, described(garbage), garbage),
    );
    damaged.fill(0, damaged.length - 3 * 8_192);
    await told(/UNSOUND, .*received.tmp/, (response, nonce) =>
      proven(response, { secret, nonce }, described(damaged), damaged),
    );
    await told(/UNSOUND, .*batch \d+ \(expected 1000\)/, (response, nonce) =>
      proven(response, { secret, nonce }, described(whole), whole),
    );
    await told(/OTHER_NETWORK, .*town, /, (response, nonce) =>
      proven(response, { secret, nonce }, described(theirs), theirs),
    );
    const changed = await changedRecord(join(folder, 'n1'));
    await told(/UNSOUND, .*record of entry \d+/, (response, nonce) => {
      const description = { ...described(changed.bytes), version: changed.version };
      proven(response, { secret, nonce }, description, changed.bytes);
    });
    await fake.tell(2, 'f'.repeat(64));
    await told(/PARTED, .*\w{64} at entry 2, fake has ffff/, (response, nonce) => {
      const description = { ...described(whole), version: changed.version };
      proven(response, { secret, nonce }, description, whole);
    });
    await fake.tell(1_000_000, '');
    // No snapshot was installed. The folder still opens and catches up.
    expect(dataOf(n2.folder).equals(before)).toBe(true);
    const again = await start('n1', { args: await peerArgs(file) });
    await expect.poll(() => readiness(n2), soon).toBe('200');
    await expectTogether([again, n2]);
    await expectKept([again, n2], [await insist([n2], update(ada), 0)]);
  });
});
