/**
 * A run that `sim --out` kept, from which a fork departs, with the scripts, prompts and data files
 * that it used, found again by their hashes.
 */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Event } from '../../engine/protocol/schema/event.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import { StoreError } from '../../engine/store/store.js';
import { openRunStore } from '../compare/logs.js';
import { readResult } from '../compare/runs.js';
import { Numbers } from '../run/overrides.js';
import type { SimResult } from '../run/result.js';
import { fileInside } from '../scenario/files.js';
import { shippedScenarios } from '../scenario/load.js';
import { ScenarioError } from '../scenario/problem.js';

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
  if (!existsSync(folder)) throw new StoreError('RUN_NOT_FOUND', { path: folder });
  const result = readResult(folder);
  if (isLive(folder, result)) throw new StoreError('RUN_LIVE', { path: folder });
  return { folder, result, source: findSource(folder, result, source && resolve(source)) };
}

/** What is kept of a run in virtual time; null for any other folder, as that of a server. */
export function readKeptResult(folder: string): SimResult | null {
  if (!existsSync(join(folder, 'summary.json'))) return null;
  const result = readResult(folder);
  return isLive(folder, result) ? null : result;
}

const isLive = (folder: string, { url }: SimResult): boolean =>
  url !== undefined || !existsSync(join(folder, 'network'));

/** The blocks, memes and alliances of the run. */
export async function readNumbers({ folder }: Pick<KeptRun, 'folder'>): Promise<Numbers> {
  const store = openRunStore({ folder });
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

type Named = Pick<SimResult, 'modules' | 'files'>;

/**
 * The folder that the user named; else the run's own, that of the process, or that of the shipped
 * scenarios: the first one that has all of them as they were.
 * @throws {ScenarioError} when none has.
 */
export function findSource(run: string, named: Named, given: string | undefined): string {
  const shipped = shippedScenarios().map(({ path }) => dirname(path));
  const folders = given === undefined ? [resolve(run), process.cwd(), ...shipped] : [given];
  const problems = folders.map((folder) => problemIn(folder, named));
  const at = problems.indexOf(null);
  if (at >= 0) return folders[at]!;
  const how = given === undefined ? '; --folder says where they are' : '';
  throw new ScenarioError(`${problems[0]}${how}`);
}

function problemIn(folder: string, { modules, files }: Named): string | null {
  for (const [path, sha256] of Object.entries({ ...modules, ...files })) {
    if (!existsSync(join(folder, path))) return `${path} is not in ${folder}, and the run needs it`;
    // Whoever wrote the folder must not choose what is copied, and to where.
    const found = fileInside(path, folder, 'a file');
    if ('why' in found) return `a file that the run needs ${found.why}`;
    if (sha256Hex(readBounded(found.file, fileBounds.result)) === sha256) continue;
    return `${join(folder, path)} is not what the run had: its sha256 was ${sha256}`;
  }
  return null;
}

/** Copies them into a folder, so that a scenario there finds them. */
export function copySources(from: string, to: string, { modules, files }: Named): void {
  for (const path of Object.keys({ ...modules, ...files })) {
    const target = join(to, path);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(from, path), target);
  }
}
