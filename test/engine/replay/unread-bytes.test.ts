/** A replay compares even bytes that reads from a network do not need. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  createVerifier,
  Network,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  StoreError,
  storedLines,
  tables,
  virtualClock,
} from 'folkmoot';
import { open } from 'lmdb';
import { beforeAll, expect, test } from 'vitest';
import { START_MS } from '../../support/citizens.js';
import { temporaryFolder } from '../../support/fixture.js';
import { suiteFolder } from '../../support/runs.js';
import { applied, attempts, lead } from '../random/random.js';

const verifier = createVerifier('off');
const lived = join(suiteFolder(), 'network');

const openStore = (path: string, readOnly = true) =>
  openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly, create: false });

/** Creates a network with an archived first half. */
beforeAll(async () => {
  const clock = virtualClock(START_MS);
  const genesis = { network_id: 'unread', voting_period_ms: 5_000 };
  const network = await Network.open({ path: lived, genesis, verifier, clock });
  const [script] = fc.sample(attempts(160), { numRuns: 1, seed: 5 });
  await lead(network, clock, script!, {
    take: (request) => applied(network, request),
    jumped: () => network.fireDeadlines(),
    look: (number) => (number % 7 === 0 ? network.durable : undefined),
  });
  await network.durable;
  await network.close();
  const store = openStore(lived, false);
  await store.archive!.move(Math.ceil(store.meta()!.seq / 2));
  while (await store.archive!.trim());
  await store.archive!.compactAndClose();
});

function copy(): string {
  const path = join(temporaryFolder(), 'network');
  cpSync(lived, path, { recursive: true });
  return path;
}

/** Returns the problem found by a replay, or null. */
async function found(path: string): Promise<string | null> {
  const stored = openStore(path);
  try {
    const lines = storedLines(stored, 0, stored.meta()!.seq);
    const { first_divergence } = await replay({ lines, stored });
    return first_divergence && `${first_divergence.what} ${first_divergence.which}`;
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  } finally {
    await stored.close();
  }
}

/** Changes a database in a folder through LMDB. */
async function change(
  path: string,
  name: string,
  act: (database: ReturnType<ReturnType<typeof open<Buffer, number>>['openDB']>) => void,
): Promise<void> {
  const root = open<Buffer, number>({
    path,
    noSubdir: false,
    maxDbs: 40,
    encoding: 'binary',
    pageSize: 8192,
  });
  act(root.openDB<Buffer, number>({ name, encoding: 'binary' }) as never);
  await root.close();
}

test('replay: matches an intact folder with an archive', async () => {
  expect(await found(lived)).toBe(null);
});

test('replay: detects a changed byte in any index row', async () => {
  const store = openStore(lived);
  const rows = [...store.index()];
  await store.close();
  expect(rows.length).toBeGreaterThan(10);
  const path = copy();
  for (const [number, { seq, bytes }] of rows.entries()) {
    const changed = Buffer.from(bytes);
    changed[(number * 7) % bytes.length]! ^= 1 << (number % 8);
    await change(path, 'index', (index) => index.putSync(seq, changed as never));
    expect(await found(path)).toBe(`record index ${seq}`);
    await change(path, 'index', (index) => index.putSync(seq, Buffer.from(bytes) as never));
  }
  expect(await found(path)).toBe(null);
});

test('replay: detects an index row that is missing, moved or beyond the log', async () => {
  const store = openStore(lived);
  const rows = [...store.index()];
  await store.close();
  const middle = rows[rows.length >> 1]!;
  const after = rows[(rows.length >> 1) + 1]!;
  const bytes = Buffer.from(middle.bytes) as never;
  const end = rows.at(-1)!.seq;
  const changes: [number, (index: { putSync: Put; removeSync(key: number): void }) => void][] = [
    [after.seq, (index) => index.removeSync(middle.seq)],
    [end + 9, (index) => index.putSync(end + 9, bytes)],
  ];
  for (const [seq, act] of changes) {
    const path = copy();
    await change(path, 'index', act as never);
    expect(await found(path)).toBe(`record index ${seq}`);
  }
});

type Put = (key: number, value: never) => void;

test('replay: detects a changed byte anywhere in a segment', async () => {
  const [name] = readdirSync(join(lived, 'archive'));
  const bytes = readFileSync(join(lived, 'archive', name!));
  const last = Array.from({ length: 40 }, (_, place) => bytes.length - 1 - place);
  const spread = Array.from({ length: 40 }, (_, place) => (place * 997) % bytes.length);
  const path = copy();
  for (const at of [0, 18, ...last, ...spread]) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    writeFileSync(join(path, 'archive', name!), changed);
    expect(await found(path), `byte ${at}`).toBe('ARCHIVE');
  }
});

test('replay: detects a changed record of a segment', async () => {
  const path = copy();
  let record = '';
  await change(path, 'archive', (archive) => {
    for (const { value } of archive.getRange({})) record = (value as Buffer).toString();
  });
  const segment = JSON.parse(record) as Record<string, string | number>;
  assert.ok(Object.keys(segment).length > 10);
  for (const [name, value] of Object.entries(segment)) {
    const other = typeof value === 'number' ? value + 1 : swapped(value);
    const text = JSON.stringify({ ...segment, [name]: other });
    await change(path, 'archive', (archive) =>
      archive.putSync(segment.first as number, Buffer.from(text) as never),
    );
    const what = await found(path).catch((error: StoreError) => error.code);
    expect([name, what !== null]).toEqual([name, true]);
  }
});

/** Changes the first digit of a value. */
const swapped = (text: string) => text.replace(/[0-9]/, (digit) => `${(Number(digit) + 1) % 10}`);
