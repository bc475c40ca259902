/**
 * Merges shards into one sweep, byte for byte identical to an undivided sweep. Validates everything
 * before writing. An interrupted merge can be resumed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { makeInside, type Provenance } from '../../report/folder.js';
import { complete } from '../scenario/complete.js';
import type { Problem } from '../scenario/problem.js';
import { assertDesign, countCells } from './design.js';
import {
  cassettePath,
  copyWhole,
  FORMAT,
  hashFile,
  parseRunName,
  type RunName,
  readJsonFile,
  readRun,
  readSeal,
  runPath,
  SEAL,
  type ShardHead,
  SweepFolder,
  type SweepHead,
} from './folder.js';
import { SweepError, sweepDataError } from './messages.js';
import { getShare, isDealtTo, type Outline, shardText } from './plan.js';
import {
  countRuns,
  type Extent,
  generateRuns,
  type KeptRuns,
  needsMoreRuns,
  type RunRecord,
  recordChecker,
  type SweepResult,
} from './runs.js';
import { Replicates } from './stopping.js';
import { finishSweep } from './sweep.js';

/** Options of a merge: its output folder, build and progress. */
export interface MergeOptions {
  out: string;
  /** Build that performs the merge. It must be identical to the shards' build. */
  made: Provenance;
  /** Continue an earlier merge in `out`. */
  resume?: boolean;
  onProgress?: (done: number, of: number) => void;
}

/**
 * Merges the folders of all shards into one sweep with tables and a report.
 *
 * @param folders folders of all shards, in any order.
 * @throws {MissingRunsError} if a run is missing, or a shard is not finished.
 * @throws {SweepError} if the shards belong to different sweeps or to a different build, if a shard
 * occurs twice, or if `out` cannot be used.
 * @throws {StoreError} `CORRUPT` if a shard has changed since it was finished.
 */
export async function mergeSweep(
  folders: readonly string[],
  options: MergeOptions,
): Promise<SweepResult> {
  const [first, ...others] = folders.map(openShard);
  if (!first) throw new SweepError('NOTHING_TO_MERGE', {});
  const shards = new Shards([first, ...others], options.made);
  const { plan, head } = shards;
  const replicates = new Replicates(plan.sweep, plan.cells);
  const extent = { plan, replicates, share: getShare(plan) };
  demandAll(shards, extent);
  for (const { key, replicate } of generateRuns(extent)) shards.read(key, replicate);
  const { out, resume = false } = options;
  const folder = await SweepFolder.open(out, head, { resume, share: extent.share, plan });
  try {
    const { planned } = countRuns(folder, extent);
    let done = 0;
    for (const run of generateRuns(extent)) {
      copyRun(shards, run, folder);
      done += 1;
      options.onProgress?.(done, planned);
    }
    return await finishSweep(folder, extent);
  } finally {
    folder.close();
  }
}

function copyRun(shards: Shards, run: RunName, folder: SweepFolder): void {
  const { path, seal } = shards.folderOf(shards.indexOf(run))!;
  const names = [cassettePath(run), runPath(run)].filter((name) => seal!.has(name));
  for (const name of names) {
    const file = join(folder.path, name);
    if (!existsSync(file)) {
      makeInside(folder.path, dirname(name));
      copyWhole(name, path, folder.path);
    } else if (hashFile(file) !== seal!.get(name)) {
      throw sweepDataError('SHARD_FILE_DIFFERS', { path: file, other: join(path, name) });
    }
  }
  folder.note(run);
}

/** Incomplete shard. */
export interface MissingShard {
  shard: number;
  of: number;
  /** Shard's folder; null if no folder contains the shard. */
  folder: string | null;
  /** Missing runs; empty if the shard was stopped before it was sealed. */
  runs: { cell: number; replicate: number }[];
}

/** Thrown when runs are missing. Nothing was merged. */
export class MissingRunsError extends SweepError<'RUNS_MISSING'> {
  /** Shards to run, or to continue with `--resume`. */
  readonly missing: readonly MissingShard[];

  /** @internal */
  constructor(missing: readonly MissingShard[]) {
    const runs = missing.reduce((sum, one) => sum + one.runs.length, 0);
    super('RUNS_MISSING', { shards: missing.length, runs });
    this.missing = missing;
  }
}

/** Computes each cell's runs as an undivided sweep would. @throws {MissingRunsError} */
function demandAll(shards: Shards, extent: Extent): void {
  do assertComplete(shards, extent);
  while (needsMoreRuns(shards, extent));
}

function assertComplete(shards: Shards, extent: Extent): void {
  const { of } = shards;
  const missing = new Map<number, MissingShard>();
  const lacking = (shard: number): MissingShard => {
    const folder = shards.folderOf(shard)?.path ?? null;
    const one = missing.get(shard) ?? { shard, of, folder, runs: [] };
    missing.set(shard, one);
    return one;
  };
  for (const { cell, key, replicate } of generateRuns(extent)) {
    if (shards.has(key, replicate)) continue;
    lacking(shards.indexOf({ key, replicate })).runs.push({ cell, replicate });
  }
  for (const shard of shards.unfinished()) lacking(shard);
  const sorted = [...missing.values()].sort((a, b) => a.shard - b.shard);
  if (sorted.length > 0) throw new MissingRunsError(sorted);
}

/** Shards of one sweep, checked for consistency and read as if in one folder. */
class Shards implements KeptRuns {
  /** Undivided sweep's head. */
  readonly head: SweepHead;
  readonly plan: Outline;
  readonly of: number;
  readonly #folders = new Map<number, ShardFolder>();
  readonly #dealt: ReturnType<typeof isDealtTo>;
  readonly #problemOf: ReturnType<typeof recordChecker>;

  /**
   * @param made build that merges. The tables depend on the build.
   * @throws {SweepError} if a shard belongs to a different sweep or build, or occurs twice.
   */
  constructor(folders: readonly [ShardFolder, ...ShardFolder[]], made: Provenance) {
    const [first] = folders;
    const { shard, ...head } = first.head;
    const { scenario, cells } = head;
    this.head = head;
    this.of = shard.of;
    this.plan = { scenario, sweep: scenario.sweep!, cells, keys: shard.keys };
    this.#dealt = isDealtTo(this.plan, shard.of);
    this.#problemOf = recordChecker(this.plan);
    assertSameBuild(first, made);
    for (const folder of folders) this.#add(folder, first);
  }

  /** Returns the shard's folder, or null if no folder contains the shard. */
  folderOf(index: number): ShardFolder | null {
    return this.#folders.get(index) ?? null;
  }

  unfinished(): number[] {
    const unsealed = [...this.#folders].filter(([, { seal }]) => seal === null);
    return unsealed.map(([index]) => index);
  }

  indexOf({ key, replicate }: RunName): number {
    return this.#dealt(key, replicate)!;
  }

  has(key: string, replicate: number): boolean {
    const folder = this.folderOf(this.indexOf({ key, replicate }));
    return folder?.there.has(runPath({ key, replicate })) ?? false;
  }

  read(key: string, replicate: number): RunRecord {
    const { path } = this.folderOf(this.indexOf({ key, replicate }))!;
    return readRun(path, { key, replicate }, this.#problemOf);
  }

  #add(folder: ShardFolder, first: ShardFolder): void {
    const { path, head } = folder;
    const found = jsonDifference(comparable(first), comparable(folder));
    if (found) {
      const difference = `${found.path} is ${found.a} in the first and ${found.b} in the second`;
      throw new SweepError('SHARDS_DIFFER', { first: first.path, second: path, difference });
    }
    const { index } = head.shard;
    const same = this.#folders.get(index);
    if (same) {
      const shard = shardText(head.shard);
      throw new SweepError('DUPLICATE_SHARD', { shard, first: same.path, second: path });
    }
    this.#folders.set(index, folder);
    for (const name of folder.there) this.#assertNotForeign(folder, name);
  }

  #assertNotForeign({ path, head: { shard } }: ShardFolder, name: string): void {
    const { key, replicate } = parseRunName(name.slice(name.indexOf('/') + 1))!;
    const index = this.#dealt(key, replicate);
    if (index === shard.index) return;
    const owner = index === null ? 'no cell of the sweep' : `shard ${index}/${shard.of}`;
    const holder = `shard ${shardText(shard)}`;
    throw new SweepError('MISPLACED_RUN', { path: join(path, name), owner, holder });
  }
}

function comparable({ head: { shard, ...head } }: ShardFolder) {
  const { index: _, ...dealt } = shard;
  return { ...head, shard: dealt };
}

/**
 * Refuses a different build. The merge computes the tables and report, and a different build might
 * compute different ones.
 */
function assertSameBuild({ path, head }: ShardFolder, made: Provenance): void {
  const { version, commit, node } = head;
  const difference = jsonDifference({ version, commit, node }, made);
  if (!difference) return;
  const { path: member, a: there, b: here } = difference;
  throw new SweepError('DIFFERENT_BUILD', { path, member, there, here });
}

interface ShardFolder {
  path: string;
  head: ShardHead;
  /** Paths of the shard's run files. */
  there: ReadonlySet<string>;
  /** SHA-256 hashes by file; null if the shard is not finished. */
  seal: ReadonlyMap<string, string> | null;
}

/**
 * @throws {SweepError} if the folder contains no shard from this build.
 * @throws {StoreError} `CORRUPT` if the shard is damaged.
 */
function openShard(path: string): ShardFolder {
  const head = readHead(path);
  const runs = join(path, 'runs');
  const files = existsSync(runs) ? readdirSync(runs) : [];
  const there = new Set(files.flatMap((file) => parseRunName(file) ?? []).map(runPath));
  const seal = readSeal(path);
  const folder = { path, head, there, seal };
  if (seal) assertFiles(folder, seal);
  return folder;
}

function readHead(path: string): ShardHead {
  const file = join(path, 'sweep.json');
  if (!existsSync(file)) throw new SweepError('NO_SWEEP', { path });
  const head = readJsonFile(file) as Partial<SweepHead> | null;
  if (head?.format !== FORMAT) throw new SweepError('DIFFERENT_FORMAT', { path });
  const { shard } = head;
  if (!shard) throw new SweepError('NO_SHARD', { path });
  const problem = findHeadProblem(head as SweepHead);
  if (problem === null) return head as ShardHead;
  throw sweepDataError('SWEEP_FILE_INVALID', { path: file, reason: problem });
}

/** Checks a head. A sweep writes a complete scenario: completing it again must not change it. */
function findHeadProblem({ scenario, cells, shard }: SweepHead): string | null {
  const again = complete(scenario);
  if ('problems' in again) {
    const [{ path, text }] = again.problems as [Problem];
    return `scenario.${path.join('.')} ${text}`;
  }
  const changed = jsonDifference(scenario, again.scenario, 'scenario');
  if (changed) return `${changed.path} is ${changed.a}`;
  const { sweep } = scenario;
  if (!sweep) return 'scenario.sweep is missing';
  assertDesign(sweep);
  if (cells !== countCells(sweep)) return `cells is ${cells}; expected ${countCells(sweep)}`;
  const { index, of, keys } = shard!;
  const isShard =
    Number.isSafeInteger(index) && Number.isSafeInteger(of) && 1 <= index && index <= of;
  if (!isShard) return `shard is ${index}/${of}`;
  const isKey = (key: unknown) => typeof key === 'string' && /^[0-9a-f]{16}$/.test(key);
  const areKeys = Array.isArray(keys) && keys.length === cells && keys.every(isKey);
  return areKeys ? null : 'shard.keys do not match the cells';
}

/** Checks that each file matches the seal and that the folder contains no other runs. */
function assertFiles({ path, there }: ShardFolder, seal: ReadonlyMap<string, string>): void {
  const extra = [...there].find((name) => !seal.has(name));
  if (extra !== undefined) {
    throw sweepDataError('SHARD_FILE_EXTRA', { path: join(path, extra), seal: SEAL });
  }
  for (const [name, hash] of seal) {
    const file = join(path, name);
    // Missing runs are reported together later.
    if (parseRunName(basename(name)) && !there.has(name)) continue;
    const now = hashFile(file);
    if (now === hash) continue;
    const digests = { found: now, expected: hash };
    throw sweepDataError('SHARD_FILE_CHANGED', { path: file, ...digests, seal: SEAL });
  }
}
