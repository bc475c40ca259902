/** Store on disk: reopening, refused folders, one writer, readers. */
import { chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { batchAt, ends, endsAfter, metaAt, openStore, tempFolder } from './fixture.js';

const code = (name: string) => expect.objectContaining({ name: 'StoreError', code: name });
const vote = (seq: number) => ({ table: 'votes', key: seq, json: '{}' });

async function writtenFolder(batches: number, path = tempFolder()): Promise<string> {
  const store = openStore(path);
  for (let seq = 1; seq <= batches; seq += 1) {
    await store.commit(batchAt(seq, { changes: [vote(seq)] }));
  }
  await store.close();
  return path;
}

test('store.open: reopens a folder with all data, also in a path with a dot', async () => {
  const folder = await writtenFolder(3, join(tempFolder(), 'net.work', 'a'));
  const store = openStore(folder, { networkId: 'testnet', create: false });
  expect([ends(store), store.commits]).toEqual([endsAfter(3), 0]);
  await store.commit(batchAt(4, { changes: [vote(4)] }));
  expect(ends(store)).toEqual(endsAfter(4));
});

test('store.open: refuses a second writer in the same process', async () => {
  const folder = tempFolder();
  const first = openStore(folder);
  expect(() => openStore(folder)).toThrow(code('LOCKED'));
  await first.commit(batchAt(1));
  await first.close();
  expect(openStore(folder).meta()).toEqual(metaAt(1));
});

test('store.open: refuses another network with both names, and releases the lock', async () => {
  const folder = await writtenFolder(1);
  expect(() => openStore(folder, { networkId: 'other' })).toThrow(code('OTHER_NETWORK'));
  expect(() => openStore(folder, { networkId: 'other' })).toThrow(/testnet.*other/);
  expect(openStore(folder, { networkId: 'testnet' }).meta()?.seq).toBe(1);
});

test('store.open: refuses a newer and an older schema', async () => {
  const folder = await writtenFolder(1);
  expect(() => openStore(folder, { schemaVersion: 2 })).toThrow(code('NEWER_SCHEMA'));
  expect(() => openStore(folder, { schemaVersion: 4 })).toThrow(code('OLDER_SCHEMA'));
  expect(() => openStore(folder, { schemaVersion: 4 })).toThrow(/version 3\b.* 4\b/);
  expect(openStore(folder).meta()?.schema_version).toBe(3);
});

test('store.open: fails with MISSING for a missing folder, and creates nothing', () => {
  const folder = join(tempFolder(), 'none');
  expect(() => openStore(folder, { create: false })).toThrow(code('MISSING'));
  expect(() => openStore(folder, { readOnly: true })).toThrow(code('MISSING'));
  mkdirSync(folder);
  expect(() => openStore(folder, { readOnly: true })).toThrow(code('MISSING'));
});

test('store.open: treats an empty data file without commits as a new store', async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'data.mdb'), '');
  expect(() => openStore(folder, { readOnly: true })).toThrow(code('MISSING'));
  const store = openStore(folder);
  expect(store.meta()).toBe(null);
  await store.close();
});

test('store.open: fails with UNREADABLE for a file instead of a folder', () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  expect(() => openStore(file)).toThrow(code('UNREADABLE'));
});

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'store.open: a folder without permission is UNREADABLE',
  () => {
    const folder = tempFolder();
    chmodSync(folder, 0);
    expect(() => openStore(folder)).toThrow(code('UNREADABLE'));
  },
);

test.each([0, 100, 8192, 20_000])('store.open: CORRUPT if cut to %i bytes', async (bytes) => {
  const folder = await writtenFolder(3);
  truncateSync(join(folder, 'data.mdb'), bytes);
  for (const readOnly of [false, true]) {
    expect(() => openStore(folder, { readOnly })).toThrow(code('CORRUPT'));
  }
});

test('store.open: fails with CORRUPT for a file without half of one value', async () => {
  const folder = await writtenFolder(3);
  const store = openStore(folder);
  const blobs = [{ hash: 'ab'.repeat(32), bytes: new Uint8Array(1_000_000) }];
  await store.commit(batchAt(4, { blobs }));
  await store.close();
  const file = join(folder, 'data.mdb');
  truncateSync(file, readFileSync(file).length - 500_000);
  expect(() => openStore(folder)).toThrow(code('CORRUPT'));
});

test('store.open: opens a file without unused pages', async () => {
  const folder = await writtenFolder(3);
  const file = join(folder, 'data.mdb');
  const bytes = readFileSync(file);
  for (const page of [0, 8192]) {
    bytes.writeBigUInt64LE(bytes.readBigUInt64LE(page + 144) + 2n, page + 144);
  }
  writeFileSync(file, bytes);
  expect(ends(openStore(folder))).toEqual(endsAfter(3));
});

test('store.open: fails with CORRUPT for a foreign file', () => {
  const folder = tempFolder();
  writeFileSync(join(folder, 'data.mdb'), 'not a database '.repeat(10_000));
  expect(() => openStore(folder)).toThrow(code('CORRUPT'));
});

test.each([
  ...['no json', '[]', '{"schema_version":"3"}'],
])('store.open: fails with CORRUPT for the meta %s', async (text) => {
  const folder = await writtenFolder(1);
  const root = open({ path: folder, noSubdir: false, overlappingSync: false, encoding: 'binary' });
  await root.openDB('meta', { encoding: 'string' }).put('meta', text);
  await root.close();
  expect(() => openStore(folder)).toThrow(code('CORRUPT'));
});

test('store.open: a reader in the same process follows a writer, and cannot write', async () => {
  const folder = tempFolder();
  const writer = openStore(folder);
  await writer.commit(batchAt(1));
  const reader = openStore(folder, { readOnly: true });
  await writer.commit(batchAt(2, { changes: [vote(2)] }));
  expect([reader.meta()?.seq, reader.get('votes', 2)]).toEqual([2, '{}']);
  await expect(reader.commit(batchAt(3))).rejects.toThrow('opened for reading');
  await reader.close();
  await writer.commit(batchAt(3));
  expect(writer.meta()?.seq).toBe(3);
});

test('store.open: refuses a writer after a reader of the same process', async () => {
  const folder = await writtenFolder(1);
  const reader = openStore(folder, { readOnly: true });
  expect(() => openStore(folder)).toThrow(code('LOCKED'));
  await reader.close();
  expect(openStore(folder).meta()?.seq).toBe(1);
});

test('store.range: a running iteration does not see a later commit', async () => {
  const store = openStore(tempFolder());
  await store.commit(batchAt(1, { changes: [vote(1), vote(2)] }));
  const iterator = store.range('votes')[Symbol.iterator]();
  expect(iterator.next().value.key).toBe(1);
  await store.commit(batchAt(2, { changes: [{ ...vote(2), json: null }, vote(3)] }));
  expect([iterator.next().value?.key, iterator.next().done]).toEqual([2, true]);
  expect([...store.range('votes')].map(({ key }) => key)).toEqual([1, 3]);
});
