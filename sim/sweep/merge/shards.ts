/** The shards of one sweep, side by side: whether they belong together, and their runs as one. */
import { join } from 'node:path';
import { StoreError } from '../../../engine/internal.js';
import type { Provenance } from '../../../report/provenance.js';
import { jsonDifference } from '../../compare/index.js';
import type { KeptRuns } from '../extent.js';
import { jsonIn } from '../folder/bytes.js';
import { SweepError } from '../folder/folder.js';
import type { SweepHead } from '../folder/head.js';
import { type RunName, runNamed, runPath } from '../folder/names.js';
import type { Outline } from '../plan.js';
import type { RunRecord } from '../record.js';
import { dealtTo, shardText } from '../shard.js';
import { recordChecker } from './check-record.js';
import type { ShardFolder } from './shard-folder.js';

export class Shards implements KeptRuns {
  /** As the sweep would write it in one folder. */
  readonly head: SweepHead;
  readonly plan: Outline;
  readonly of: number;
  readonly #folders = new Map<number, ShardFolder>();
  readonly #dealt: ReturnType<typeof dealtTo>;
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
    this.#dealt = dealtTo(this.plan, shard.of);
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
    const record = jsonIn(file);
    const problem = this.#problemOf(record, key, replicate);
    if (problem === null) return record as RunRecord;
    throw new StoreError('CORRUPT', `${file} is no run of this sweep: ${problem}`);
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
    const { key, replicate } = runNamed(name.slice(name.indexOf('/') + 1))!;
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
