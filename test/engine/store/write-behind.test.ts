/** The write-behind store. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { createMemoryStore } from '../../../dist/engine/store/memory.js';
import { storeError } from '../../../dist/engine/store/messages.js';
import type { Store } from '../../../dist/engine/store/store.js';
import { createWriteBehind } from '../../../dist/engine/store/write-behind.js';
import { batchAt, closedLater, metaAt, openLmdb, openStore, tempFolder } from './fixture.js';

const record = (key: number, json: string | null) => ({ table: 'votes', key, json });

/** Wraps a store so that commits wait for the test to complete or fail them. */
function held(store: Store) {
  const waiting: { go: () => void; fail: (error: Error) => void }[] = [];
  const commit: Store['commit'] = (batch) =>
    new Promise((resolve, reject) => {
      waiting.push({ go: () => void store.commit(batch).then(resolve, reject), fail: reject });
    });
  const over: Store = Object.assign(Object.create(store) as Store, { commit });
  /** Resolves with the next commit once it has started. */
  const begun = async () => {
    await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0), 30_000);
    return waiting.shift()!;
  };
  return { over, begun, waiting };
}

test('write-behind: batches during a commit form the next one, and close writes all', async () => {
  const folder = tempFolder();
  const { over, begun, waiting } = held(openLmdb(folder));
  const store = createWriteBehind(over);
  await store.commit(batchAt(1, { changes: [record(1, '1')] }));
  const first = await begun();
  await store.commit(batchAt(2, { changes: [record(1, '2')] }));
  await store.commit(batchAt(3, { changes: [record(3, '3')] }));
  await sleep(100);
  expect([waiting.length, store.stored?.(), store.get('votes', 1)]).toEqual([0, null, '2']);
  first.go();
  const closed = store.close();
  const second = await begun();
  expect(store.stored?.()).toEqual(metaAt(1));
  second.go();
  await closed;
  const again = openStore(folder);
  expect([...again.range('votes')].map(({ json }) => json)).toEqual(['2', '3']);
  expect(again.meta()).toEqual(metaAt(3));
});

test('write-behind: a running iteration is not affected by a write', async () => {
  const disk = openLmdb(tempFolder());
  const store = closedLater(createWriteBehind(disk));
  const numbers = (rows: Iterable<{ seq: number }>) => [...rows].map(({ seq }) => seq);
  for (const seq of [1, 2]) await store.commit(batchAt(seq, { changes: [record(seq, '1')] }));
  await vi.waitFor(() => expect(disk.meta()?.seq).toBe(2), 30_000);
  for (const seq of [3, 4]) await store.commit(batchAt(seq, { changes: [record(seq, '1')] }));
  const entries = store.entries(1, 9);
  const events = store.events(2, 3);
  const votes = store.range('votes', { reverse: true });
  const begun = store.entries(1, 9)[Symbol.iterator]();
  expect(begun.next().value).toMatchObject({ seq: 1 });
  await vi.waitFor(() => expect(disk.meta()?.seq).toBe(4), 30_000);
  await store.commit(batchAt(5));
  expect([numbers(entries), numbers(events)]).toEqual([
    [1, 2, 3, 4],
    [2, 3],
  ]);
  expect([...votes].map(({ key }) => key)).toEqual([4, 3, 2, 1]);
  expect(numbers({ [Symbol.iterator]: () => begun })).toEqual([2, 3, 4]);
});

test('write-behind: commit and hasRoom throw after a failed commit', async () => {
  const { over, begun } = held(createMemoryStore());
  const store = createWriteBehind(over);
  await store.commit(batchAt(1));
  (await begun()).fail(storeError('COMMIT_FAILED', { path: '', reason: 'the disk is gone' }));
  await vi.waitFor(() => expect(() => store.hasRoom()).toThrow('the disk is gone'), 30_000);
  await expect(store.commit(batchAt(2))).rejects.toThrow('the disk is gone');
  expect([store.meta()?.seq, store.entry(1)?.length]).toEqual([1, 7]);
  await expect(store.close()).rejects.toThrow('the disk is gone');
});

test('write-behind: a batch waits for disk space and counts as unwritten', async () => {
  const memory = createMemoryStore();
  const asked: number[] = [];
  const hasRoom = (waiting = 0) => {
    asked.push(waiting);
    return true;
  };
  const { over, begun } = held(Object.assign(Object.create(memory) as Store, { hasRoom }));
  const store = closedLater(createWriteBehind(over));
  await store.commit(batchAt(1));
  (await begun()).fail(storeError('NO_ROOM_FOR_BATCH', { path: '', free: 0, needed: 1 }));
  await store.commit(batchAt(2));
  expect([store.hasRoom(10), asked.at(-1)]).toEqual([true, 24]);
  (await begun()).go();
  (await begun()).go();
  await vi.waitFor(() => expect(store.stored?.()).toEqual(metaAt(2)), 30_000);
  expect([store.hasRoom(), asked.at(-1)]).toEqual([true, 0]);
});

test('write-behind: commit waits for the disk beyond a number of bytes', async () => {
  const { over, begun, waiting } = held(createMemoryStore());
  const store = closedLater(createWriteBehind(over));
  const large = (seq: number) =>
    batchAt(seq, { entries: [{ seq, bytes: new Uint8Array(6 * 1024 * 1024) }] });
  await store.commit(large(1));
  await store.commit(large(2));
  let done = false;
  const third = store.commit(large(3)).then(() => {
    done = true;
  });
  const first = await begun();
  await sleep(50);
  expect(done).toBe(false);
  first.go();
  (await begun()).go();
  await third;
  expect([done, waiting.length, store.stored?.()]).toEqual([true, 0, metaAt(3)]);
});

const key = fc.oneof(
  fc.integer({ min: 0, max: 12 }),
  fc.constantFrom('a', 'b', 'é'),
  fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 3 })),
);
const change = fc.record({
  ...{ table: fc.constant('votes'), key, json: fc.constantFrom('1', '2', null) },
});
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ changes: fc.array(change, { maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.constant('let through' as const) },
  { weight: 1, arbitrary: fc.constant('wait' as const) },
);
const range = fc.record(
  { from: key, to: key, reverse: fc.boolean(), limit: fc.integer({ min: 0, max: 9 }) },
  { requiredKeys: [] },
);
const bound = fc.integer({ min: -1, max: 30 });
const rows = fc.record(
  { from: bound, to: bound, reverse: fc.boolean(), limit: fc.integer({ min: 0, max: 9 }) },
  { requiredKeys: [] },
);

test('write-behind: reads like a plain store at any time', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 24 }),
    fc.array(range, { minLength: 2, maxLength: 6 }),
    fc.array(rows, { minLength: 2, maxLength: 6 }),
    async (steps, ranges, spans) => {
      const { over, waiting } = held(createMemoryStore());
      const [store, model] = [createWriteBehind(over), createMemoryStore()];
      let seq = 0;
      for (const one of steps) {
        if (one === 'wait') await sleep(30);
        else if (one === 'let through') waiting.shift()?.go();
        else {
          seq += 1;
          const blobs = [{ hash: `h${seq % 3}`, bytes: Uint8Array.of(seq) }];
          const index = seq % 2 ? [{ seq, bytes: Uint8Array.of(seq) }] : [];
          const batch = batchAt(seq, { changes: one.changes, blobs, index });
          await store.commit(batch);
          await model.commit(batch);
        }
        expect(store.meta()).toEqual(model.meta());
        for (const options of [{}, ...ranges]) {
          expect([...store.range('votes', options)]).toEqual([...model.range('votes', options)]);
        }
        for (const options of [{}, ...spans]) {
          const { from = 0, to = 40 } = options;
          expect([...store.index(options)]).toEqual([...model.index(options)]);
          expect([...store.entries(from, to)]).toEqual([...model.entries(from, to)]);
          expect([...store.events(from, to)]).toEqual([...model.events(from, to)]);
          const at = (some: Store) => [some.entry(from), some.event(from), some.blob(`h${from}`)];
          expect(at(store)).toEqual(at(model));
        }
      }
      let closed = false;
      const closing = store.close().then(() => {
        closed = true;
      });
      while (!closed) {
        waiting.shift()?.go();
        await nextTurn();
      }
      await closing;
      expect(store.stored?.() ?? null).toEqual(model.meta());
    },
  );
  await fc.assert(property, { numRuns: 25 });
});
