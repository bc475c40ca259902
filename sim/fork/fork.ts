/**
 * Forks: replays a saved run with changes, once or over many seeds. Both logs' digests at the last
 * entry before the first change prove that the prefix is identical.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { storedLines } from '../../engine/replay/lines.js';
import { CASSETTE_FILE } from '../agents/deciders/adapter.js';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import { type RunDifference, requireDifference, withRunStore } from '../compare/logs.js';
import type { SimHooks } from '../run/options.js';
import type { Acted, SimResult } from '../run/result.js';
import { simulate } from '../run/simulate.js';
import { completeScenario } from '../scenario/complete.js';
import { Names } from '../scenario/interventions.js';
import { describeExternals, listExternals } from '../scenario/population.js';
import { scenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type Plan, planScenario } from '../sweep/plan.js';
import { copySources, forkError, type KeptRun } from './kept-run.js';

type Digests = Pick<Prefix, 'digest' | 'log_digest'>;

/** Common prefix of a run and its fork. */
export interface Prefix {
  /** Last entry before the first change. */
  entry: number;
  /** Fork's log digest at that entry. */
  log_digest: string;
  digest: string;
  /** True if the original run has identical digests at that entry. */
  same: boolean;
  /** First difference, or null. */
  difference: RunDifference | null;
  /** Module whose script behaved differently in the replay; null if no script is responsible. */
  impure: string | null;
}

/** Result of a fork. */
export interface Forked {
  result: SimResult;
  /** Results of the added interventions. */
  added: Acted[];
  prefix: Prefix;
}

/** Fork hooks. */
export interface ForkHooks extends SimHooks {
  /** Ask external deciders if the run's cassette has no answer. By default, the fork fails. */
  record?: boolean;
  /** Maximum number of calls. A fork that reaches the maximum ends, and can be continued. */
  mostCalls?: number;
  /** Folder with answers of other runs. */
  cache?: string;
}

/**
 * Runs a fork and saves it in a folder with its scripts and data files.
 * @param scenario result of `forkScenario`.
 * @throws {ScenarioError} if external deciders take part and cannot be asked.
 * @throws {StoreError} if the folder is not usable.
 */
export async function runFork(
  run: KeptRun,
  scenario: Scenario,
  out: string,
  hooks: ForkHooks = {},
): Promise<Forked> {
  const { source, result: before } = run;
  expectRecord(scenario, hooks.record ?? false);
  const deciders = asksDeciders(scenario) ? { deciders: askingOf(run, hooks) } : {};
  const result = await simulate(scenario, { out, folder: source, ...deciders }, hooks);
  copySources(source, out, result);
  const added = (result.interventions ?? []).slice((before.interventions ?? []).length);
  return { result, added, prefix: await prefixOf(run, out, result, added) };
}

/** Returns decider options. The run's cassette has no answers from deciders that the fork adds. */
function askingOf({ folder }: KeptRun, { mostCalls, cache }: ForkHooks): DeciderOptions {
  const before = existsSync(join(folder, CASSETTE_FILE)) ? { cassette: folder } : {};
  const limit = mostCalls === undefined ? {} : { mostCalls };
  return { ...before, record: true, ...limit, ...(cache === undefined ? {} : { cache }) };
}

async function prefixOf(
  run: KeptRun,
  out: string,
  result: SimResult,
  added: readonly Acted[],
): Promise<Prefix> {
  const acted = added.flatMap(({ entry }) => entry ?? []);
  // If no intervention acted, the whole log is the prefix.
  const entry = Math.min(...acted, result.entries - 1);
  const [there, here] = [await digestsAt(run.folder, entry), await digestsAt(out, entry)];
  if (!here) throw forkError('FORK_ENTRY_MISSING', { path: out, seq: entry });
  const same = there !== null && isDeepStrictEqual(there, here);
  if (same) return { entry, ...here, same, difference: null, impure: null };
  const sides = [
    { name: 'run', folder: run.folder },
    { name: 'fork', folder: out },
  ] as const;
  const difference = await requireDifference(...sides);
  return { entry, ...here, same, difference, impure: impureOf(result.scenario, difference) };
}

const digestsAt = (folder: string, entry: number): Promise<Digests | null> =>
  withRunStore(folder, (store) => {
    if (store.meta()!.seq < entry) return null;
    const [line] = storedLines(store, entry, entry);
    return { digest: line!.digest ?? '', log_digest: line!.logDigest ?? '' };
  });

/** Returns the script module for the agent that sent the differing entry. */
function impureOf(scenario: Scenario, { details }: RunDifference): string | null {
  const [name = ''] = (details.by ?? '').split(' ');
  const names = new Names(scenario);
  const { strategy } = names.all[names.ordinalOf(name)]?.group ?? {};
  return strategy?.kind === 'script' ? strategy.module : null;
}

export const asksDeciders = (scenario: Scenario): boolean => listExternals(scenario).length > 0;

/**
 * Requires `record` if deciders take part. Call this before the run, because a fork asks deciders
 * about every new situation.
 * @throws {ScenarioError} if deciders take part and cannot be asked.
 */
export function expectRecord(scenario: Scenario, record: boolean): void {
  if (record) return;
  const groups = describeExternals(scenario);
  if (groups !== '') throw scenarioError('FORK_NEEDS_RECORD', { groups });
}

/**
 * Requires a folder for decider programs. A saved run does not contain these programs, and without
 * them the agents would do nothing.
 * @param folder value of `--folder`.
 * @throws {ScenarioError} if the scenario uses programs and no folder was named.
 */
export function expectFolder(scenario: Scenario, folder: string | undefined): void {
  if (folder !== undefined) return;
  for (const { group, strategy } of listExternals(scenario)) {
    const command = 'command' in strategy ? strategy.command : undefined;
    if (command === undefined) continue;
    throw scenarioError('PROGRAM_NEEDS_FOLDER', { group, command: command.join(' ') });
  }
}

/*
 * A fork over many seeds separates an effect from chance. The fork is a sweep with two cells, one
 * with and one without the change. Both cells use the same seeds, so that random differences
 * cancel.
 */

/**
 * @param added number of interventions that the fork added at the end of the list.
 * @throws {ScenarioError} if an intervention uses an id, because ids are specific to a seed.
 */
export function planFork(
  { source }: Pick<KeptRun, 'source'>,
  scenario: Scenario,
  { added, replicates }: { added: number; replicates: number },
): Plan {
  const first = scenario.interventions.length - added;
  assertNames(scenario, first);
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

/** Refuses names by id. Ids depend on the seed, whereas numbers are valid for every seed. */
function assertNames({ interventions }: Scenario, first: number): void {
  for (const one of interventions.slice(first)) {
    const { block, meme, alliance } = one as Record<string, unknown>;
    const id = [block, meme, alliance].find((named) => typeof named === 'string');
    if (id === undefined) continue;
    throw scenarioError('SEED_SPECIFIC', { id });
  }
}
