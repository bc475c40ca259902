/** The folder of a shard as a merge finds it: what it says that it is, and what lies in it. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { StoreError } from '../../../engine/internal.js';
import { jsonDifference } from '../../compare/index.js';
import { complete } from '../../scenario/read/complete.js';
import { countCells } from '../design/cells.js';
import { checkDesign } from '../design/check.js';
import { jsonIn, sha256Of } from '../folder/bytes.js';
import { SweepError } from '../folder/folder.js';
import { FORMAT, type ShardHead, type SweepHead } from '../folder/head.js';
import { runNamed, runPath } from '../folder/names.js';
import { readSeal, SEAL } from '../folder/seal.js';

export interface ShardFolder {
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
export function openShard(path: string): ShardFolder {
  const head = readHead(path);
  const runs = join(path, 'runs');
  const files = existsSync(runs) ? readdirSync(runs) : [];
  const there = new Set(files.flatMap((file) => runNamed(file) ?? []).map(runPath));
  const seal = readSeal(path);
  const folder = { path, head, there, seal };
  if (seal) checkFiles(folder, seal);
  return folder;
}

function readHead(path: string): ShardHead {
  const file = join(path, 'sweep.json');
  if (!existsSync(file)) throw new SweepError(`${path} holds no sweep; ${EXPECTED}`);
  const head = jsonIn(file) as Partial<SweepHead> | null;
  if (head?.format !== FORMAT) {
    throw new SweepError(`${path} is of another build, whose files are others; ${EXPECTED}`);
  }
  const { shard } = head;
  if (!shard) throw new SweepError(`${path} holds a sweep that is no shard; ${EXPECTED}`);
  const problem = headProblem(head as SweepHead);
  if (problem === null) return head as ShardHead;
  throw new StoreError('CORRUPT', `${file} is not as folkmoot writes it: ${problem}`);
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
  const advice = 'remove it, and sweep --resume runs it again';
  const extra = [...there].find((name) => !seal.has(name));
  if (extra !== undefined) {
    const what = `${join(path, extra)} was not there when the shard was finished`;
    throw new StoreError('CORRUPT', `${what}: ${SEAL} does not name it; ${advice}`);
  }
  for (const [name, hash] of seal) {
    const file = join(path, name);
    // A run that is gone is missing, and is listed with all that are.
    if (runNamed(basename(name)) && !there.has(name)) continue;
    const now = sha256Of(file);
    if (now === hash) continue;
    const what = `${file} has changed since the shard was finished: its sha256 is ${now}`;
    throw new StoreError('CORRUPT', `${what}, not ${hash} as ${SEAL} says; ${advice}`);
  }
}
