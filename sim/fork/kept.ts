/** A run that `sim --out` kept, as the one that a fork departs from. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Event } from '../../engine/internal.js';
import { StoreError } from '../../engine/internal.js';
import { resultIn, storeOf } from '../compare/index.js';
import { Numbers } from '../run/interventions/numbers.js';
import type { SimResult } from '../run/result.js';
import { sourceOf } from './sources.js';

/** A kept run that can be made again. */
export interface KeptRun {
  folder: string;
  result: SimResult;
  /** Where the modules of its scripts and its data files are; they are what the run had. */
  source: string;
}

/**
 * Reads a kept run, of which a fork is to be made.
 *
 * @param source where scripts and data files are; left out, they are looked for.
 * @throws {StoreError} when the folder holds no finished run with its log.
 * @throws {ScenarioError} when a script or data file is not there, or is another one by now.
 */
export function readKept(folder: string, source?: string): KeptRun {
  if (!existsSync(folder)) {
    throw new StoreError('MISSING', `${folder} does not exist; expected a run that sim --out kept`);
  }
  const result = resultIn(folder);
  if (isLive(folder, result)) {
    const why = 'its log is on a server, where others live too';
    throw new StoreError('OTHER_NETWORK', `${folder}: ${why}; expected a run in virtual time`);
  }
  return { folder, result, source: sourceOf(folder, result, source && resolve(source)) };
}

/** What is kept of a run in virtual time; null for any other folder, as that of a server. */
export function keptResult(folder: string): SimResult | null {
  if (!existsSync(join(folder, 'summary.json'))) return null;
  const result = resultIn(folder);
  return isLive(folder, result) ? null : result;
}

const isLive = (folder: string, { url }: SimResult): boolean =>
  url !== undefined || !existsSync(join(folder, 'network'));

/** The blocks, memes and alliances of the run. */
export async function numbersOf({ folder }: Pick<KeptRun, 'folder'>): Promise<Numbers> {
  const store = storeOf({ folder });
  try {
    const numbers = new Numbers();
    for (const { json } of store.events(1, store.meta()!.event_seq)) {
      numbers.happened(JSON.parse(json) as Event);
    }
    return numbers;
  } finally {
    await store.close();
  }
}
