/** A store's folder and other processes: one writer, killed or alive, and readers beside it. */
import { expect, test } from 'vitest';
import { batchAt, ends, endsAfter, openStore, tempFolder } from './fixture.js';
import { startWriter } from './start-writer.js';

const code = (name: string) => expect.objectContaining({ name: 'StoreError', code: name });

test('store.open: a second writer in another process is refused', async () => {
  const folder = tempFolder();
  openStore(folder);
  const child = startWriter(['write', folder]);
  await child.ended;
  expect(child.lines).toEqual(['LOCKED']);
});

test('store.open: a writer killed by -9 leaves neither its lock nor half a batch', async () => {
  const folder = tempFolder();
  const child = startWriter(['write', folder, '3', 'hold']);
  await child.printed('committed 3');
  expect(() => openStore(folder)).toThrow(code('LOCKED'));
  child.process.kill('SIGKILL');
  expect((await child.ended).signal).toBe('SIGKILL');
  const reader = openStore(folder, { readOnly: true });
  expect(ends(reader)).toEqual(endsAfter(3));
  await reader.close();
  expect(ends(openStore(folder))).toEqual(endsAfter(3));
});

test('store.open: a reader in another process follows a writer without a lock', async () => {
  const folder = tempFolder();
  const writer = openStore(folder);
  await writer.commit(batchAt(1));
  const reader = startWriter(['read', folder]);
  await reader.printed('open');
  reader.process.stdin?.write('a\n');
  await reader.printed('a 1 1');
  await writer.commit(batchAt(2));
  reader.process.stdin?.write('b\n');
  await reader.printed('b 2 2');
  reader.process.stdin?.end();
  expect((await reader.ended).code).toBe(0);
});
