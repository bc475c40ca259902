/**
 * A fork: a kept run made again with a change, once or over many seeds. The digests of both logs at
 * the last entry before the change prove that nothing before it differs.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { storedLines } from '../../engine/replay/lines.js';
import { StoreError } from '../../engine/store/store.js';
import { CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import { openRunStore, type RunDifference, requireDifference } from '../compare/logs.js';
import type { SimHooks } from '../run/options.js';
import type { Acted, SimResult } from '../run/result.js';
import { simulate } from '../run/simulate.js';
import { completeScenario } from '../scenario/complete.js';
import { Names } from '../scenario/interventions.js';
import { listExternals } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type Plan, planScenario } from '../sweep/plan.js';
import { copySources, type KeptRun } from './kept-run.js';

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
  const deciders = listExternals(scenario).length > 0 ? { deciders: askingOf(run, hooks) } : {};
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
  if (!here) throw new StoreError('FORK_ENTRY_MISSING', { path: out, seq: entry });
  const same = there !== null && isDeepStrictEqual(there, here);
  if (same) return { entry, ...here, same, difference: null, impure: null };
  const sides = [
    { name: 'run', folder: run.folder },
    { name: 'fork', folder: out },
  ] as const;
  const difference = await requireDifference(...sides);
  return { entry, ...here, same, difference, impure: impureOf(result.scenario, difference) };
}

async function digestsAt(folder: string, entry: number): Promise<Digests | null> {
  const store = openRunStore({ folder });
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

/**
 * Before anything runs: a fork asks whenever an agent sees something else.
 * @throws {ScenarioError} when nobody may be asked.
 */
export function expectRecord(scenario: Scenario, record: boolean): void {
  if (record) return;
  const groups = listExternals(scenario).map(
    ({ group, strategy }) => `${group} (${strategy.kind})`,
  );
  if (groups.length === 0) return;
  const why = `deciders outside of the simulation decide for ${groups.join(', ')}`;
  throw new ScenarioError(`${why}, and a fork asks them what they now see: expected --record`);
}

/**
 * A run keeps no programs, and one that is not found would make its agents abstain.
 * @param folder that was named.
 * @throws {ScenarioError} when programs are to be started, and nobody has said where.
 */
export function expectFolder(scenario: Scenario, folder: string | undefined): void {
  if (folder !== undefined) return;
  for (const { group, strategy } of listExternals(scenario)) {
    const command = 'command' in strategy ? strategy.command : undefined;
    if (command === undefined) continue;
    const what = `the decider of group ${group} is a program, ${command.join(' ')}`;
    throw new ScenarioError(`${what}: --folder says in which folder it is started`);
  }
}

/*
 * A fork over many seeds tells an effect from luck: it is a sweep of two cells, with the change and
 * without it, whose runs have the same seeds in both, so that what chance does to both cancels.
 */

/**
 * @param added how many interventions at the end of the list the fork added.
 * @throws {ScenarioError} for what is of one seed alone, such as a hash.
 */
export function planFork(
  { source }: Pick<KeptRun, 'source'>,
  scenario: Scenario,
  { added, replicates }: { added: number; replicates: number },
): Plan {
  const first = scenario.interventions.length - added;
  checkNames(scenario, first);
  const factors = Array.from({ length: added }, (_, index) => ({
    path: `interventions.${first + index}.acts`,
    name: index === 0 ? 'intervention' : `intervention_${index + 1}`,
    values: [false, true],
  }));
  const raw = {
    ...scenario,
    sweep: {
      design: 'list',
      factors,
      replicates,
      baseline: Object.fromEntries(factors.map(({ name }) => [name, false])),
      responses: ['finalized_share', 'rejected_share', 'agreement', 'finality_mean_ms'],
    },
  };
  return planScenario({ scenario: completeScenario(raw, source), raw, folder: source });
}

/** An id follows from a seed; a number can be in each. */
function checkNames({ interventions }: Scenario, first: number): void {
  for (const one of interventions.slice(first)) {
    const { block, meme, alliance } = one as Record<string, unknown>;
    const id = [block, meme, alliance].find((named) => typeof named === 'string');
    if (id === undefined) continue;
    const why = `${id} is of one seed; expected its number, which can be in each`;
    throw new ScenarioError(`--replicates: ${why}`);
  }
}
