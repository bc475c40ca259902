/** The end of a sweep whose runs are all there: tables and report; of a shard its seal. */
import { writeWhole } from '../../report/whole-file.js';
import type { Cell } from './design/cells.js';
import { type Extent, runsOf } from './extent.js';
import type { SweepFolder } from './folder/folder.js';
import { sealFolder } from './folder/seal.js';
import type { Outline } from './plan.js';
import { failureOf, type RunRecord } from './record.js';
import { failedRun, noVerdicts, type SweepResult } from './result.js';
import { finishedSweep } from './runs.js';
import { writeTables } from './tables/index.js';

export async function finishSweep(folder: SweepFolder, extent: Extent): Promise<SweepResult> {
  const tally = new Tally(extent.plan);
  writeTables(folder.path, finishedSweep(folder, extent), (record, cell) => {
    tally.add(record, cell);
  });
  writeWhole(folder.path, 'scenario.json', `${JSON.stringify(extent.plan.scenario, null, 2)}\n`);
  const { writeSweepReport } = await import('../report/index.js');
  await writeSweepReport(folder.path);
  return tally.result;
}

export function finishShard(folder: SweepFolder, extent: Extent): SweepResult {
  const tally = new Tally(extent.plan);
  for (const { cell, records } of finishedSweep(folder, extent).cells()) {
    for (const record of records) tally.add(record, cell);
  }
  sealFolder(folder.path, runsOf(extent));
  return tally.result;
}

/** Counts verdicts over all runs, in their order. */
class Tally {
  readonly result: SweepResult = {
    planned: 0,
    completed: 0,
    verdicts: noVerdicts(),
    failed: null,
    finished: true,
  };
  readonly #plan: Outline;

  constructor(plan: Outline) {
    this.#plan = plan;
  }

  add(record: RunRecord, cell: Cell): void {
    this.result.planned += 1;
    this.result.completed += 1;
    this.result.verdicts[record.verdict] += 1;
    const failure = failureOf(record);
    if (failure) this.result.failed ??= failedRun(this.#plan, { ...record, cell }, failure);
  }
}
