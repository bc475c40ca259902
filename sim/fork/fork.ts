/**
 * A fork: a run made again with something otherwise. That nothing before is otherwise is proved by
 * the digests of both logs at the last entry before.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { StoreError, storedLines } from '../../engine/internal.js';
import { CASSETTE_FILE, type DeciderOptions } from '../agents/deciders/index.js';
import { partingOf, type RunDifference, storeOf } from '../compare/index.js';
import type { SimHooks } from '../run/options.js';
import type { Acted, SimResult } from '../run/result.js';
import { simulate } from '../run/simulate.js';
import { externalsIn } from '../scenario/external.js';
import { Names } from '../scenario/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { expectRecord } from './askable.js';
import type { KeptRun } from './kept.js';
import { copySources } from './sources.js';

type Digests = Pick<Prefix, 'digest' | 'log_digest'>;

/** What the logs of a run and its fork have in common. */
export interface Prefix {
  /** The last entry before anything was made otherwise. */
  entry: number;
  /** Of that entry, in the fork. */
  log_digest: string;
  digest: string;
  /** Whether the run has the same ones there. */
  same: boolean;
  /** Where they part, if not. */
  difference: RunDifference | null;
  /** The script that is not the same again, by its module; null when it is none. */
  impure: string | null;
}

/** A fork that was run. */
export interface Forked {
  result: SimResult;
  /** What became of the interventions that were added. */
  added: Acted[];
  prefix: Prefix;
}

/** What looks on while a fork is run. */
export interface ForkHooks extends SimHooks {
  /** External deciders are asked where the run's cassette has no answer; default: an error. */
  record?: boolean;
  /** So many calls at most; when they are spent the fork ends, and can go on later. */
  mostCalls?: number;
}

/**
 * Runs a fork and keeps it in a folder, with the scripts and data files that it needs.
 * @param scenario of `forkScenario`.
 * @throws {ScenarioError} when external deciders take part and may not be asked.
 * @throws {StoreError} when the folder cannot be used.
 */
export async function runFork(
  run: KeptRun,
  scenario: Scenario,
  out: string,
  hooks: ForkHooks = {},
): Promise<Forked> {
  const { source, result: before } = run;
  expectRecord(scenario, hooks.record ?? false);
  const deciders = externalsIn(scenario).length > 0 ? { deciders: askingOf(run, hooks) } : {};
  const result = await simulate(scenario, { out, folder: source, ...deciders }, hooks);
  copySources(source, out, result);
  const added = (result.interventions ?? []).slice((before.interventions ?? []).length);
  return { result, added, prefix: await prefixOf(run, out, result, added) };
}

/** Deciders that the fork brings in were never asked in the run. */
function askingOf({ folder }: KeptRun, { mostCalls }: ForkHooks): DeciderOptions {
  const before = existsSync(join(folder, CASSETTE_FILE)) ? { cassette: folder } : {};
  return { ...before, record: true, ...(mostCalls === undefined ? {} : { mostCalls }) };
}

async function prefixOf(
  run: KeptRun,
  out: string,
  result: SimResult,
  added: readonly Acted[],
): Promise<Prefix> {
  const acted = added.flatMap(({ entry }) => entry ?? []);
  // One that never acted leaves all as it was.
  const entry = Math.min(...acted, result.entries - 1);
  const [there, here] = [await digestsAt(run.folder, entry), await digestsAt(out, entry)];
  if (!here) throw new StoreError('UNREADABLE', `${out} has no entry ${entry}`);
  const same = there !== null && isDeepStrictEqual(there, here);
  if (same) return { entry, ...here, same, difference: null, impure: null };
  const sides = [
    { name: 'run', folder: run.folder },
    { name: 'fork', folder: out },
  ] as const;
  const difference = await partingOf(...sides);
  return { entry, ...here, same, difference, impure: impureOf(result.scenario, difference) };
}

async function digestsAt(folder: string, entry: number): Promise<Digests | null> {
  const store = storeOf({ folder });
  try {
    if (store.meta()!.seq < entry) return null;
    const [line] = storedLines(store, entry, entry);
    return { digest: line!.digest ?? '', log_digest: line!.logDigest ?? '' };
  } finally {
    await store.close();
  }
}

/** The module of whoever sent the entry that differs. */
function impureOf(scenario: Scenario, { details }: RunDifference): string | null {
  const [name = ''] = (details.by ?? '').split(' ');
  const names = new Names(scenario);
  const { strategy } = names.all[names.ordinalOf(name)]?.group ?? {};
  return strategy?.kind === 'script' ? strategy.module : null;
}
