/** Saved runs and the scripts, prompts and data files that they used, found by hash. */
import { constants, copyFileSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Event } from '../../engine/protocol/schema/event.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import { defineStoreErrors } from '../../engine/store/messages.js';
import { makeInside } from '../../report/folder.js';
import { withRunStore } from '../compare/logs.js';
import { readResult } from '../compare/runs.js';
import { tables } from '../measure/dictionary.js';
import { Numbers } from '../run/overrides.js';
import type { SimResult } from '../run/result.js';
import { fileInside } from '../scenario/files.js';
import { shippedScenarios } from '../scenario/load.js';
import { type ScenarioError, scenarioError } from '../scenario/problem.js';

export const forkError = defineStoreErrors({
  MISSING: {
    RUN_NOT_FOUND: 'run not found: {path}; pass a folder written by folkmoot sim --out',
  },
  OTHER_NETWORK: {
    RUN_LIVE: 'not a virtual-time run: {path}; pass a run in virtual time',
  },
  FAILED: {
    FORK_FAILED: 'fork failed ({which}): {reason}',
  },
  UNREADABLE: {
    FORK_ENTRY_MISSING: 'the fork in {path} has no entry {seq}',
  },
});

/** Saved run that can be replayed. */
export interface KeptRun {
  folder: string;
  result: SimResult;
  /** Folder that contains the run's unchanged scripts and data files. */
  source: string;
}

/**
 * Reads a saved run to fork.
 *
 * @param source folder with scripts and data files. If absent, known folders are searched.
 * @throws {StoreError} if the folder contains no finished run with its log.
 * @throws {ScenarioError} if a script or data file is missing or has changed.
 */
export function readKept(folder: string, source?: string): KeptRun {
  if (!existsSync(folder)) throw forkError('RUN_NOT_FOUND', { path: folder });
  const result = readResult(folder);
  if (isLive(folder, result)) throw forkError('RUN_LIVE', { path: folder });
  return { folder, result, source: findSource(folder, result, source && resolve(source)) };
}

/** Returns a saved run's result in virtual time, or null for any other folder. */
export function readKeptResult(folder: string): SimResult | null {
  if (!existsSync(join(folder, 'summary.json'))) return null;
  const result = readResult(folder);
  return isLive(folder, result) ? null : result;
}

const isLive = (folder: string, { url }: SimResult): boolean =>
  url !== undefined || !existsSync(join(folder, 'network'));

/** Reads the run's blocks, memes and alliances. */
export const readNumbers = ({ folder }: Pick<KeptRun, 'folder'>): Promise<Numbers> =>
  withRunStore(folder, (store) => {
    const numbers = new Numbers();
    for (const { json } of store.events(1, store.meta()!.event_seq)) {
      numbers.happened(JSON.parse(json) as Event);
    }
    return numbers;
  });

type Named = Pick<SimResult, 'modules' | 'files'>;

/**
 * Returns the named folder. Without a name, tries the run's folder, the working directory and the
 * folder of shipped scenarios, and returns the first that contains all files unchanged.
 * @throws {ScenarioError} if no folder contains them.
 */
export function findSource(run: string, named: Named, given: string | undefined): string {
  const shipped = shippedScenarios().map(({ path }) => dirname(path));
  const folders = given === undefined ? [resolve(run), process.cwd(), ...shipped] : [given];
  const problems = folders.map((folder) => problemIn(folder, named));
  const at = problems.indexOf(null);
  if (at >= 0) return folders[at]!;
  throw problems[0]!;
}

function problemIn(folder: string, { modules, files }: Named): ScenarioError | null {
  for (const [path, sha256] of Object.entries({ ...modules, ...files })) {
    const file = join(folder, path);
    if (!existsSync(file)) return scenarioError('SOURCE_NOT_FOUND', { file });
    // A run folder can come from an untrusted source, so it must not choose which files are copied.
    const found = fileInside(path, folder, 'a file');
    if ('text' in found) return scenarioError('INVALID_SOURCE', { problem: found.text });
    if (sha256Hex(readBounded(found.file, fileBounds.result)) === sha256) continue;
    // In a saved run, a name such as edges.csv is that of a table of the run.
    if (isOutput(folder, path)) return scenarioError('SOURCE_NOT_FOUND', { file });
    return scenarioError('SOURCE_CHANGED', { file, sha256 });
  }
  return null;
}

/** Returns true if the file is a table that a saved run wrote into its own folder. */
const isOutput = (folder: string, path: string): boolean =>
  path in tables && existsSync(join(folder, 'summary.json'));

/** Copies the files that accompany a scenario. */
export function copySources(from: string, to: string, { modules, files }: Named): void {
  for (const path of Object.keys({ ...modules, ...files })) {
    const target = join(to, path);
    if (existsSync(target)) continue;
    makeInside(to, dirname(path));
    copyFileSync(join(from, path), target, constants.COPYFILE_EXCL);
  }
}
