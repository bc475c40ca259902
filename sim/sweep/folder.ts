/**
 * Sweep folder: sweep.json describes the sweep, runs/ contains one file per finished run, and
 * runs.sha256 seals a finished shard.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import {
  fileBounds,
  lockFolder,
  makeFolder,
  readBounded,
  syncFolderLater,
} from '../../engine/store/folder.js';
import { StoreError } from '../../engine/store/messages.js';
import {
  assertNoLinks,
  assertNoNetwork,
  assertNoOutput,
  fillWhole,
  makeInside,
  type Provenance,
  removeParts,
  writeWhole,
  writeWholeLater,
} from '../../report/folder.js';
import { CASSETTE_FILE } from '../agents/deciders/adapter.js';
import { withoutStops } from '../agents/deciders/ledger.js';
import { sweepTables } from '../measure/dictionary.js';
import type { Factor, Sweep } from '../scenario/schema/scenario.js';
import { SweepError, sweepDataError } from './messages.js';
import { type Outline, type Plan, type Shard, type Share, shardText } from './plan.js';
import { type RunRecord, recordChecker } from './runs.js';

/*
 * runs.sha256 lists a finished shard's files in `sha256sum -c` format and is written last. A merge
 * rejects a shard whose files differ from the list, so that truncated copies and manual edits are
 * detected.
 */

export const SEAL = 'runs.sha256';

/** @param runs runs in the shard. Identical cells share their runs. */
export function sealFolder(folder: string, runs: Iterable<RunName>): void {
  const sealed = new Set<string>();
  for (const run of runs) {
    sealed.add(runPath(run));
    if (existsSync(join(folder, cassettePath(run)))) sealed.add(cassettePath(run));
  }
  fillWhole(folder, SEAL, (file) => {
    for (const name of sealed) file.write(`${hashFile(join(folder, name))}  ${name}\n`);
  });
}

/**
 * Returns each file's SHA-256 by path, or null if the shard is not finished.
 *
 * @throws {StoreError} `CORRUPT` if the file was not written by `sealFolder`.
 */
export function readSeal(folder: string): Map<string, string> | null {
  const path = join(folder, SEAL);
  if (!existsSync(path)) return null;
  const sealed = new Map<string, string>();
  for (const [index, line] of textOf(path).split('\n').slice(0, -1).entries()) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}((?:runs|cassettes)\/[\w-]+\.\w+)$/.exec(line) ?? [];
    if (name === undefined || sealed.has(name)) {
      throw sweepDataError('SEAL_INVALID', { line: index + 1, path });
    }
    sealed.set(name, hash!);
  }
  return sealed;
}

const CHUNK_BYTES = 1_048_576;
/** @throws {StoreError} `CORRUPT` */
const textOf = (path: string): string =>
  reading(path, () => readBounded(path, fileBounds.result).toString());

/** @throws {StoreError} `CORRUPT` */
export function readJsonFile(path: string): unknown {
  const text = textOf(path);
  return reading(path, () => parseUnique(text));
}

/** @throws {StoreError} `CORRUPT` */
export function hashFile(path: string): string {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** @throws {StoreError} `CORRUPT` if the file is unreadable, `UNREADABLE` if the copy fails. */
export function copyWhole(name: string, from: string, to: string, copy = name): void {
  fillWhole(to, copy, (file) => {
    for (const chunk of chunksOf(join(from, name))) file.write(chunk);
  });
}

/** Yields chunks. A chunk is valid until the next one is yielded. */
function* chunksOf(path: string): Generator<Uint8Array> {
  const file = reading(path, () => openSync(path, 'r'));
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    for (;;) {
      const length = reading(path, () => readSync(file, chunk));
      if (length === 0) return;
      yield chunk.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

function reading<T>(path: string, what: () => T): T {
  try {
    return what();
  } catch (cause) {
    const reason = (cause as Error).message;
    throw sweepDataError('SWEEP_FILE_UNREADABLE', { path, reason }, { cause });
  }
}

export interface RunName {
  /** Cell key. */
  key: string;
  replicate: number;
}

/** Folder that contains the runs' cassettes. */
export const CASSETTES = 'cassettes';

const stem = ({ key, replicate }: RunName): string => `${key}-${replicate}`;

const runFile = (run: RunName): string => `${stem(run)}.json`;
export const runPath = (run: RunName): string => `runs/${runFile(run)}`;
export const cassettePath = (run: RunName): string => `${CASSETTES}/${stem(run)}.cassette`;
/** Folder that contains the folders of runs whose logs are kept. */
const LOGS = 'logs';
/** Folder of a run whose log is kept, with the same files as the folder of a single run. */
export const logPath = (run: RunName): string => `${LOGS}/${stem(run)}`;

/** Parses a run's file name. Returns null for any other name. */
export function parseRunName(file: string): RunName | null {
  const [, key, replicate] = /^([0-9a-f]{16})-([1-9]\d{0,5})\.json$/.exec(file) ?? [];
  return key === undefined ? null : { key, replicate: Number(replicate) };
}

/** @throws {StoreError} `CORRUPT` if the file does not hold a record of the run. */
export function readRun(
  folder: string,
  { key, replicate }: RunName,
  problemOf: ReturnType<typeof recordChecker>,
): RunRecord {
  const path = join(folder, runPath({ key, replicate }));
  const record = readJsonFile(path);
  const reason = problemOf(record, key, replicate);
  if (reason === null) return record as RunRecord;
  throw sweepDataError('RUN_FILE_INVALID', { path, reason });
}

/** Outputs of a finished sweep. */
const made = ['report.html', 'scenario.json', SEAL, ...Object.keys(sweepTables)];

interface OpenOptions {
  /** True to continue an existing sweep. In a folder without a sweep, a new sweep starts. */
  resume: boolean;
  /** Runs that may be in the folder. For a shard, the shard's own runs. */
  share: Share;
  /** Cells, which the records of the runs must match. */
  plan: Outline;
}

type ScanOptions = Omit<OpenOptions, 'resume'>;

export class SweepFolder {
  readonly path: string;
  readonly #problemOf: ReturnType<typeof recordChecker>;
  /** Finished replicates, by cell key. */
  readonly #there = new Map<string, Set<number>>();
  readonly #release: () => void;

  private constructor(path: string, plan: Outline, release: () => void) {
    this.path = path;
    this.#problemOf = recordChecker(plan);
    this.#release = release;
  }

  /**
   * @throws {SweepError} if a different process uses the folder, or the folder contains something
   * else.
   * @throws {StoreError} if the folder is a network's data folder, or holds a run or a load run.
   */
  static async open(
    path: string,
    head: SweepHead,
    { resume, share, plan }: OpenOptions,
  ): Promise<SweepFolder> {
    assertNoNetwork(path);
    assertNoLinks(path, [...made, 'sweep.json', 'writer.lock', 'runs', CASSETTES, LOGS]);
    if (!isBegun(path)) assertNoOutput(path, made);
    const folder = new SweepFolder(path, plan, lock(path));
    try {
      await folder.#begin(head, { resume, share, plan });
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  has(key: string, replicate: number): boolean {
    return this.#there.get(key)?.has(replicate) ?? false;
  }

  /** Resolves when the run is on disk. Until then, `has` returns false. */
  async save(key: string, record: RunRecord): Promise<void> {
    const { replicate } = record;
    const text = `${JSON.stringify(record, null, 2)}\n`;
    await writeWholeLater(this.path, runPath({ key, replicate }), text);
    this.note({ key, replicate });
  }

  /** Deletes a run. The run is repeated if it is still needed. */
  remove(key: string, replicate: number): void {
    rmSync(join(this.path, runPath({ key, replicate })), { force: true });
    this.removeLog({ key, replicate });
    this.#there.get(key)?.delete(replicate);
  }

  /** @throws {SweepError} `FOLDER_UNUSABLE` if the folder of the logs cannot be made. */
  makeLogs(): void {
    makeUsable(this.path, LOGS);
  }

  /** Deletes the log of a run that did not end, or is to be repeated. */
  removeLog(run: RunName): void {
    rmSync(join(this.path, logPath(run)), { recursive: true, force: true });
  }

  /** Copies the answers of deciders, if there are any, into the folder of a run with a log. */
  keepCassette(run: RunName): void {
    if (!existsSync(join(this.path, cassettePath(run)))) return;
    copyWhole(cassettePath(run), this.path, this.path, join(logPath(run), CASSETTE_FILE));
  }

  note({ key, replicate }: RunName): void {
    const there = this.#there.get(key) ?? new Set();
    this.#there.set(key, there.add(replicate));
  }

  read(key: string, replicate: number): RunRecord {
    return readRun(this.path, { key, replicate }, this.#problemOf);
  }

  close(): void {
    this.#release();
  }

  async #begin(head: SweepHead, { resume, share, plan }: OpenOptions): Promise<void> {
    const runs = join(this.path, 'runs');
    const folders = head.scenario.sweep!.log === 'keep' ? [runs, join(this.path, LOGS)] : [runs];
    const isThere = existsSync(join(this.path, 'sweep.json'));
    if (!isThere && folders.some((folder) => existsSync(folder))) {
      throw new SweepError('FOREIGN_RUNS', { path: this.path });
    }
    const isGrown = isThere && this.#isGrown(head, resume);
    if (isThere) this.#scan(runs, head, { share, plan });
    // Outputs from a smaller sweep must not exist alongside a head that names more runs, so these
    // outputs are deleted first.
    if (isGrown) for (const name of made) rmSync(join(this.path, name), { force: true });
    if (isGrown || !isThere) writeWhole(this.path, 'sweep.json', headText(head));
    makeUsable(this.path, 'runs');
    await syncFolderLater(this.path);
    for (const folder of [this.path, runs]) await removeParts(folder);
  }

  /** Returns true if the sweep has grown. Throws if the folder contains a different sweep. */
  #isGrown(head: SweepHead, resume: boolean): boolean {
    if (!resume) throw new SweepError('SWEEP_EXISTS', { path: this.path });
    const there = readJsonFile(join(this.path, 'sweep.json'));
    if (JSON.stringify(there) === JSON.stringify(head)) return false;
    const difference = differenceOf(there, head);
    if (difference === null) return true;
    throw new SweepError('DIFFERENT_SWEEP', { path: this.path, difference });
  }

  /** Checks and records finished runs. In a grown sweep, a run may belong to a different shard. */
  #scan(runs: string, { shard }: SweepHead, { share, plan }: ScanOptions): void {
    const keys = new Set(plan.keys);
    for (const file of existsSync(runs) ? readdirSync(runs) : []) {
      const run = parseRunName(file);
      if (!run) continue;
      if (shard && !share(run.key, run.replicate)) {
        throw new SweepError('FOREIGN_RUN', { path: join(runs, file), shard: shardText(shard) });
      }
      if (keys.has(run.key)) this.read(run.key, run.replicate);
      this.note(run);
    }
  }
}

/** Returns true if the folder holds a sweep, or runs of a sweep that lost its head. */
const isBegun = (path: string): boolean =>
  existsSync(join(path, 'sweep.json')) || existsSync(join(path, 'runs'));

function lock(path: string): () => void {
  makeUsable(path);
  try {
    return lockFolder(path);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'LOCKED') {
      throw new SweepError('FOLDER_IN_USE', { path });
    }
    throw unusable(path, error);
  }
}

/** @throws {SweepError} `FOLDER_UNUSABLE` */
function makeUsable(path: string, inside?: string): void {
  try {
    if (inside === undefined) makeFolder(path);
    else makeInside(path, inside);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw unusable(join(path, inside ?? ''), error);
  }
}

const unusable = (path: string, cause: unknown): SweepError =>
  new SweepError('FOLDER_UNUSABLE', { path, reason: describeSystemError(cause) }, { cause });

export const FORMAT = 3;

export type SweepHead = Provenance &
  Pick<Plan, 'cells' | 'runs' | 'modules' | 'scenario'> & {
    format: number;
    /** SHA-256 of the registration that the sweep obeys. */
    registered?: string;
    /** Set for a shard. Includes all cells' keys, so a merge does not need the scenario's files. */
    shard?: Shard & Pick<Plan, 'keys'>;
  };

export type ShardHead = SweepHead & Required<Pick<SweepHead, 'shard'>>;

export function createSweepHead(plan: Plan, made: Provenance, shard?: Shard): SweepHead {
  const { version, commit, node } = made;
  const { cells, runs, modules, scenario, keys } = plan;
  const named = plan.registered === undefined ? {} : { registered: plan.registered };
  const about = { format: FORMAT, ...named, version, commit, node };
  const whole = { ...about, cells, runs, modules, scenario };
  return shard ? { ...whole, shard: { ...shard, keys } } : whole;
}

const headText = (head: SweepHead): string => `${JSON.stringify(head, null, 2)}\n`;

/** Returns null if the old sweep's runs belong to the new sweep too; otherwise the difference. */
function differenceOf(there: unknown, now: SweepHead): string | null {
  const old = there as Partial<SweepHead> | null;
  if (old?.format !== FORMAT) {
    return (
      'written by another build with a different file format; use a new folder; ' +
      'existing tables are unchanged'
    );
  }
  const [a, b] = [old as SweepHead, now];
  const found = jsonDifference(fixed(a, b), fixed(b, b));
  if (found) return `${found.path} is ${found.a} there and ${found.b} now`;
  return lessOf(a.scenario.sweep!, b.scenario.sweep!);
}

/** Returns members that must be equal. Values may be added if not all cells depend on them. */
function fixed(
  { version, commit, node, modules, scenario, shard, registered }: SweepHead,
  now: SweepHead,
) {
  const { sweep, ...base } = withoutStops(scenario);
  const { design, levels, factors, log } = sweep!;
  const known = Object.keys(modules).filter((name) => name in now.modules);
  return {
    version,
    commit,
    node,
    shard: shard ? shardText(shard) : 'none',
    registered: registered ?? 'none',
    modules: Object.fromEntries(known.map((name) => [name, modules[name]])),
    scenario: {
      ...base,
      sweep: {
        design,
        log,
        levels: levels ?? null,
        factors: factors.map((one) => ranged(one, design)),
      },
    },
  };
}

const ranged = ({ values, ...factor }: Factor, design: Sweep['design']) =>
  design === 'grid' || design === 'list' ? factor : { ...factor, values: values ?? null };

/** Returns a description of what the new sweep lacks. Runs can be added, but not removed. */
function lessOf(there: Sweep, now: Sweep): string | null {
  const counted = (name: string, a: number, b: number) =>
    b < a ? `sweep.${name} is ${a} there and ${b} now; expected at least ${a}` : null;
  return (
    counted('replicates', there.replicates, now.replicates) ??
    findSamplesProblem(there.samples ?? 0, now) ??
    there.factors.map((factor, index) => findValuesProblem(factor, now, index)).find(Boolean) ??
    null
  );
}

function findSamplesProblem(there: number, { design, samples = 0 }: Sweep): string | null {
  if (samples === there) return null;
  const what = `sweep.samples is ${there} there and ${samples} now`;
  if (design === 'lhs') {
    return (
      `${what}: the strata of a Latin hypercube depend on the number of samples; ` +
      'add replicates, or use the design sobol, which can grow'
    );
  }
  return samples < there ? `${what}; expected at least ${there}` : null;
}

function findValuesProblem(
  { path, values: there = [] }: Factor,
  { design, factors }: Sweep,
  at: number,
) {
  const now = factors[at]!.values ?? [];
  if (design !== 'grid' && design !== 'list') return null;
  const lost =
    design === 'grid'
      ? there.find((value) => !now.includes(value))
      : there.find((value, index) => now[index] !== value);
  if (lost === undefined) return null;
  const how =
    design === 'grid' ? 'values can only be added' : 'values can only be added at the end';
  return `sweep.factors.${at} (${path}) lacks the value ${JSON.stringify(lost)}; ${how}`;
}
