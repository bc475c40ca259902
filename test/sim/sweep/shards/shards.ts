/** Sharded and merged sweeps in the test process. */
import { join } from 'node:path';
import {
  type MergeOptions,
  mergeSweep,
  planSweep,
  type SweepOptions,
  type SweepResult,
  sweep,
} from 'folkmoot/sim';
import { build } from '../../../../dist/cli/output/provenance.js';
import { suiteFolder } from '../../../support/runs.js';
import { smallRaw, writeScenario } from '../scenarios.js';

/** Provenance as the command line records it, because commands resume these folders. */
export const made = build();

/** Runs the sweep of a file in one folder. */
export const whole = (file: string, out: string, options: Partial<SweepOptions> = {}) =>
  sweep(planSweep(file), { out, made, jobs: 1, ...options });

export const foldersIn = (around: string, of: number): string[] =>
  Array.from({ length: of }, (_, index) => join(around, `shard-${index + 1}`));

export async function dealt(
  file: string,
  around: string,
  of: number,
  options: Partial<SweepOptions> = {},
): Promise<SweepResult[]> {
  const results: SweepResult[] = [];
  for (const [at, out] of foldersIn(around, of).entries()) {
    results.push(await whole(file, out, { shard: { index: at + 1, of }, ...options }));
  }
  return results;
}

export const merged = (
  folders: readonly string[],
  out: string,
  options: Partial<MergeOptions> = {},
): Promise<SweepResult> => mergeSweep(folders, { out, made, ...options });

/** A sweep of six runs in one folder and in two shards, for the tests of a file. */
export function sixRuns() {
  const sweep = { factors: [{ path: 'links.loss', values: [0, 0.1, 0.2] }], replicates: 2 };
  const around = suiteFolder();
  const file = writeScenario(around, { ...smallRaw(), sweep });
  const alone = join(around, 'alone');
  const shards = foldersIn(around, 2) as [string, string];
  beforeAll(async () => {
    await whole(file, alone);
    await dealt(file, around, 2);
  });
  return { sweep, file, alone, shards };
}
