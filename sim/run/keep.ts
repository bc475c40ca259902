/** What a run keeps in its folder, if it has one; what writes it is loaded only then. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../engine/internal.js';
import type { DecisionLine, Finished, Row } from '../measure/index.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Neighbours } from '../world/links/graph/linked.js';
import type { SimResult } from './result.js';

export interface Keeper {
  /** Takes the rows of votes.csv; absent when nobody asks for them. */
  onRow?: (row: Row<'votes.csv'>) => void;
  /** Takes the lines of decisions.ndjson likewise. */
  onDecision?: (line: DecisionLine) => void;
  /** To be called at the end. The network must be open: rows are read as they are written. */
  keep(result: SimResult, finished: Finished, neighbours: Neighbours): Promise<void>;
}

/** Loaded where something is kept. */
const output = () => import('./output.js');

/**
 * @param goesOn it holds the beginning of the same run, which is made again.
 * @throws {StoreError} when the folder cannot be used, or holds a run.
 */
export async function prepare(folder: string | undefined, goesOn = false): Promise<void> {
  if (folder !== undefined) await (await output()).prepareOutput(folder, goesOn);
}

/** A run that fails leaves no half table behind. */
export async function keeping<T>(
  folder: string | undefined,
  scenario: Scenario,
  run: (keeper: Keeper) => Promise<T>,
): Promise<T> {
  if (folder === undefined) return run({ keep: async () => {} });
  const { openTables, writeResult } = await output();
  const { finish, abandon, ...takers } = openTables(folder, scenario);
  try {
    return await run({
      ...takers,
      async keep(result, finished, neighbours) {
        finish();
        await writeResult(folder, result, finished, neighbours);
      },
    });
  } catch (error) {
    abandon();
    throw error;
  }
}

/** Where a run is while it is made that nobody keeps. @throws {StoreError} `UNREADABLE` */
export async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'folkmoot-sim-'));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new StoreError('UNREADABLE', `no temporary folder can be made: ${why}`, { cause });
  }
}
