/**
 * A merge makes one sweep of its shards: the same bytes as if it had never been dealt out. All is
 * checked before anything is written; a merge that was ended goes on where it was.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Type, Value } from '../../engine/protocol/bundled/typebox.js';
import { makeFolder } from '../../engine/store/folder.js';
import { StoreError } from '../../engine/store/store.js';
import type { Provenance } from '../../report/folder.js';
import { jsonDifference } from '../compare/logs.js';
import { complete } from '../scenario/complete.js';
import {
  type Cell,
  checkDesign,
  countCells,
  formatSeed,
  generateCells,
  getColumn,
} from './design.js';
import {
  cassettePath,
  copyWhole,
  FORMAT,
  hashFile,
  parseRunName,
  type RunName,
  readJsonFile,
  readSeal,
  runPath,
  SEAL,
  type ShardHead,
  SweepError,
  SweepFolder,
  type SweepHead,
} from './folder.js';
import { getShare, isDealtTo, type Outline, shardText } from './plan.js';
import {
  checkStopping,
  countRuns,
  type Extent,
  generateRuns,
  type KeptRuns,
  type RunRecord,
  type SweepResult,
} from './runs.js';
import { Replicates } from './stopping.js';
import { finishSweep } from './sweep.js';

/** Where shards are merged. */
export interface MergeOptions {
  out: string;
  /** By which build: that of the shards. */
  made: Provenance;
  /** Go on with what `out` holds. */
  resume?: boolean;
  onProgress?: (done: number, of: number) => void;
}

/**
 * Makes one sweep of the folders of its shards, and its tables and report.
 *
 * @param folders of all shards, in any order.
 * @throws {MissingRunsError} when a run is missing, or a shard is not finished.
 * @throws {SweepError} when the shards are not of one sweep and this build, one is there twice, or
 *   `out` cannot be used so.
 * @throws {StoreError} `CORRUPT` when a shard is not as it was when it was finished.
 */
export async function mergeSweep(
  folders: readonly string[],
  options: MergeOptions,
): Promise<SweepResult> {
  const [first, ...others] = folders.map(openShard);
  if (!first) throw new SweepError('there is nothing to merge; expected the folders of shards');
  const shards = new Shards([first, ...others], options.made);
  const { plan, head } = shards;
  const replicates = new Replicates(plan.sweep, plan.cells);
  const extent = { plan, replicates, share: getShare(plan) };
  demandAll(shards, extent);
  for (const { key, replicate } of generateRuns(extent)) shards.read(key, replicate);
  const { out, resume = false } = options;
  const folder = await SweepFolder.open(out, head, resume, extent.share);
  try {
    copyRuns(shards, extent, folder, options.onProgress);
    return await finishSweep(folder, extent);
  } finally {
    folder.close();
  }
}

function copyRuns(
  shards: Shards,
  extent: Extent,
  folder: SweepFolder,
  onProgress: MergeOptions['onProgress'],
): void {
  const { planned } = countRuns(folder, extent);
  let done = 0;
  for (const run of generateRuns(extent)) {
    copyRun(shards, run, folder);
    done += 1;
    onProgress?.(done, planned);
  }
}

function copyRun(shards: Shards, run: RunName, folder: SweepFolder): void {
  const { path, seal } = shards.folderOf(shards.indexOf(run))!;
  const names = [cassettePath(run), runPath(run)].filter((name) => seal!.has(name));
  for (const name of names) {
    const file = join(folder.path, name);
    if (!existsSync(file)) {
      makeFolder(dirname(file));
      copyWhole(name, path, folder.path);
    } else if (hashFile(file) !== seal!.get(name)) {
      throw new StoreError('SHARD_FILE_DIFFERS', { path: file, other: join(path, name) });
    }
  }
  folder.note(run);
}

/** A shard that is not whole. */
export interface MissingShard {
  shard: number;
  of: number;
  /** Null when no folder holds it. */
  folder: string | null;
  /** Which of its runs are missing; none where it was ended before it had checked them all. */
  runs: { cell: number; replicate: number }[];
}

/** Runs are missing, so nothing was merged. */
export class MissingRunsError extends SweepError {
  /** What is to be run, or to be gone on with by `--resume`. */
  readonly missing: readonly MissingShard[];

  /** @internal */
  constructor(missing: readonly MissingShard[]) {
    const runs = missing.reduce((sum, one) => sum + one.runs.length, 0);
    const shards = missing.length === 1 ? 'a shard is' : `${missing.length} shards are`;
    super(`${shards} not whole: missing runs: ${runs}; nothing was merged`);
    this.missing = missing;
  }
}

/**
 * Finds how many runs each cell has, as the sweep in one folder would; all runs are there then.
 * @throws {MissingRunsError}
 */
function demandAll(shards: Shards, extent: Extent): void {
  do refuseMissing(shards, extent);
  while (checkStopping(shards, extent));
}

function refuseMissing(shards: Shards, extent: Extent): void {
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

/** The shards of one sweep, side by side: whether they belong together, and their runs as one. */
class Shards implements KeptRuns {
  /** As the sweep would write it in one folder. */
  readonly head: SweepHead;
  readonly plan: Outline;
  readonly of: number;
  readonly #folders = new Map<number, ShardFolder>();
  readonly #dealt: ReturnType<typeof isDealtTo>;
  readonly #problemOf: ReturnType<typeof recordChecker>;

  /**
   * @param made by which build they are merged: what it makes of the runs is part of the sweep.
   * @throws {SweepError} when one is of another sweep, another build, or there twice.
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
    refuseBuild(first, made);
    for (const folder of folders) this.#add(folder, first);
  }

  /** Null when no folder holds that shard. */
  folderOf(index: number): ShardFolder | null {
    return this.#folders.get(index) ?? null;
  }

  /** Those that were ended before they had checked what they have. */
  unfinished(): number[] {
    const unsealed = [...this.#folders].filter(([, { seal }]) => seal === null);
    return unsealed.map(([index]) => index);
  }

  /** The index of the shard that a run is dealt to. */
  indexOf({ key, replicate }: RunName): number {
    return this.#dealt(key, replicate)!;
  }

  has(key: string, replicate: number): boolean {
    const folder = this.folderOf(this.indexOf({ key, replicate }));
    return folder?.there.has(runPath({ key, replicate })) ?? false;
  }

  read(key: string, replicate: number): RunRecord {
    const { path } = this.folderOf(this.indexOf({ key, replicate }))!;
    const file = join(path, runPath({ key, replicate }));
    const record = readJsonFile(file);
    const problem = this.#problemOf(record, key, replicate);
    if (problem === null) return record as RunRecord;
    throw new StoreError('SWEEP_FILE_INVALID', { path: file, reason: problem });
  }

  #add(folder: ShardFolder, first: ShardFolder): void {
    const { path, head } = folder;
    const difference = jsonDifference(comparable(first), comparable(folder));
    if (difference) {
      const parted = `${difference.path} is ${difference.a} there and ${difference.b} here`;
      throw new SweepError(`${path} holds another sweep than ${first.path}: ${parted}`);
    }
    const { index } = head.shard;
    const same = this.#folders.get(index);
    if (same) {
      const twice = `shard ${shardText(head.shard)} is there twice: ${same.path} and ${path}`;
      throw new SweepError(`${twice}; expected each once`);
    }
    this.#folders.set(index, folder);
    for (const name of folder.there) this.#refuseForeign(folder, name);
  }

  #refuseForeign({ path, head: { shard } }: ShardFolder, name: string): void {
    const { key, replicate } = parseRunName(name.slice(name.indexOf('/') + 1))!;
    const index = this.#dealt(key, replicate);
    if (index === shard.index) return;
    const whose = index === null ? 'no cell of the sweep' : `shard ${index}/${shard.of}`;
    throw new SweepError(
      `${join(path, name)} is of ${whose}, and lies in shard ${shardText(shard)}`,
    );
  }
}

function comparable({ head: { shard, ...head } }: ShardFolder) {
  const { index: _, ...dealt } = shard;
  return { ...head, shard: dealt };
}

/** Tables and report are made here: by another build they might be others. */
function refuseBuild({ path, head }: ShardFolder, made: Provenance): void {
  const { version, commit, node } = head;
  const difference = jsonDifference({ version, commit, node }, made);
  if (!difference) return;
  const { path: what, a, b } = difference;
  throw new SweepError(`${path} is of another build: ${what} is ${a} there and ${b} here`);
}

/** The folder of a shard as a merge finds it. */
interface ShardFolder {
  path: string;
  head: ShardHead;
  /** Paths of the runs that are there. */
  there: ReadonlySet<string>;
  /** The sha256 of each file; null while the shard is not finished. */
  seal: ReadonlyMap<string, string> | null;
}

/**
 * @throws {SweepError} when it holds no shard of this build.
 * @throws {StoreError} `CORRUPT` when it is damaged.
 */
function openShard(path: string): ShardFolder {
  const head = readHead(path);
  const runs = join(path, 'runs');
  const files = existsSync(runs) ? readdirSync(runs) : [];
  const there = new Set(files.flatMap((file) => parseRunName(file) ?? []).map(runPath));
  const seal = readSeal(path);
  const folder = { path, head, there, seal };
  if (seal) checkFiles(folder, seal);
  return folder;
}

function readHead(path: string): ShardHead {
  const file = join(path, 'sweep.json');
  if (!existsSync(file)) throw new SweepError(`${path} holds no sweep; ${EXPECTED}`);
  const head = readJsonFile(file) as Partial<SweepHead> | null;
  if (head?.format !== FORMAT) {
    throw new SweepError(`${path} is of another build, whose files are others; ${EXPECTED}`);
  }
  const { shard } = head;
  if (!shard) throw new SweepError(`${path} holds a sweep that is no shard; ${EXPECTED}`);
  const problem = headProblem(head as SweepHead);
  if (problem === null) return head as ShardHead;
  throw new StoreError('SWEEP_FILE_INVALID', { path: file, reason: problem });
}

const EXPECTED = 'expected folders of folkmoot sweep --shard';

/** What a sweep writes of itself is complete already: completed again it is the same. */
function headProblem({ scenario, cells, shard }: SweepHead): string | null {
  const again = complete(scenario);
  if ('problem' in again) return `scenario.${again.problem.path.join('.')} ${again.problem.text}`;
  const changed = jsonDifference(scenario, again.scenario, 'scenario');
  if (changed) return `${changed.path} is ${changed.a}`;
  const { sweep } = scenario;
  if (!sweep) return 'scenario.sweep is missing';
  checkDesign(sweep);
  if (cells !== countCells(sweep)) return `cells is ${cells}; its design has ${countCells(sweep)}`;
  const { index, of, keys } = shard!;
  const isShard =
    Number.isSafeInteger(index) && Number.isSafeInteger(of) && 1 <= index && index <= of;
  if (!isShard) return `shard is ${index}/${of}`;
  const isKey = (key: unknown) => typeof key === 'string' && /^[0-9a-f]{16}$/.test(key);
  const areKeys = Array.isArray(keys) && keys.length === cells && keys.every(isKey);
  return areKeys ? null : 'shard.keys are not those of its cells';
}

/** Each file is as the shard left it, and there is no other run. */
function checkFiles({ path, there }: ShardFolder, seal: ReadonlyMap<string, string>): void {
  const extra = [...there].find((name) => !seal.has(name));
  if (extra !== undefined) {
    throw new StoreError('SHARD_FILE_EXTRA', { path: join(path, extra), seal: SEAL });
  }
  for (const [name, hash] of seal) {
    const file = join(path, name);
    // A run that is gone is missing, and is listed with all that are.
    if (parseRunName(basename(name)) && !there.has(name)) continue;
    const now = hashFile(file);
    if (now === hash) continue;
    const digests = { found: now, expected: hash };
    throw new StoreError('SHARD_FILE_CHANGED', { path: file, ...digests, seal: SEAL });
  }
}

const text = Type.String();
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);

/** Of what tables and reports read; whatever else a run says is copied as it is. */
const common = {
  measures: Type.Union([figures, Type.Null()]),
  groups: Type.Array(Type.Record(text, Type.Union([text, figure]))),
  reported: Type.Object({ run: figures, groups: Type.Record(text, figures) }),
  digest: Type.Union([text, Type.Null()]),
};
const Rule = Type.Object({ rule: text, actor: text, expected: text, found: text });
const kinds = Type.Enum(['scenario', 'unanswered', 'crash']);

const Kept = Type.Union([
  Type.Object({
    ...common,
    verdict: Type.Enum(['pass', 'no_progress']),
    ended_by: text,
    error: Type.Null(),
  }),
  Type.Object({ ...common, verdict: Type.Literal('safety'), broken: Rule, error: Type.Null() }),
  Type.Object({
    ...common,
    verdict: Type.Literal('error'),
    error: Type.Object({ kind: kinds, message: text }),
  }),
]);

/** Gives what is wrong with the record of a run, or null. */
function recordChecker({ sweep, scenario, keys }: Outline) {
  const cells = new Map<string, Cell>();
  for (const cell of generateCells(sweep, scenario.seed)) {
    const key = keys[cell.number - 1]!;
    // Cells that are the same have their runs in common, which say the values of the first.
    if (!cells.has(key)) cells.set(key, cell);
  }
  return (record: unknown, key: string, replicate: number): string | null => {
    if (!Value.Check(Kept, record)) return 'it is not what a sweep keeps of a run';
    const { seed, values } = cells.get(key)!;
    const columns = sweep.factors.map((factor, at) => [getColumn(factor), values[at]!]);
    const expected = {
      replicate,
      seed: formatSeed(seed, replicate),
      values: Object.fromEntries(columns),
    };
    const kept = record as unknown as RunRecord;
    const found = { replicate: kept.replicate, seed: kept.seed, values: kept.values };
    const difference = jsonDifference(found, expected);
    return difference && `${difference.path} is ${difference.a}; expected ${difference.b}`;
  };
}
