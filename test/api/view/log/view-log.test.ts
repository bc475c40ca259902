/**
 * A view's files. Deleted, damaged and foreign files are rebuilt; unrelated files are untouched.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  createVerifier,
  History,
  KeptNetwork,
  Network,
  type SignedRequest,
  virtualClock,
} from 'folkmoot';
import { open } from 'lmdb';
import { applyRowBatch, createEmptySnapshot } from '../../../../dist/api/view/reducer.js';
import { decodeRowBatch, encodeRowBatch } from '../../../../dist/api/view/row-batch.js';
import { applied, attempts, genesis, lead } from '../../../engine/random/random.js';
import { START_MS } from '../../../support/citizens.js';
import { counts, heavy } from '../../../support/counts.js';
import { temporaryFolder } from '../../../support/fixture.js';
import { copyOf, suiteFolder } from '../../../support/runs.js';
import { assertTrue, viewOf } from './compare.js';

const verifier = createVerifier('off');
const [script] = fc.sample(attempts(160), { numRuns: 1, seed: 5 });

/** Creates a folder with a network's history. */
async function livedAnew(path = join(temporaryFolder(), 'network')): Promise<string> {
  const clock = virtualClock(START_MS);
  const genesis = { network_id: 'lived', voting_period_ms: 5_000 };
  const network = await Network.open({ path, genesis, verifier, clock });
  await lead(network, clock, script!);
  await network.close();
  return path;
}

const one = join(suiteFolder(), 'network');
beforeAll(() => livedAnew(one));

/** Copies a folder with a network's history. */
function lived(): string {
  return copyOf(one, 'network');
}

const small = { chunkRows: 20 };
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** Opens a folder, reads snapshots, and closes it. */
async function picturesOf(path: string, ats: (number | undefined)[], options = {}) {
  const network = KeptNetwork.open({ path });
  const view = viewOf(network, { ...small, ...options });
  const pictures = [];
  for (const at of ats) pictures.push(await view.readSnapshot(at));
  await view.close();
  await network.close();
  return { pictures, problem: view.problem };
}

test('view: rebuilds deleted, damaged and foreign files', async () => {
  const path = lived();
  const folder = join(path, 'view');
  const ats = [3, 40, 90, undefined];
  const { pictures } = await picturesOf(path, ats);
  const made = namesIn(folder);
  expect(made.length).toBeGreaterThan(4);
  const contents = made.map((name) => readFileSync(join(folder, name)));
  const bad = [
    (file: string) => truncateSync(file, 60),
    (file: string) => writeFileSync(file, 'nothing of the kind'),
    (file: string) => rmSync(file),
    (file: string) => writeFileSync(file, contents.at(-1)!),
    (file: string) => {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(file, bytes);
    },
  ];
  for (const harm of bad) {
    for (const which of [0, 2, made.length - 2]) {
      harm(join(folder, made[which]!));
      expect((await picturesOf(path, ats)).pictures).toEqual(pictures);
    }
  }
  expect(namesIn(folder)).toEqual(made);
  rmSync(folder, { recursive: true });
  expect([(await picturesOf(path, ats)).pictures, namesIn(folder)]).toEqual([pictures, made]);
  // Files from a different log with the same name and length are foreign.
  const other = await livedAnew();
  await picturesOf(other, ats, { folder });
  expect(readFileSync(join(folder, made[1]!))).not.toEqual(contents[1]);
  expect((await picturesOf(path, ats)).pictures).toEqual(pictures);
});

/** Runs as a different installation, with a different key. */
async function elsewhere<T>(act: () => Promise<T>): Promise<T> {
  const own = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = temporaryFolder();
  try {
    return await act();
  } finally {
    process.env.XDG_STATE_HOME = own;
  }
}

/** Returns all rows and messages in a folder's view. */
async function spansOf(path: string) {
  const network = KeptNetwork.open({ path });
  const view = viewOf(network, small);
  const batches = [];
  for (let next = 0; next <= network.read.position.seq; next = batches.at(-1)!.to + 1) {
    batches.push(await view.readRowBatch(next));
  }
  await view.close();
  await network.close();
  return batches;
}

test('view: rejects files derived from forged events of the same log', async () => {
  const path = lived();
  const forged = copyOf(path, 'network');
  expect(await lie(forged)).toBeGreaterThan(5);
  const told = await elsewhere(() => spansOf(forged));
  const honest = await spansOf(path);
  expect(JSON.stringify(told)).toContain('forged words');
  const made = namesIn(join(path, 'view'));
  expect(namesIn(join(forged, 'view'))).toEqual(made);
  cpSync(join(forged, 'view'), join(path, 'view'), { recursive: true });
  expect([await spansOf(path), namesIn(join(path, 'view'))]).toEqual([honest, made]);
});

/** Changes events but not the log. Returns the number of changes. */
async function lie(path: string): Promise<number> {
  const root = open({ path, noSubdir: false, maxDbs: 40, encoding: 'binary', pageSize: 8192 });
  const events = root.openDB<string, number>({ name: 'events', encoding: 'string' });
  let lies = 0;
  for (const { key, value } of [...events.getRange({})]) {
    const event = JSON.parse(value) as { data: { reason?: string; decision?: string } };
    if (event.data.decision === undefined) continue;
    lies += 1;
    event.data.decision = event.data.decision === 'approve' ? 'reject' : 'approve';
    event.data.reason = 'forged words';
    await events.put(key, JSON.stringify(event));
  }
  await root.close();
  return lies;
}

test('view: rebuilds files deleted while open', async () => {
  const path = lived();
  const folder = join(path, 'view');
  const network = KeptNetwork.open({ path });
  const view = viewOf(network, small);
  const first = await view.readSnapshot(7);
  const made = namesIn(folder);
  rmSync(folder, { recursive: true });
  // Reads more chunks than the cache holds, so that the first chunk is read again.
  for (let at = 0; at < view.end; at += 20) await view.readSnapshot(at);
  assert.deepEqual(await view.readSnapshot(7), first);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.00000000-0000-0000-0000-000000000000.tmp'), 'half');
  assert.deepEqual((await picturesOf(path, [7])).pictures, [first]);
  expect(made.length).toBeGreaterThan(4);
  await view.close();
  await network.close();
});

test('view: stays in memory and says why if the folder is not writable', async () => {
  const path = lived();
  const { pictures } = await picturesOf(path, [5, 60, undefined], { folder: null });
  expect(namesIn(join(path, 'view'))).toEqual([]);
  writeFileSync(join(path, 'view'), 'a file in its place');
  const beside = await picturesOf(path, [5, 60, undefined]);
  expect(beside.pictures).toEqual(pictures);
  expect(beside.problem).toContain('view');
  rmSync(join(path, 'view'));
  if (process.platform === 'win32' || process.getuid?.() === 0) return;
  chmodSync(path, 0o500);
  const readOnly = await picturesOf(path, [5, 60, undefined]);
  chmodSync(path, 0o700);
  expect(readOnly.pictures).toEqual(pictures);
});

test('view: does not recreate a deleted folder', async () => {
  const path = lived();
  const network = KeptNetwork.open({ path });
  const view = viewOf(network, small);
  renameSync(path, `${path}-gone`);
  expect((await view.readSnapshot()).entry).toBe(network.read.position.seq);
  expect(existsSync(path)).toBe(false);
  expect(view.problem).toContain(path);
  await view.close();
  await network.close();
});

test('view: refuses unknown entries; bounds row batches', async () => {
  const path = lived();
  const network = KeptNetwork.open({ path });
  const view = viewOf(network, small);
  const end = network.read.position.seq;
  for (const at of [-1, 0.5, end + 1, Number.NaN, 2 ** 60]) {
    await expect(view.readSnapshot(at)).rejects.toMatchObject({ problem: 'UNKNOWN_ENTRY' });
    await expect(view.readRowBatch(at)).rejects.toThrow(RangeError);
  }
  let next = 0;
  while (next <= end) {
    const { from, to, rows, digest } = await view.readRowBatch(next, undefined, { rows: 7 });
    assert.equal(from, next);
    assert.ok(to >= from && (rows.entry.length <= 7 || to === from));
    assert.equal(digest, network.read.log.entry(to)!.digest);
    next = to + 1;
  }
  assert.equal(next, end + 1);
  expect((await view.readRowBatch(0, end, { said: 1 })).said.length).toBeLessThanOrEqual(1);
  const bytes = await view.spanBytes(0, undefined, { rows: 1_000, said: 9, bytes: 700 });
  expect(bytes.length).toBeLessThan(3_000);
  await view.close();
  await network.close();
});

/** Writes a value into a database in the folder, bypassing the engine. */
async function lay(path: string, name: string, key: number, value: Buffer | null): Promise<void> {
  const root = open({ path, noSubdir: false, maxDbs: 40, encoding: 'binary', pageSize: 8192 });
  const database = root.openDB({ name, encoding: 'binary' });
  await root.transaction(() => {
    if (value === null) database.removeSync(key);
    else database.putSync(key, value);
  });
  await root.close();
}

test('view: reports damaged data of the folder', async () => {
  const refused = async (name: string, key: number, value: Buffer | null, problem: string) => {
    const path = lived();
    await lay(path, name, key, value);
    await assert.rejects(picturesOf(path, [undefined]), { name: 'StoreError', problem });
  };
  await refused('events', 40, null, 'EVENT_MISSING');
  const unknown = Buffer.from('{"data":{},"seq":40,"type":"x"}');
  await refused('events', 40, unknown, 'ENTRY_INCONSISTENT');
  await refused('events', 40, Buffer.from('not json'), 'EVENT_DAMAGED');
  const bad = `{"data":{"agent_id":"agent_x","new_score":1,"timestamp":"2026-01-01T00:00:00Z"},`;
  await refused(
    'events',
    40,
    Buffer.from(`${bad}"seq":40,"type":"reputation_update"}`),
    'ENTRY_INCONSISTENT',
  );
  await refused('index', 20, Buffer.from([9, 9, 9]), 'INDEX_ROW_DAMAGED');
  await refused('index', 20, null, 'INDEX_ROW_MISSING');
});

// ---- Snapshots of random networks at random entries equal the engine's reads.

test(
  "snapshot: at random entries of random networks equals the engine's reads",
  heavy,
  async () => {
    const property = fc.asyncProperty(
      genesis,
      attempts(counts.commandsPerSequence),
      fc.constantFrom(40, 200, 100_000),
      fc.infiniteStream(fc.nat()),
      async (options, script, chunkRows, draws) => {
        const path = temporaryFolder();
        const clock = virtualClock(START_MS);
        const network = await Network.open({ path, genesis: options, verifier, clock });
        const live = viewOf(network, { chunkRows });
        // Builds a watcher's view, in which each batch is applied once to the previous snapshot.
        const letGo = live.watch();
        const watched = createEmptySnapshot(await live.readSnapshot(0));
        const look = async () => {
          await live.catchUp();
          while (watched.entry < live.end) {
            const batch = await live.readRowBatch(watched.entry + 1, undefined, { rows: 30 });
            applyRowBatch(watched, decodeRowBatch(encodeRowBatch(batch)));
          }
        };
        const take = async (request: SignedRequest) => {
          await applied(network, request);
          if (draws.next().value! % 5 === 0) await network.durable;
          if (draws.next().value! % 9 === 0) await look();
        };
        await lead(network, clock, script, { take });
        await network.durable;
        await look();
        letGo();
        const history = History.open({ path });
        const end = history.end.seq;
        assertTrue(watched, await history.at(end));
        const kept = KeptNetwork.open({ path });
        const later = viewOf(kept, { chunkRows });
        for (let count = 0; count < counts.pictures; count += 1) {
          const at = draws.next().value! % (end + 1);
          const moment = await history.at(at);
          assertTrue(await live.readSnapshot(at), moment);
          assert.deepEqual(await later.readSnapshot(at), await live.readSnapshot(at));
        }
        assert.deepEqual(await later.readSnapshot(), await live.readSnapshot());
        await history.close();
        await later.close();
        await live.close();
        await kept.close();
        await network.close();
      },
    );
    await fc.assert(property, { numRuns: counts.histories });
  },
);
