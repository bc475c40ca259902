/** The index from entries to events matches the results of a replay, for any batches. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  createVerifier,
  type GenesisOptions,
  Network,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  type SignedRequest,
  type Store,
  storedLines,
  tables,
  virtualClock,
} from 'folkmoot';
import {
  blockEnds,
  decodeIndexRow,
  encodeIndexRow,
  type IndexedEntry,
  type IndexRow,
  noTotals,
} from '../../../../dist/engine/node/entry-index.js';
import { eventTypes } from '../../../../dist/engine/protocol/event-types.js';
import { START_MS } from '../../../support/citizens.js';
import { counts, heavy } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { fc, forAllAsync } from '../../../support/property.js';
import { type Attempt, applied, attempts, genesis, lead } from '../../random/random.js';

const verifier = createVerifier('off');
const runs = { numRuns: counts.histories };

const openStore = (path: string, readOnly = true) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly, create: false });

/** Runs agents' actions. With `together`, one commit contains many entries. */
async function live(
  network: Network,
  clock: ReturnType<typeof virtualClock>,
  script: readonly Attempt[],
  together: number,
): Promise<void> {
  let waiting = 0;
  const take = async (request: SignedRequest) => {
    await applied(network, request);
    waiting += 1;
    if (waiting % together === 0) await network.durable;
  };
  await lead(network, clock, script, { take });
  await network.durable;
}

interface Expected extends IndexedEntry {
  seq: number;
  at: number;
  last: number;
}

/** Computes each entry's effects by a replay. */
async function expectedOf(stored: Store): Promise<Expected[]> {
  const asleep = new Set<string>();
  const numbers = new Map<string, number>();
  const found: Expected[] = [];
  let last = 0;
  const { match } = await replay({
    lines: storedLines(stored, 0, stored.meta()!.seq),
    stored,
    onStep: ({ entry, events, changes }) => {
      const turned: { agent: number; dormant: boolean }[] = [];
      for (const { table, key, json } of changes) {
        const value = JSON.parse(json ?? 'null');
        if (table === 'agents') numbers.set(key as string, value.ordinal);
        if (table !== 'agent_states' || value.context.dormant === asleep.has(key as string))
          continue;
        const { dormant } = value.context;
        if (dormant) asleep.add(key as string);
        else asleep.delete(key as string);
        turned.push({ agent: numbers.get(key as string)!, dormant });
      }
      last += events.length;
      found.push({
        ...{ seq: entry.seq, at: entry.at, last, events: events.length, turned },
        registers: entry.kind === 'register',
        closes: events.some(({ type }) => type === 'block_status'),
      });
    },
  });
  assert.ok(match);
  return found;
}

const byNumber = <T extends { agent: number }>(all: readonly T[]) =>
  [...all].sort((a, b) => a.agent - b.agent);

/** Compares each row with a replay, and its totals with a count of the events. */
function compare(rows: readonly IndexRow[], expected: readonly Expected[], store: Store): void {
  let next = rows[0]!.first;
  const before = expected[next - 1]?.last ?? 0;
  const totals = noTotals();
  for (const row of rows) {
    assert.equal(row.first, next);
    assert.equal(row.entries.length, row.last - row.first + 1);
    for (const [index, { turned, ...entry }] of row.entries.entries()) {
      const { seq: _, at: __, last: ___, turned: others, ...rest } = expected[next + index]!;
      assert.deepEqual(entry, rest);
      assert.deepEqual(byNumber(turned), byNumber(others));
      if (entry.registers) totals.registered += 1;
    }
    next = row.last + 1;
    assert.equal(row.at, expected[row.last]!.at);
    assert.equal(row.event_seq, expected[row.last]!.last);
    const first = (expected[row.first - 1]?.last ?? 0) + 1;
    for (const { json } of store.events(Math.max(first, before + 1), row.event_seq)) {
      const { type, data } = JSON.parse(json);
      totals.events[eventTypes.indexOf(type)]! += 1;
      if (type === 'block_status') totals.ends[blockEnds.indexOf(data.status)]! += 1;
    }
    assert.deepEqual(row.totals, totals);
  }
  assert.equal(next, expected.length);
}

const all = (store: Store) =>
  [...store.index()].map(({ seq, bytes }) => decodeIndexRow(seq, bytes));

test('index: equals a replay for any batches, with restarts', heavy, async () => {
  await forAllAsync(
    [genesis, attempts(counts.commandsPerSequence), fc.constantFrom(1, 7, 400)],
    runs,
    async (options: GenesisOptions, script, together) => {
      const path = join(temporaryFolder(), 'network');
      const clock = virtualClock(START_MS);
      const how = { path, genesis: options, verifier, clock };
      const first = await Network.open(how);
      await live(first, clock, script, together);
      await first.close();
      const again = await Network.open(how);
      await live(again, clock, script.toReversed(), together);
      await again.close();
      const store = openStore(path);
      compare(all(store), await expectedOf(store), store);
      await store.close();
    },
  );
});

test('index: survives archiving, and no digest covers it', async () => {
  const script = fc.sample(attempts(200), { numRuns: 1, seed: 5 })[0]!;
  const path = join(temporaryFolder(), 'network');
  const clock = virtualClock(START_MS);
  const how = { genesis: { network_id: 'archived' }, verifier, clock };
  const network = await Network.open({ ...how, path });
  await live(network, clock, script, 20);
  const { digest } = network.read.position;
  await network.close();
  const writer = openStore(path, false);
  const rows = all(writer);
  await writer.archive!.move(Math.ceil(writer.meta()!.seq / 2));
  while (await writer.archive!.trim());
  await writer.archive!.compactAndClose();
  const store = openStore(path);
  assert.deepEqual(all(store), rows);
  compare(rows, await expectedOf(store), store);
  assert.equal(store.meta()!.digest, digest);
  await store.close();
});

test('index: decodes encoded rows, and refuses changed bytes', () => {
  const plain = { noNullPrototype: true } as const;
  const totals = { events: eventTypes.map((_, n) => 999 * n), ends: [1, 2, 3, 4], registered: 9 };
  const entry = fc.record(
    {
      events: fc.nat(3_000),
      registers: fc.boolean(),
      closes: fc.boolean(),
      turned: fc.array(fc.record({ agent: fc.nat(100_000), dormant: fc.boolean() }, plain)),
    },
    plain,
  );
  const row = fc.record({
    ...{ at: fc.maxSafeNat(), event_seq: fc.maxSafeNat(), totals: fc.constant(totals) },
    entries: fc.array(entry, { minLength: 1, maxLength: 40 }),
  });
  const property = fc.property(row, fc.nat(), (one, cut) => {
    const bytes = encodeIndexRow(one);
    const read = decodeIndexRow(500, bytes);
    assert.deepEqual(read, { ...one, first: 501 - one.entries.length, last: 500 });
    assert.throws(() => decodeIndexRow(500, bytes.subarray(0, cut % bytes.length)), /damaged/);
    assert.throws(() => decodeIndexRow(500, Buffer.concat([bytes, Buffer.alloc(1)])), /damaged/);
    assert.throws(() => decodeIndexRow(500, Buffer.concat([Buffer.alloc(1), bytes])), /damaged/);
  });
  fc.assert(property);
  expect(() =>
    decodeIndexRow(5, Uint8Array.from([1, 255, 255, 255, 255, 255, 255, 255, 255])),
  ).toThrow(expect.objectContaining({ problem: 'INDEX_ROW_DAMAGED' }));
});
