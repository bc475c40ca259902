/** One writer and several readers in different processes. */
import { batchAt, ends, endsAfter, openStore, tempFolder } from './fixture.js';
import { startWriter } from './start-writer.js';

const code = (name: string) => expect.objectContaining({ name: 'StoreError', code: name });

test('store.open: refuses a second writer in another process', async () => {
  const folder = tempFolder();
  openStore(folder);
  const child = startWriter(['write', folder]);
  await child.ended;
  expect(child.lines).toEqual(['LOCKED']);
});

test('store.open: a killed writer leaves neither a lock nor a partial batch', async () => {
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

test.each([
  ['with its writer', false],
  ['with another reader', true],
])('store.open: a reader %s keeps its snapshot despite other processes', async (_, readOnly) => {
  const folder = tempFolder();
  await startWriter(['write', folder, '3']).ended;
  const first = openStore(folder, { readOnly });
  if (!readOnly) await first.commit(batchAt(4));
  const second = openStore(folder, { readOnly: true });
  const last = readOnly ? 3 : 4;
  const iteration = second.entries(1, 100)[Symbol.iterator]();
  expect(iteration.next().value?.seq).toBe(1);
  // The next opening looks for readers of dead processes. This reader holds locks.
  for (let opened = 0; opened < 3; opened += 1) {
    const reader = startWriter(['read', folder]);
    reader.process.stdin!.end('a\n');
    await reader.ended;
    expect(reader.lines).toContain(`a ${last} ${last}`);
    expect(second.meta()?.seq).toBe(last);
  }
  if (readOnly) {
    await startWriter(['write', folder, '40']).ended;
  } else {
    for (let seq = 5; seq <= 44; seq += 1) await first.commit(batchAt(seq));
  }
  for (let seq = 2; seq <= last; seq += 1) {
    const { value } = iteration.next();
    expect(`${value.seq} ${Buffer.from(value.bytes)}`).toBe(`${seq} entry ${seq}`);
  }
  await second.close();
  if (readOnly) expect(first.meta()?.seq).toBe(43);
  else await first.commit(batchAt(45));
});
