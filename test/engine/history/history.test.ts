/** History, compared with a fresh replay. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  createVerifier,
  type GenesisOptions,
  History,
  type HistoryOptions,
  KeptNetwork,
  Network,
  openLmdbStore,
  type RecordKey,
  replay,
  SCHEMA_VERSION,
  storedLines,
  type Table,
  tables,
  virtualClock,
} from 'folkmoot';
import { CHECKPOINT_FORMAT } from '../../../dist/engine/history/history.js';
import type { LogReads } from '../../../dist/engine/node/views.js';
import { DerivedFolder } from '../../../dist/engine/store/derived-folder.js';
import { START_MS } from '../../support/citizens.js';
import { counts, heavy } from '../../support/counts.js';
import { temporaryFolder } from '../../support/fixture.js';
import { fc, forAllAsync } from '../../support/property.js';
import { openForReading } from '../../support/runs.js';
import { type Attempt, attempts, genesis, lead } from '../random/random.js';

const verifier = createVerifier('off');

async function lived(path: string, options: GenesisOptions, script: Attempt[]): Promise<Network> {
  const clock = virtualClock(START_MS);
  const network = await Network.open({ path, genesis: options, verifier, clock });
  await lead(network, clock, script);
  return network;
}

type Records = Record<string, string>;

/** Returns all records after each entry, computed by a replay without checkpoints. */
async function replayed(path: string): Promise<{ digests: string[]; records: Records[] }> {
  const stored = openForReading(path);
  const [digests, records]: [string[], Records[]] = [[], []];
  const now: Records = {};
  const result = await replay({
    lines: storedLines(stored, 0, stored.meta()!.seq),
    stored,
    onStep: ({ changes, digest }) => {
      for (const { table, key, json } of changes) {
        const name = nameOf(table, key);
        if (json === null) delete now[name];
        else now[name] = json;
      }
      digests.push(digest);
      records.push({ ...now });
    },
  });
  expect(result.match).toBe(true);
  await stored.close();
  return { digests, records };
}

const nameOf = (table: string, key: RecordKey) => `${table} ${JSON.stringify(key)}`;

async function recordsAt(history: History, seq: number) {
  const { read, position } = await history.at(seq);
  const found: Records = {};
  for (const table of tables) {
    const keys: RecordKey[] = [];
    for (const { key, value } of read.records(table)) {
      found[nameOf(table, key)] = JSON.stringify(value);
      expect(JSON.stringify(read.record(table as Table, key))).toBe(JSON.stringify(value));
      keys.push(key);
    }
    const backwards = [...read.records(table, { reverse: true })].map(({ key }) => key);
    expect(backwards).toEqual(keys.toReversed());
  }
  return { found, position, read };
}

/**
 * Ignores requests that expired and were accepted again, because history lacks the first such
 * request.
 */
function withoutRenewed(records: Records, last: Records): Records {
  const isRenewed = ([name, json]: [string, string]) =>
    name.startsWith('requests ') && last[name] !== json;
  const kept = Object.entries(records).filter((entry) => !isRenewed(entry));
  return Object.fromEntries(kept.map(([name, json]) => [name, JSON.stringify(JSON.parse(json))]));
}

test('history: random entries of random logs equal a replay', heavy, async () => {
  await forAllAsync(
    [genesis, attempts(counts.commandsPerSequence), fc.infiniteStream(fc.nat())],
    { numRuns: counts.histories },
    async (options, script, draws) => {
      const path = temporaryFolder();
      const network = await lived(path, options, script);
      const { digests, records } = await replayed(path);
      // Reads during writes, with dense checkpoints.
      const history = History.open({ path, spacing: 16, share: 1 });
      for (let look = 0; look < 8; look += 1) {
        const seq = draws.next().value! % digests.length;
        const { found, position, read } = await recordsAt(history, seq);
        expect(position.digest).toBe(digests[seq]);
        expect(found).toEqual(withoutRenewed(records[seq]!, records.at(-1)!));
        expect(read.position.seq).toBe(seq);
        expect([...read.events(1, 10 ** 9)]).toHaveLength(position.event_seq);
      }
      await history.close();
      await network.close();
    },
  );
});

const town: GenesisOptions = { network_id: 'random', voting_period_ms: 5_000 };
const script = fc.sample(attempts(120), { seed: 5, numRuns: 1 })[0]!;
const namesIn = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);

test('history: writes damaged, foreign and deleted checkpoints again', heavy, async () => {
  const path = temporaryFolder();
  await (await lived(path, town, script)).close();
  const folder = join(path, 'history');
  const options = { path, spacing: 16, share: 1 };
  const history = History.open(options);
  const { seq, digest } = history.end;
  await history.prepare();
  const made = namesIn(folder);
  expect(made.length).toBeGreaterThan(3);
  const contents = made.map((name) => readFileSync(join(folder, name)));
  const bad = [
    (file: string) => truncateSync(file, 40),
    (file: string) => writeFileSync(file, 'nothing of the kind'),
    (file: string) => rmSync(file),
    // A valid checkpoint, but for a different entry.
    (file: string) => writeFileSync(file, contents[0]!),
    (file: string) => {
      const bytes = Buffer.from(contents.at(-1)!);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(file, bytes);
    },
  ];
  for (const harm of bad) {
    harm(join(folder, made.at(-1)!));
    expect((await history.at(seq)).position.digest).toBe(digest);
    expect(namesIn(folder)).toEqual(made);
    expect(readFileSync(join(folder, made.at(-1)!))).toEqual(contents.at(-1));
  }
  rmSync(folder, { recursive: true });
  expect((await history.at(seq)).position.digest).toBe(digest);
  expect(namesIn(folder)).toEqual(made);
  await history.close();
  // A different log with the same name and length uses none of the checkpoints.
  const other = temporaryFolder();
  await (await lived(other, town, script)).close();
  const beside = History.open({ ...options, path: other, checkpoints: folder });
  await beside.at(seq);
  expect(readFileSync(join(folder, made.at(-1)!))).not.toEqual(contents.at(-1));
  await beside.close();
});

test('history: ignores forged checkpoints of another installation', async () => {
  const path = temporaryFolder();
  await (await lived(path, town, script)).close();
  const folder = join(path, 'history');
  const options = { path, spacing: 16, share: 1 };
  const own = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = temporaryFolder();
  const seq = await forge(options, folder);
  const forger = History.open(options);
  const told = await recordsAt(forger, seq);
  await forger.close();
  process.env.XDG_STATE_HOME = own;
  const history = History.open(options);
  const honest = await recordsAt(history, seq);
  await history.close();
  const { digests, records } = await replayed(path);
  expect([told.position.digest, honest.position.digest]).toEqual([digests[seq], digests[seq]]);
  expect(honest.found).toEqual(withoutRenewed(records[seq]!, records.at(-1)!));
  expect(told.found).not.toEqual(honest.found);
});

/**
 * Changes each agent's state in the last checkpoint, and seals the checkpoint with a different key.
 */
async function forge(options: HistoryOptions, folder: string): Promise<number> {
  const history = History.open(options);
  await history.prepare();
  await history.close();
  const name = namesIn(folder).at(-1)!;
  const seq = Number.parseInt(name, 10);
  const network = KeptNetwork.open(options);
  const { log, position } = network.read;
  const from = (log as unknown as LogReads).sourceOf(CHECKPOINT_FORMAT, position, seq)!;
  await network.close();
  const files = new DerivedFolder(folder);
  const text = (await files.read(name, from))!.toString();
  const forged = text.replaceAll(/^(standings\t\d+\t\[)\d+/gm, '$17');
  expect(forged).not.toBe(text);
  await files.write(name, from, Buffer.from(forged));
  return seq;
}

test(
  'history: checkpoints take at most a fifth of the log, and can be disabled',
  heavy,
  async () => {
    const path = temporaryFolder();
    await (await lived(path, town, [...script, ...script])).close();
    const store = openForReading(path);
    let bytes = 0;
    for (const entry of store.entries(0, store.meta()!.seq)) bytes += entry.bytes.length;
    await store.close();
    const history = History.open({ path, spacing: 1 });
    const stats = await history.prepare();
    expect(stats.problem).toBe(null);
    expect(5 * stats.bytes).toBeLessThanOrEqual(bytes);
    expect(stats.count).toBeGreaterThan(0);
    await history.close();
    const bare = History.open({ path, checkpoints: false });
    expect((await bare.prepare()).count).toBe(0);
    await bare.close();
  },
);

test('history: follows a growing log, and reads archived entries', heavy, async () => {
  const path = temporaryFolder();
  const clock = virtualClock(START_MS);
  const network = await Network.open({ path, genesis: town, verifier, clock });
  const history = History.open({ path, spacing: 16, share: 1 });
  const before = history.end;
  expect((await history.at(0)).read.networkState().block_height).toBe(0);
  await lead(network, clock, script);
  expect(history.end.seq).toBeGreaterThan(before.seq);
  const { seq, digest } = network.read.position;
  expect((await history.at(seq)).position.digest).toBe(digest);
  const seen = await history.at(seq);
  expect([...seen.read.agents()]).toEqual([...network.read.agents()]);
  expect([...seen.read.blocks()]).toEqual([...network.read.blocks()]);
  await history.close();
  await network.close();
  rmSync(join(path, 'history'), { recursive: true });
  const { digests } = await replayed(path);
  const store = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION });
  await store.archive!.move(seq - 10);
  while (await store.archive!.trim());
  await store.close();
  const past = History.open({ path, spacing: 16, share: 1 });
  for (const at of [seq, seq - 20, 3]) {
    expect((await past.at(at)).position.digest).toBe(digests[at]);
  }
  await past.close();
});

test('history: refuses invalid entries, and can be aborted', heavy, async () => {
  const path = temporaryFolder();
  await (await lived(path, town, script)).close();
  expect(() => History.open({ path: join(path, 'none') })).toThrow(
    expect.objectContaining({ problem: 'NO_NETWORK' }),
  );
  const history = History.open({ path, spacing: 16 });
  const { seq } = history.end;
  for (const wrong of [-1, seq + 1, 0.5, Number.NaN]) {
    await expect(history.at(wrong)).rejects.toThrow(RangeError);
  }
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(history.at(seq, { signal })).rejects.toThrow('enough');
  const ended = new AbortController();
  const onProgress = () => ended.abort(new Error('enough now'));
  await expect(history.at(seq, { signal: ended.signal, onProgress })).rejects.toThrow('enough now');
  // A failed read does not affect later reads.
  expect((await history.at(seq)).position.seq).toBe(seq);
  await history.close();
  await expect(history.at(0)).rejects.toThrow('closed');
});

test(
  'history: reads without a folder for checkpoints, and reports the problem',
  heavy,
  async () => {
    const path = temporaryFolder();
    await (await lived(path, town, script)).close();
    const checkpoints = join(path, 'a-file');
    writeFileSync(checkpoints, '');
    const history = History.open({ path, checkpoints, spacing: 16, share: 1 });
    const { seq, digest } = history.end;
    expect((await history.at(seq)).position.digest).toBe(digest);
    expect(history.checkpoints).toMatchObject({
      count: 0,
      problem: expect.stringContaining('a-file'),
    });
    await history.close();
  },
);
