/** Suite for all stores, and a comparison of both stores. */

import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { stopSignals } from '../../../dist/cli/output/exit.js';
import type { RecordKey } from '../../../dist/engine/protocol/schema/record.js';
import { splitLines } from '../../../dist/engine/replay/lines.js';
import { withMutex } from '../../../dist/engine/store/environment.js';
import {
  FileTooLarge,
  fileBounds,
  readBounded,
  syncFile,
  syncFolder,
  syncFolderLater,
} from '../../../dist/engine/store/folder.js';
import { createMemoryStore } from '../../../dist/engine/store/memory.js';
import { keysUnder, type Store } from '../../../dist/engine/store/store.js';
import { createWriteBehind } from '../../../dist/engine/store/write-behind.js';
import { writeRunReport } from '../../../dist/sim/report/index.js';
import { planSweep } from '../../../dist/sim/sweep/plan.js';
import { temporaryFolder } from '../../support/fixture.js';
import { batchAt, closedLater, metaAt, openLmdb, openStore, tempFolder } from './fixture.js';

const put = (key: RecordKey, json = '1') => ({ table: 'votes', key, json });
const keysOf = (store: Store, options = {}) => [...store.range('votes', options)].map((r) => r.key);

/**
 * Defines the suite. `commitsOf` returns the expected number of commits for a number of batches in
 * one turn.
 */
function suite(name: string, create: () => Store, commitsOf = (batches: number) => batches): void {
  describe(name, () => {
    test('store: a new store is empty', () => {
      const store = create();
      expect([store.meta(), store.get('votes', 1)]).toEqual([null, undefined]);
      expect([keysOf(store), [...store.entries(0, 9)], [...store.events(0, 9)]]).toEqual([
        [],
        [],
        [],
      ]);
      expect([store.commits, store.hasRoom()]).toEqual([0, true]);
    });

    test('store.commit: makes all parts of a batch readable', async () => {
      const store = create();
      const bytes = Uint8Array.from({ length: 9_000 }, (_, index) => index % 256);
      const json = JSON.stringify({ text: 'grüße 🎉', long: 'x'.repeat(70_000) });
      await store.commit(
        batchAt(1, {
          changes: [put(['b1', 7], json), put('b1', '{}')],
          blobs: [
            { hash: 'ab'.repeat(32), bytes },
            { hash: 'cd'.repeat(32), bytes: bytes.slice(0, 0) },
          ],
        }),
      );
      expect(store.meta()).toEqual(metaAt(1));
      expect(store.get('votes', ['b1', 7])).toBe(json);
      expect(store.get('votes', 'b1')).toBe('{}');
      expect(new TextDecoder().decode(store.entry(1))).toBe('entry 1');
      expect(store.event(1)).toBe('{"seq":1,"text":"grüße 🎉"}');
      expect(Buffer.compare(store.blob('ab'.repeat(32))!, bytes)).toBe(0);
      expect(store.blob('cd'.repeat(32))?.length).toBe(0);
      expect([store.entry(2), store.event(2), store.blob('ef')]).toEqual(Array(3).fill(undefined));
    });

    test('store.get: distinguishes keys by type and table', async () => {
      const store = create();
      await store.commit(batchAt(1, { changes: [put(1, '"n"'), put('1', '"s"')] }));
      expect([store.get('votes', 1), store.get('votes', '1')]).toEqual(['"n"', '"s"']);
      expect(store.get('blocks', 1)).toBe(undefined);
    });

    test('store.commit: applies the last change of a key', async () => {
      const store = create();
      const gone = { table: 'votes', key: 1, json: null };
      await store.commit(batchAt(1, { changes: [put(1), gone, put(2), gone, put(2, '2')] }));
      expect(keysOf(store)).toEqual([2]);
      await store.commit(batchAt(2, { changes: [{ ...gone, key: 2 }, put(1, '3')] }));
      expect([...store.range('votes')]).toEqual([{ key: 1, json: '3' }]);
      expect(store.commits).toBe(commitsOf(2));
    });

    test('store.entries: yields ascending entries, both ends included', async () => {
      const store = create();
      for (let seq = 1; seq <= 5; seq += 1) await store.commit(batchAt(seq));
      expect([...store.entries(2, 4)].map(({ seq }) => seq)).toEqual([2, 3, 4]);
      expect([...store.events(0, 2)].map(({ seq }) => seq)).toEqual([1, 2]);
      expect([...store.events(6, 9)]).toEqual([]);
    });

    test('store.entries: preserves bytes of any size', async () => {
      const store = create();
      const sizes = [1, 520, 4_000, 40_000, 300_000];
      const made = sizes.map((size, index) => new Uint8Array(size).fill(index + 1));
      for (const [index, bytes] of made.entries()) {
        await store.commit(batchAt(index + 1, { entries: [{ seq: index + 1, bytes }] }));
      }
      const read = [...store.entries(1, 5)].map(({ bytes }) => Buffer.from(bytes));
      expect(read.map((bytes, index) => bytes.equals(made[index]!))).toEqual(Array(5).fill(true));
    });

    test('store.commit: stores many rows and large values in one batch', async () => {
      const store = create();
      const text = (row: number) => `${row} ${'ü🎉x'.repeat(row % 400 === 1 ? 80_000 : row % 200)}`;
      const at = (row: number) => [row % 9, 'key'.repeat(row % 170)];
      const rows = Array.from({ length: 3_000 }, (_, row) => row);
      const changes = rows.map((row) => put([row, ...at(row)], text(row)));
      const large = new Uint8Array(3_000_001).fill(7);
      const blobs = [{ hash: 'ab'.repeat(32), bytes: large }];
      await store.commit(batchAt(1, { changes, blobs }));
      await store.commit(batchAt(2, { changes: [put('last')] }));
      const wrong = rows.filter((row) => store.get('votes', [row, ...at(row)]) !== text(row));
      expect(wrong).toEqual([]);
      expect(keysOf(store)).toHaveLength(rows.length + 1);
      expect(Buffer.compare(store.blob('ab'.repeat(32))!, large)).toBe(0);
      const removed = rows.map((row) => ({ ...put([row, ...at(row)]), json: null }));
      await store.commit(batchAt(3, { changes: removed }));
      expect(keysOf(store)).toEqual(['last']);
    });

    test('store.get: finds nothing for invalid keys', () => {
      const store = create();
      expect(store.get('votes', 'x'.repeat(10_000))).toBe(undefined);
      expect(store.blob('x'.repeat(10_000))).toBe(undefined);
    });

    test('store.commit: throws if the batch does not continue the log', async () => {
      const store = create();
      await store.commit(batchAt(1));
      const wrong = batchAt(3, { changes: [put(9)] });
      await expect(store.commit(wrong)).rejects.toThrow('entry 3 does not follow 1');
      await expect(store.commit(batchAt(2, { meta: metaAt(5) }))).rejects.toThrow('meta');
      const shown = [store.get('votes', 9), store.meta()?.seq, store.commits];
      expect(shown).toEqual([undefined, 1, commitsOf(1)]);
    });

    test.each([
      [-0],
      [0.5],
      ['a\u0000b'],
      ['\ud800'],
      [['a']],
      [[]],
      ['x'.repeat(513)],
    ])('store.commit: refuses the key %j', async (key) => {
      const store = create();
      const batch = batchAt(1, { changes: [put(key)] });
      await expect(store.commit(batch)).rejects.toThrow('not a record key');
    });

    test('store.range: sorts numbers before strings, and a key before its extensions', async () => {
      const store = create();
      const ordered: RecordKey[] = [-5, 0, 2, [2, 'a'], 10, '', ['', 0], 'A', 'a', ['a', 1]];
      ordered.push(['a', 2], ['a', 10], ['a', 'b'], ['a', 'b', 1], 'aa', 'é', '\uffee', '🎉');
      const changes = [...ordered].reverse().map((key) => put(key));
      await store.commit(batchAt(1, { changes }));
      expect(keysOf(store)).toEqual(ordered);
      expect(keysOf(store, { reverse: true })).toEqual([...ordered].reverse());
      expect(keysOf(store, { from: 2, to: 'A', limit: 3 })).toEqual([2, [2, 'a'], 10]);
      expect(keysOf(store, { from: 10, to: 'A', reverse: true })).toEqual([['', 0], '', 10]);
      expect(keysOf(store, keysUnder('a', 'b'))).toEqual([
        ['a', 'b'],
        ['a', 'b', 1],
      ]);
      expect(keysOf(store, { ...keysUnder('a'), reverse: true, limit: 1 })).toEqual([
        ['a', 'b', 1],
      ]);
      expect(keysOf(store, { limit: 0 })).toEqual([]);
      expect(keysOf(store, { from: 'z', to: 'a' })).toEqual([]);
    });
  });
}

suite('memory', createMemoryStore);
suite('lmdb', () => openStore(tempFolder()));
suite(
  'written behind',
  () => closedLater(createWriteBehind(openLmdb(tempFolder()))),
  () => 0,
);

const short = fc.oneof(
  fc.integer({ min: -3, max: 300 }),
  fc.maxSafeInteger(),
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', '~', 'é', '\uffee', '🎉'), maxLength: 4 }),
);
const part = fc.oneof(
  short,
  fc.string({ unit: fc.constantFrom('a', 'é', '🎉'), minLength: 60, maxLength: 80 }),
);
const anyKey: fc.Arbitrary<RecordKey> = fc.oneof(
  part,
  // Four of the longest texts exceed the limit of a key.
  fc.oneof(
    fc.array(part, { minLength: 2, maxLength: 3 }),
    fc.array(short, { minLength: 4, maxLength: 4 }),
  ),
);
const anyChange = fc.record({ key: anyKey, json: fc.constantFrom('1', '2', null) });
const anyBatches = fc.array(fc.array(anyChange, { maxLength: 90 }), { minLength: 1, maxLength: 4 });
const anyRange = fc.record(
  { from: anyKey, to: anyKey, reverse: fc.boolean(), limit: fc.integer({ min: 0, max: 9 }) },
  { requiredKeys: [] },
);

test('store.range: gives the same ranges in both stores after random changes', async () => {
  const disk = openStore(tempFolder());
  const memory = createMemoryStore();
  let seq = 0;
  onTestFinished(() => memory.close());
  const property = fc.asyncProperty(anyBatches, fc.array(anyRange), async (batches, ranges) => {
    for (const changes of batches) {
      seq += 1;
      const batch = batchAt(seq, { changes: changes.map((one) => ({ table: 'votes', ...one })) });
      await disk.commit(batch);
      await memory.commit(batch);
      for (const options of [{}, { reverse: true }, ...ranges]) {
        expect([...disk.range('votes', options)]).toEqual([...memory.range('votes', options)]);
      }
      for (const { key } of changes) expect(disk.get('votes', key)).toBe(memory.get('votes', key));
    }
  });
  await fc.assert(property, { numRuns: 60, endOnFailure: true });
});

// ---- The transaction mutex.

test('withMutex: runs concurrent transactions in order, one at a time', async () => {
  const story: string[] = [];
  let running = 0;
  const work = withMutex(async (name: string) => {
    running += 1;
    story.push(`${name} of ${running}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (name === 'bad') throw new Error('bad');
  });
  const all = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map(work));
  expect(story).toEqual(['a of 1', 'b of 1', 'bad of 1', 'c of 1', 'd of 1']);
  expect(all.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  ]);
});

test('withMutex: leaves a turn of the event loop between queued transactions', async () => {
  const story: string[] = [];
  const work = withMutex(async (name: string) => {
    story.push(name);
    await null;
    setImmediate(() => story.push(`after ${name}`));
  });
  await Promise.all([work('a'), work('b')]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(story).toEqual(['a', 'after a', 'b', 'after b']);
});

// ---- Differences between platforms, with the platform given.

test('platforms: Windows flushes no folder, and other platforms open it', async () => {
  const missing = join(temporaryFolder(), 'missing');
  const code = expect.objectContaining({ code: 'ENOENT' });
  expect(() => syncFolder(missing, 'linux')).toThrow(code);
  await expect(syncFolderLater(missing, 'darwin')).rejects.toEqual(code);
  syncFolder(missing, 'win32');
  await syncFolderLater(missing, 'win32');
  const folder = join(temporaryFolder(), 'there');
  mkdirSync(folder);
  syncFolder(folder);
  await syncFolderLater(folder);
});

test('platforms: syncing a file changes nothing in it', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, 'content');
  syncFile(file);
  expect(readFileSync(file, 'utf8')).toBe('content');
});

test('platforms: Ctrl+Break and a closed console stop a server on Windows', () => {
  expect(stopSignals('win32')).toEqual(['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']);
  for (const platform of ['linux', 'darwin'] as const) {
    expect(stopSignals(platform)).toEqual(['SIGINT', 'SIGTERM']);
  }
});

// ---- File size limits.

test('readBounded: reads up to the limit, and not a byte more', () => {
  const path = join(temporaryFolder(), 'file');
  for (const size of [0, 1, 99, 100]) {
    writeFileSync(path, 'x'.repeat(size));
    expect(readBounded(path, 100).toString()).toBe('x'.repeat(size));
  }
  writeFileSync(path, 'x'.repeat(101));
  expect(() => readBounded(path, 100)).toThrow(FileTooLarge);
});

test.skipIf(process.platform === 'win32')('readBounded: refuses an endless device', () => {
  expect(() => readBounded('/dev/zero', 1_000_000)).toThrow(FileTooLarge);
});

test('readBounded: refuses a large sparse file as result or script', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'summary.json');
  writeFileSync(path, '{}');
  truncateSync(path, fileBounds.result + 1);
  await expect(writeRunReport(folder)).rejects.toMatchObject({
    ...{ code: 'UNREADABLE', cause: expect.any(FileTooLarge) },
  });
  const script = join(folder, 'agent.mjs');
  writeFileSync(script, 'export const vote = () => null;');
  truncateSync(script, fileBounds.result + 1);
  const strategy = { kind: 'script', module: './agent.mjs' };
  const scenario = join(folder, 'scenario.json');
  const raw = {
    ...{ title: 'large', agents: [{ group: 'all', count: 4, producers: 1, strategy }] },
    sweep: { design: 'list', factors: [{ path: 'links.loss', values: [0] }] },
  };
  writeFileSync(scenario, JSON.stringify(raw));
  expect(() => planSweep(scenario)).toThrow(/expected at most/);
});

test('splitLines: refuses an endless line while reading', async () => {
  let chunks = 0;
  async function* endless() {
    for (; ; chunks += 1) yield new Uint8Array(1_048_576).fill(0x78);
  }
  const read = async () => {
    for await (const line of splitLines(endless())) void line;
  };
  await expect(read()).rejects.toMatchObject({ code: 'CORRUPT' });
  expect(chunks).toBeLessThan(100);
});
