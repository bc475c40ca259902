/** The etcd client over TLS, with certificates made by openssl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type EtcdTls, readTls } from '../../../dist/cluster/etcd/wire.js';
import { certificates } from '../../support/cluster/certificates.js';
import { etcd, etcdClient, hasEtcd, ready } from '../../support/etcd.js';
import { temporaryFolder } from '../../support/fixture.js';

describe.skipIf(!hasEtcd)('etcd client, TLS (needs etcd-server)', () => {
  test('etcd: connects with certificates of one CA; fails without or with another', async () => {
    const files = certificates('ours');
    const running = await etcd({ tls: files });
    const tls = readTls(files)!;
    await ready(running.endpoints, tls);
    const client = etcdClient(running, { tls });
    await client.put('k', 'secret');
    expect(await client.get('k')).toMatchObject({ version: 1 });
    for await (const { events } of client.watch('k', { from: 1 })) {
      if (events.length > 0) break;
    }
    const problemOf = async (given?: EtcdTls) => {
      const stranger = etcdClient(running, { connectMs: 5_000, ...(given ? { tls: given } : {}) });
      return stranger.get('k').catch((error) => error);
    };
    const { ca, cert, key } = tls;
    const others = readTls(certificates('theirs'))!;
    expect(await problemOf()).toMatchObject({ kind: 'unavailable' });
    expect(await problemOf({ ca: ca! })).toMatchObject({ kind: 'unavailable' });
    const unvouched = await problemOf({ ca: others.ca!, cert: cert!, key: key! });
    expect(unvouched).toMatchObject({ kind: 'unavailable', outcome: 'not_done' });
    expect(unvouched.message).toMatch(/certificate/);
    expect(await problemOf({ ca: ca!, cert: others.cert!, key: others.key! })).toMatchObject({
      kind: 'unavailable',
    });
  });

  test('tls: refuses files that are missing, not PEM, or half of a pair', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'ca.pem');
    const problem = (files: Parameters<typeof readTls>[0]) => {
      try {
        return readTls(files);
      } catch (error) {
        expect(error).toMatchObject({ source: 'user' });
        return (error as { problem: string }).problem;
      }
    };
    expect(problem({})).toBe(undefined);
    expect(problem({ ca: file })).toBe('FILE_UNREADABLE');
    writeFileSync(file, 'hello');
    expect(problem({ ca: file })).toBe('NOT_PEM');
    writeFileSync(file, '-----BEGIN CERTIFICATE-----');
    expect(problem({ ca: file })).toEqual({ ca: readFileSync(file) });
    expect(problem({ cert: file })).toBe('CERTIFICATE_WITHOUT_KEY');
    expect(problem({ key: file })).toBe('CERTIFICATE_WITHOUT_KEY');
  });
});
