/** Crashes between durable steps, and full disks. */
import { spawnSync } from 'node:child_process';
import type { Store } from '../../../dist/engine/store/store.js';
import { batchAt, ends, endsAfter, openStore, tempFolder } from './fixture.js';
import { smallDisk, startWriter } from './start-writer.js';

const full = expect.objectContaining({ name: 'StoreError', code: 'FULL' });

test.each([
  { point: 'store.opened', told: 0, kept: 0 },
  { point: 'commit.before', told: 0, kept: 0 },
  { point: 'commit.after', told: 0, kept: 1 },
  { point: 'commit.before:3', told: 2, kept: 2 },
  { point: 'commit.after:3', told: 2, kept: 3 },
])('crash: at $point the folder holds $kept batches', async ({ point, told, kept }) => {
  const folder = tempFolder();
  const child = startWriter(['write', folder, '5'], { FOLKMOOT_CRASH_AT: point });
  expect((await child.ended).signal).toBe('SIGKILL');
  expect(child.lines.filter((line) => line.startsWith('committed'))).toHaveLength(told);
  expect(ends(openStore(folder))).toEqual(endsAfter(kept));
});

test('crash: the folder continues after each of ten crashes in a row', async () => {
  const folder = tempFolder();
  for (let round = 1; round <= 10; round += 1) {
    const child = startWriter(['write', folder, '9'], { FOLKMOOT_CRASH_AT: 'commit.after:2' });
    expect((await child.ended).signal).toBe('SIGKILL');
  }
  expect(ends(openStore(folder))).toEqual(endsAfter(20));
});

test.each([
  ...['commit.befor', 'commit.after:0', 'commit.after:x'],
])('crash: refuses the plan %s when the process starts', (plan) => {
  const script = "import('./dist/engine/store/process-end.js')";
  const env = { ...process.env, FOLKMOOT_CRASH_AT: plan };
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { env });
  expect([status, stderr.includes('FOLKMOOT_CRASH_AT')]).toEqual([1, true]);
});

test('store.commit: fails with FULL below the free-space limit, while reads continue', async () => {
  const folder = tempFolder();
  const store = openStore(folder);
  await store.commit(batchAt(1, { changes: [{ table: 'votes', key: 1, json: '1' }] }));
  await store.close();
  const marked = openStore(folder, { freeSpaceBytes: Number.MAX_SAFE_INTEGER });
  expect(marked.hasRoom()).toBe(false);
  await expect(marked.commit(batchAt(2))).rejects.toThrow(full);
  expect([ends(marked), marked.commits]).toEqual([endsAfter(1), 0]);
});

/** Commits until a failure. Returns the number of commits and the failure. */
async function fill(store: Store): Promise<{ kept: number; error: unknown }> {
  for (let seq = 1; ; seq += 1) {
    const entries = [{ seq, bytes: new Uint8Array(50_000) }];
    const changes = [{ table: 'votes', key: seq, json: '1' }];
    try {
      await store.commit(batchAt(seq, { entries, changes }));
    } catch (error) {
      return { kept: seq - 1, error };
    }
  }
}

test('store.commit: keeps every batch when a small disk fills up', async (context) => {
  const folder = smallDisk(4);
  if (folder === null) return context.skip('this process may not mount a file system');
  const store = openStore(folder, { freeSpaceBytes: 1024 * 1024 });
  const { kept, error } = await fill(store);
  expect(error).toEqual(full);
  expect(kept).toBeGreaterThan(20);
  expect(ends(store)).toEqual(endsAfter(kept));
  await store.close();
  expect(ends(openStore(folder, { freeSpaceBytes: 0 }))).toEqual(endsAfter(kept));
});

test('store.commit: keeps every reported batch after FAILED on a full disk', async (context) => {
  const folder = smallDisk(1);
  if (folder === null) return context.skip('this process may not mount a file system');
  const child = startWriter(['write', folder, '20000']);
  // The process exits normally, so no lmdb promise was rejected without a handler.
  expect([(await child.ended).code, child.lines.at(-1)]).toEqual([0, 'FAILED']);
  const told = child.lines.length - 2;
  const store = openStore(folder, { readOnly: true });
  expect([told, told + 1]).toContain(store.meta()?.seq);
  expect([...store.entries(0, 20_000)]).toHaveLength(store.meta()?.seq ?? 0);
});
