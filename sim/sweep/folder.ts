/**
 * The folder of a sweep: sweep.json says what it is, runs/ holds a file for each finished run, and
 * runs.sha256 seals a finished shard.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileBounds, lockFolder, makeFolder, readBounded } from '../../engine/store/folder.js';
import { StoreError } from '../../engine/store/store.js';
import {
  type Provenance,
  refuseNetwork,
  removeParts,
  syncFolder,
  WholeFile,
  writeWhole,
} from '../../report/folder.js';
import { jsonDifference } from '../compare/logs.js';
import { sweepTables } from '../measure/dictionary.js';
import type { Factor, Sweep } from '../scenario/schema/scenario.js';
import { type Plan, type Shard, type Share, shardText } from './plan.js';
import type { RunRecord } from './runs.js';

/*
 * runs.sha256: what a finished shard holds, file by file, in the form that `sha256sum -c` reads. It
 * is written when all is there, and a merge takes nothing that is otherwise: neither what was cut
 * short on its way to another machine, nor what was changed by hand.
 */

export const SEAL = 'runs.sha256';

/** @param runs those of the shard; cells that are the same have theirs in common. */
export function sealFolder(folder: string, runs: Iterable<RunName>): void {
  const file = new WholeFile(folder, SEAL);
  const sealed = new Set<string>();
  const add = (name: string) => {
    if (sealed.has(name)) return;
    sealed.add(name);
    file.write(`${hashFile(join(folder, name))}  ${name}\n`);
  };
  try {
    for (const run of runs) {
      add(runPath(run));
      if (existsSync(join(folder, cassettePath(run)))) add(cassettePath(run));
    }
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/**
 * The sha256 of each file by its path; null when the shard has not been finished.
 * @throws {StoreError} `CORRUPT` when it is not as `sealFolder` writes it.
 */
export function readSeal(folder: string): Map<string, string> | null {
  const path = join(folder, SEAL);
  if (!existsSync(path)) return null;
  const sealed = new Map<string, string>();
  for (const [index, line] of textOf(path).split('\n').slice(0, -1).entries()) {
    const [, hash, name] = /^([0-9a-f]{64}) {2}((?:runs|cassettes)\/[\w-]+\.\w+)$/.exec(line) ?? [];
    if (name === undefined || sealed.has(name)) {
      throw new StoreError('SEAL_INVALID', { line: index + 1, path });
    }
    sealed.set(name, hash!);
  }
  return sealed;
}

const CHUNK_BYTES = 1_048_576;
/** A million lines of a seal, or the keys of as many cells as a sweep may have, are less. */
const LARGEST_BYTES = 256 * 1_048_576;

/** @throws {StoreError} `CORRUPT` */
function textOf(path: string): string {
  return reading(path, () => {
    const { size } = statSync(path);
    if (size > LARGEST_BYTES) {
      throw new Error(`file too large: ${size} bytes (expected at most ${LARGEST_BYTES})`);
    }
    return readFileSync(path, 'utf8');
  });
}

/** @throws {StoreError} `CORRUPT` */
export function readJsonFile(path: string): unknown {
  const text = textOf(path);
  return reading(path, () => JSON.parse(text));
}

/** @throws {StoreError} `CORRUPT` */
export function hashFile(path: string): string {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** @throws {StoreError} `CORRUPT` when it cannot be read, `UNREADABLE` when not written. */
export function copyWhole(name: string, from: string, to: string): void {
  const file = new WholeFile(to, name);
  try {
    for (const chunk of chunksOf(join(from, name))) file.write(chunk);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Each is valid until the next one. */
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
    throw new StoreError('SWEEP_FILE_UNREADABLE', { path, reason }, { cause });
  }
}

export interface RunName {
  /** Of its cell. */
  key: string;
  replicate: number;
}

/** Cassettes of the runs, in their folder and in the one that answers are taken from. */
export const CASSETTES = 'cassettes';

const stem = ({ key, replicate }: RunName): string => `${key}-${replicate}`;

const runFile = (run: RunName): string => `${stem(run)}.json`;
export const runPath = (run: RunName): string => `runs/${runFile(run)}`;
export const cassettePath = (run: RunName): string => `${CASSETTES}/${stem(run)}.cassette`;

/** Null for the name of anything else. */
export function parseRunName(file: string): RunName | null {
  const [, key, replicate] = /^([0-9a-f]{16})-([1-9]\d{0,5})\.json$/.exec(file) ?? [];
  return key === undefined ? null : { key, replicate: Number(replicate) };
}

/** A folder that cannot be used as it was asked: a user can mend it. */
export class SweepError extends Error {
  override name = 'SweepError';
}

/** What is made of the runs at the end. */
const made = ['report.html', 'scenario.json', SEAL, ...Object.keys(sweepTables)];

export class SweepFolder {
  readonly path: string;
  /** The replicates that are there, by the key of their cell. */
  readonly #there = new Map<string, Set<number>>();
  readonly #release: () => void;

  private constructor(path: string, release: () => void) {
    this.path = path;
    this.#release = release;
  }

  /**
   * @param resume whether to go on with what is there; a folder without a sweep begins one.
   * @param share what may be there: of a shard, its own runs.
   * @throws {SweepError} when another process has it, or it holds something else.
   * @throws {StoreError} where a network has its data.
   */
  static async open(
    path: string,
    head: SweepHead,
    resume: boolean,
    share: Share,
  ): Promise<SweepFolder> {
    refuseNetwork(path);
    const folder = new SweepFolder(path, lock(path));
    try {
      await folder.#begin(head, resume, share);
      return folder;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** Whether no run is there yet. */
  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  has(key: string, replicate: number): boolean {
    return this.#there.get(key)?.has(replicate) ?? false;
  }

  save(key: string, record: RunRecord): void {
    const { replicate } = record;
    writeWhole(this.path, runPath({ key, replicate }), `${JSON.stringify(record, null, 2)}\n`);
    this.note({ key, replicate });
  }

  /** Where it is wanted, it will be made again. */
  remove(key: string, replicate: number): void {
    rmSync(join(this.path, runPath({ key, replicate })), { force: true });
    this.#there.get(key)?.delete(replicate);
  }

  /** The file of this run is there. */
  note({ key, replicate }: RunName): void {
    const there = this.#there.get(key) ?? new Set();
    this.#there.set(key, there.add(replicate));
  }

  read(key: string, replicate: number): RunRecord {
    const file = join(this.path, runPath({ key, replicate }));
    try {
      return JSON.parse(readBounded(file, fileBounds.result).toString()) as RunRecord;
    } catch (cause) {
      throw new StoreError('RUN_FILE_UNREADABLE', { path: file }, { cause });
    }
  }

  close(): void {
    this.#release();
  }

  async #begin(head: SweepHead, resume: boolean, share: Share): Promise<void> {
    const runs = join(this.path, 'runs');
    const isThere = existsSync(join(this.path, 'sweep.json'));
    if (!isThere && existsSync(runs)) {
      throw new SweepError(`${this.path} holds runs of something else; expected a new folder`);
    }
    const isGrown = isThere && this.#isGrown(head, resume);
    if (isThere) this.#scan(runs, head, share);
    // First, so that at no time tables of fewer runs lie beside what says that there are more.
    if (isGrown) for (const name of made) rmSync(join(this.path, name), { force: true });
    if (isGrown || !isThere) writeWhole(this.path, 'sweep.json', headText(head));
    makeFolder(runs);
    await syncFolder(this.path);
    for (const folder of [this.path, runs]) await removeParts(folder);
  }

  /** Whether there is more of it now; what is another sweep is refused. */
  #isGrown(head: SweepHead, resume: boolean): boolean {
    if (!resume) {
      const advice = 'expected a new folder, or --resume to go on with it';
      throw new SweepError(`${this.path} holds a sweep already; ${advice}`);
    }
    const there = readText(join(this.path, 'sweep.json'));
    if (there === headText(head)) return false;
    const parted = partedBy(parsed(there, this.path), head);
    if (parted === null) return true;
    throw new SweepError(`${this.path} holds another sweep: ${parted}; nothing was changed`);
  }

  /** Notes what is there. With more of some things, runs are dealt to other shards than before. */
  #scan(runs: string, { shard }: SweepHead, share: Share): void {
    for (const file of existsSync(runs) ? readdirSync(runs) : []) {
      const run = parseRunName(file);
      if (!run) continue;
      if (shard && !share(run.key, run.replicate)) {
        const dealt = `which is none of shard ${shardText(shard)} as it is dealt now`;
        const advice = 'expected a new folder; replicates can be added, where until is not used';
        const what = `${this.path} holds the run ${file}, ${dealt}`;
        throw new SweepError(`${what}; nothing was changed; ${advice}`);
      }
      this.note(run);
    }
  }
}

function lock(path: string): () => void {
  try {
    makeFolder(path);
    return lockFolder(path);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'LOCKED') {
      throw new SweepError(`${path}: another process is at work on this sweep`);
    }
    throw new SweepError(`${path} cannot be used: ${(error as Error).message}`);
  }
}

function readText(file: string): string {
  try {
    return readBounded(file, fileBounds.result).toString();
  } catch (error) {
    throw new SweepError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SweepError(`${path}/sweep.json cannot be read: ${(error as Error).message}`);
  }
}

/** Of the files in the folder; a build that keeps them otherwise takes another number. */
export const FORMAT = 2;

export type SweepHead = Provenance &
  Pick<Plan, 'cells' | 'runs' | 'modules' | 'scenario'> & {
    format: number;
    /** Of a shard; its keys are those of all cells, so that it can be merged without its files. */
    shard?: Shard & Pick<Plan, 'keys'>;
  };

export type ShardHead = Required<SweepHead>;

export function createSweepHead(plan: Plan, made: Provenance, shard?: Shard): SweepHead {
  const { version, commit, node } = made;
  const { cells, runs, modules, scenario, keys } = plan;
  const whole = { format: FORMAT, version, commit, node, cells, runs, modules, scenario };
  return shard ? { ...whole, shard: { ...shard, keys } } : whole;
}

const headText = (head: SweepHead): string => `${JSON.stringify(head, null, 2)}\n`;

/** Null when the runs of the one belong to the other too; else in words what parts them. */
function partedBy(there: unknown, now: SweepHead): string | null {
  const old = there as Partial<SweepHead> | null;
  if (old?.format !== FORMAT) {
    return (
      'it is of another build, whose files have other names: its tables stay as they are; ' +
      'expected a new folder'
    );
  }
  const [a, b] = [old as SweepHead, now];
  const found = jsonDifference(fixed(a, b), fixed(b, b));
  if (found) return `${found.path} is ${found.a} there and ${found.b} now`;
  return lessOf(a.scenario.sweep!, b.scenario.sweep!);
}

/** What may not differ. Values may be more, where cells do not follow from all of them. */
function fixed({ version, commit, node, modules, scenario, shard }: SweepHead, now: SweepHead) {
  const { sweep, ...base } = scenario;
  const { design, levels, factors } = sweep!;
  const known = Object.keys(modules).filter((name) => name in now.modules);
  return {
    version,
    commit,
    node,
    shard: shard ? shardText(shard) : 'none',
    modules: Object.fromEntries(known.map((name) => [name, modules[name]])),
    scenario: {
      ...base,
      sweep: { design, levels: levels ?? null, factors: factors.map((one) => ranged(one, design)) },
    },
  };
}

const ranged = ({ values, ...factor }: Factor, design: Sweep['design']) =>
  design === 'grid' || design === 'list' ? factor : { ...factor, values: values ?? null };

/** Runs are added, never taken away. */
function lessOf(there: Sweep, now: Sweep): string | null {
  const counted = (name: string, a: number, b: number) =>
    b < a ? `sweep.${name} is ${a} there and ${b} now; expected as many or more` : null;
  return (
    counted('replicates', there.replicates, now.replicates) ??
    samplesProblem(there.samples ?? 0, now) ??
    there.factors.map((factor, index) => valuesProblem(factor, now, index)).find(Boolean) ??
    null
  );
}

function samplesProblem(there: number, { design, samples = 0 }: Sweep): string | null {
  if (samples === there) return null;
  const what = `sweep.samples is ${there} there and ${samples} now`;
  if (design === 'lhs') {
    return (
      `${what}: each sample of a Latin hypercube has its stratum of all ${there}, so no more can ` +
      'be added; expected more replicates, or the design sobol, which grows'
    );
  }
  return samples < there ? `${what}; expected as many or more` : null;
}

function valuesProblem(
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
  const how = design === 'grid' ? 'values may be added' : 'values may be added at the end';
  return `sweep.factors.${at} (${path}) has ${JSON.stringify(lost)} there and not now; ${how}`;
}
