/** The store's commit by batch size: real votes, durable in LMDB, one commit after the other. */
import { Digests } from '../../../engine/internal.js';
import { defineCase, type Round } from '../../case.js';
import {
  batchesOf,
  type Encoded,
  encodePast,
  historyOf,
  storeBefore,
} from '../../fixtures/history.js';
import { withFolder } from '../../fixtures/network.js';
import { Population } from '../../fixtures/population.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  blocks: number;
  /** Commits of a size, at most. */
  commits: number;
}

const VALIDATORS = 1_000;
const SIZES = [1, 16, 64, 256, 1_024];

async function run({ blocks, commits }: Configuration, { seed }: Round): Promise<Row[]> {
  const digests = new Digests();
  const past = await historyOf(await Population.of(VALIDATORS, seed), blocks);
  const encoded = past.map((one) => encodePast(one, digests));
  const rows: Row[] = [];
  for (const size of SIZES) rows.push(...(await committed(encoded, size, commits)));
  return rows;
}

async function committed(encoded: readonly Encoded[], size: number, most: number): Promise<Row[]> {
  const batches = [...batchesOf(encoded.slice(0, size * most), size)];
  return withFolder(async (path) => {
    const store = await storeBefore(path, batches[0]!);
    const { wall, cpu } = await timed(async () => {
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

export const storeCase = defineCase<Configuration>({
  name: 'store',
  about: 'durable commits of real votes to LMDB, by batch size',
  sizes: { small: { blocks: 8, commits: 128 }, large: { blocks: 64, commits: 1_024 } },
  run,
});
