/** Replay of a kept run: everything recomputed and compared, with and without signatures. */
import { join } from 'node:path';
import {
  createVerifier,
  openLmdbStore,
  replay,
  SCHEMA_VERSION,
  storedLines,
  tables,
  type Verifier,
} from '../../../engine/internal.js';
import { defaultScenario, simulate } from '../../../sim/index.js';
import { defineCase, type Round } from '../../case.js';
import { withFolder } from '../../fixtures/network.js';
import { timed } from '../../raw/measure.js';
import type { Row } from '../../result.js';

interface Configuration {
  agents: number;
  /** A block of 1,000 agents is some 750 entries. */
  blocks: number;
}

async function run({ agents, blocks }: Configuration, { r, seed }: Round): Promise<Row[]> {
  const scenario = defaultScenario(agents, { length: { blocks } });
  return withFolder(async (folder) => {
    const out = join(folder, 'run');
    // They sign; nobody checks it while the run is made.
    await simulate(scenario, { out, seed, verifier: 'off', audit: false });
    const path = join(out, 'network');
    const plain = await replayed(path, r);
    const verifier = createVerifier('pool');
    try {
      const checked = await replayed(path, r, verifier);
      const goal = { ratio: plain.of_r!, wanted: 0.8 };
      return [
        { ...plain, name: 'entries, without signatures; ratio: of R', ...goal },
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
    const { wall, cpu } = await timed(async () => {
      const { match, entries: found } = await replay(options);
      if (!match) throw new Error('a run that was just kept does not replay');
      entries = found;
    });
    const per_s = entries / wall;
    return { per_s, of_r: per_s / r, cpu_us: (cpu * 1e6) / entries };
  } finally {
    await stored.close();
  }
}

export const replayCase = defineCase<Configuration>({
  name: 'replay',
  about: 'a kept run recomputed and compared, with and without its signatures, beside R',
  sizes: { small: { agents: 300, blocks: 60 }, large: { agents: 1_000, blocks: 1_350 } },
  run,
});
