/** The log: committed to a store, replayed, and read at random entries. */

import { join } from 'node:path';
import { createVerifier } from '../../engine/crypto/pool.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import { History } from '../../engine/history/history.js';
import { Digests } from '../../engine/protocol/log.js';
import { SCHEMA_VERSION, tables } from '../../engine/protocol/schema/record.js';
import { storedLines } from '../../engine/replay/lines.js';
import { replay } from '../../engine/replay/replay.js';
import { openLmdbStore } from '../../engine/store/lmdb.js';
import { defaultScenario, simulate } from '../../sim/index.js';
import { defineCase, type Round, type Row } from '../case.js';
import {
  createHistory,
  type EncodedPast,
  encodePast,
  Population,
  storeBefore,
  toBatches,
} from '../fixtures/population.js';
import { measureTime } from '../raw/raw.js';
import { withFolder } from '../servers/processes.js';

const VALIDATORS = 1_000;

interface StoreOptions {
  blocks: number;
  /** Maximum number of commits per batch size. */
  commits: number;
}
const SIZES = [1, 16, 64, 256, 1_024];

async function measureStore({ blocks, commits }: StoreOptions, { seed }: Round): Promise<Row[]> {
  const digests = new Digests();
  const past = await createHistory(await Population.of(VALIDATORS, seed), blocks);
  const encoded = past.map((one) => encodePast(one, digests));
  const rows: Row[] = [];
  for (const size of SIZES) rows.push(...(await committed(encoded, size, commits)));
  return rows;
}

async function committed(
  encoded: readonly EncodedPast[],
  size: number,
  most: number,
): Promise<Row[]> {
  const batches = [...toBatches(encoded.slice(0, size * most), size)];
  return withFolder(async (path) => {
    const store = await storeBefore(path, batches[0]!);
    const { wall, cpu } = await measureTime(async () => {
      for (const batch of batches) await store.commit(batch);
    });
    await store.close();
    const count = batches.length;
    const each = `batches of ${size.toLocaleString('en-US')}`;
    return [
      {
        name: `votes, ${each}`,
        per_s: (count * size) / wall,
        cpu_us: (cpu * 1e6) / (count * size),
      },
      { name: `commits, ${each}`, per_s: count / wall, cpu_us: (cpu * 1e6) / count },
    ];
  });
}

interface RunOptions {
  agents: number;
  /** A block with 1,000 agents produces about 750 entries. */
  blocks: number;
}

async function measureReplay({ agents, blocks }: RunOptions, { r, seed }: Round): Promise<Row[]> {
  const scenario = defaultScenario(agents, { length: { blocks } });
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    // The requests are signed, but not verified while the run is created.
    await simulate(scenario, { out, seed, verifier: 'off', audit: false });
    const path = join(out, 'network');
    const plain = await replayed(path, r);
    const verifier = createVerifier('pool');
    try {
      const checked = await replayed(path, r, verifier);
      const goal = { ratio: plain.of_r!, wanted: 0.8 };
      return [
        { ...plain, name: 'entries, without signatures; ratio: relative to R', ...goal },
        { ...checked, name: 'entries, with signatures in the pool' },
      ];
    } finally {
      await verifier.close();
    }
  });
}

async function replayed(path: string, r: number, verifier?: Verifier): Promise<Omit<Row, 'name'>> {
  const stored = openLmdbStore({ path, tables, schemaVersion: SCHEMA_VERSION, readOnly: true });
  try {
    const end = stored.meta()!;
    const lines = storedLines(stored, 0, end.seq);
    const options = { lines, stored, end, ...(verifier ? { verifier } : {}) };
    let entries = 0;
    const { wall, cpu } = await measureTime(async () => {
      const { match, entries: found } = await replay(options);
      if (!match) throw new Error('the stored run does not replay');
      entries = found;
    });
    const per_s = entries / wall;
    return { per_s, of_r: per_s / r, cpu_us: (cpu * 1e6) / entries };
  } finally {
    await stored.close();
  }
}

const LOOKS = 100;

async function measureHistory({ agents, blocks }: RunOptions, { seed }: Round): Promise<Row[]> {
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    const length = { blocks };
    await simulate(defaultScenario(agents, { length, signatures: 'none' }), { out, seed });
    const history = History.open({ path: join(out, 'network') });
    try {
      return await looked(history);
    } finally {
      await history.close();
    }
  });
}

async function looked(history: History): Promise<Row[]> {
  const { seq } = history.end;
  const first = await measureTime(async () => void (await history.prepare()));
  const times: number[] = [];
  let cpu = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    // Spread evenly over the log without a pattern, using the golden ratio 0.618...
    const at = Math.trunc(((look * 0.6180339887) % 1) * seq);
    const { wall, cpu: used } = await measureTime(async () => void (await history.at(at)));
    times.push(wall * 1_000);
    cpu += used;
  }
  times.sort((a, b) => a - b);
  const entries = `of ${seq.toLocaleString('en-US')} entries`;
  return [
    { name: `first read, ${entries}`, per_s: seq / first.wall, cpu_us: (first.cpu * 1e6) / seq },
    { name: 'a random entry, median', value: times[LOOKS / 2]!, unit: 'ms' },
    { name: 'a random entry, 95 of 100', value: times[94]!, unit: 'ms', allowed: 100 },
    { name: 'a random entry, CPU time', value: (cpu * 1_000) / LOOKS, unit: 'ms' },
    { name: 'checkpoints', value: history.checkpoints.bytes / 2 ** 20, unit: 'MiB' },
  ];
}

interface LogOptions {
  store: StoreOptions;
  replay: RunOptions;
  history: RunOptions;
}

export const logCase = defineCase<LogOptions>({
  name: 'log',
  about: 'commits of real votes by batch size, replay of a run, and states at random entries',
  sizes: {
    small: {
      store: { blocks: 8, commits: 128 },
      replay: { agents: 300, blocks: 60 },
      history: { agents: 200, blocks: 40 },
    },
    large: {
      store: { blocks: 64, commits: 1_024 },
      replay: { agents: 1_000, blocks: 1_350 },
      history: { agents: 1_000, blocks: 1_350 },
    },
  },
  run: async ({ store, replay, history }, round) => [
    ...(await measureStore(store, round)),
    ...(await measureReplay(replay, round)),
    ...(await measureHistory(history, round)),
  ],
});
