/**
 * Sweep plan. All cells are completed and validated before the first run, and then the plan yields
 * the tasks. A shard is a part of the plan that one machine runs.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { canonical } from '../../engine/protocol/canonical.js';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import { parseOwn } from '../../report/shared/measures.js';
import { withoutStops } from '../agents/deciders/ledger.js';
import type { Job } from '../run/jobs.js';
import { completeScenario } from '../scenario/complete.js';
import { dataFiles } from '../scenario/files.js';
import { type Loaded, loadScenario } from '../scenario/load.js';
import { listExternals, listStrategies, scriptModules } from '../scenario/population.js';
import { type Change, ScenarioError, withValues } from '../scenario/problem.js';
import type { Scenario, Sweep } from '../scenario/schema/scenario.js';
import type { Strategy } from '../scenario/schema/strategies.js';
import {
  assertDesign,
  type Cell,
  countCells,
  type FactorValue,
  findBaseline,
  formatSeed,
  generateCells,
} from './design.js';
import { allResponses, firstReplicates } from './stopping.js';

/** Size limits. Larger sweeps are probably typing errors, and every cell is validated first. */
const LARGEST = { cells: 100_000, runs: 1_000_000 } as const;
/** Limit given by the scenario schema. */
const LONGEST_SEED = 100;
/** Key length, 64 bits, so that no collisions are expected among a million cells. */
const KEY_LENGTH = 16;

/** Sweep before its runs: the scenario and the cells. */
export interface Plan {
  /** Base scenario with all defaults. */
  scenario: Scenario;
  sweep: Sweep;
  cells: number;
  /** Number of runs, or with `until` the minimum number. */
  runs: number;
  /** SHA-256 of each module and data file used by any cell, by path in the scenario. */
  modules: Record<string, string>;
  /** True if external deciders take part in any cell. */
  asksDeciders: boolean;
  /** Paths of files that are programs. */
  scripts: readonly string[];
  /**
   * Cell keys, which are the prefixes of run file names. A key depends only on the cell's scenario
   * and seeds, so that runs keep their names when the sweep grows.
   */
  keys: readonly string[];
  /** Scenario as parsed, without the sweep and defaults. Factor values are set in this copy. */
  base: unknown;
  folder: string;
  /** SHA-256 of the registration that the plan obeys. */
  registered?: string;
}

/** Part of a plan that does not need the scenario's files. */
export type Outline = Pick<Plan, 'scenario' | 'sweep' | 'cells' | 'keys'>;

/** One run in a sweep. */
export interface SweepTask extends Job {
  cell: Cell;
  key: string;
  /** Replicate number, from 1. */
  replicate: number;
}

/** Values that override those in the file. */
export interface PlanOptions
  extends Partial<Pick<Sweep, 'replicates' | 'samples' | 'audit' | 'log'>> {
  seed?: string;
  /** Changes to the scenario, before all others. */
  set?: readonly Change[];
  /** Members of `sweep.until`. */
  until?: Partial<NonNullable<Sweep['until']>>;
}

/**
 * Reads the sweep from a scenario file and completes each cell's scenario.
 *
 * @throws {ScenarioError} with the first invalid cell's values.
 */
export function planSweep(file: string, options: PlanOptions = {}): Plan {
  return planScenario(loadScenario(file, changesOf(options)));
}

export function planScenario({ scenario, raw, folder }: Loaded): Plan {
  const { sweep } = scenario;
  if (!sweep)
    throw new ScenarioError(
      'sweep is missing; add a section with factors, as folkmoot scenario show byzantine prints',
    );
  assertDesign(sweep);
  const cells = countCells(sweep);
  const runs = cells * firstReplicates(sweep);
  assertSize(cells, runs, longestSeed(sweep, scenario.seed));
  const { sweep: _, ...base } = raw as Record<string, unknown>;
  if (sweep.baseline && !findBaseline(sweep, scenario.seed)) {
    throw new ScenarioError(
      'sweep.baseline: no cell has these values; expected the values of a cell',
    );
  }
  const plan = { scenario, sweep, cells, runs, base, folder };
  return { ...plan, ...checkCells(plan) };
}

function changesOf({ seed, set = [], until = {}, ...sweep }: PlanOptions): Change[] {
  const members = [
    ...Object.entries(sweep).map(([name, value]) => [`sweep.${name}`, value] as const),
    ...Object.entries(widthOf(until)).map(([name, value]): Change => {
      return [`sweep.until.${name}`, value];
    }),
  ];
  return [...set, ...(seed === undefined ? [] : [['seed', seed] as const]), ...members];
}

/** Returns the width rule. `half_width` and `percent` are mutually exclusive. */
function widthOf(until: NonNullable<PlanOptions['until']>) {
  if (until.half_width !== undefined) return { percent: null, ...until };
  return until.percent === undefined ? until : { half_width: null, ...until };
}

const longestSeed = (sweep: Sweep, seed: string): string =>
  formatSeed(formatSeed(seed, sweep.samples ?? 0), sweep.until?.most ?? sweep.replicates);

function assertSize(cells: number, runs: number, longest: string): void {
  if (cells > LARGEST.cells) {
    throw new ScenarioError(`sweep has ${cells} cells; expected at most ${LARGEST.cells}`);
  }
  if (runs > LARGEST.runs) {
    throw new ScenarioError(`sweep has ${runs} runs; expected at most ${LARGEST.runs}`);
  }
  if (longest.length <= LONGEST_SEED) return;
  const room = LONGEST_SEED - (longest.length - longest.lastIndexOf('/'));
  throw new ScenarioError(
    `seed is too long; expected at most ${room} characters, because runs append their replicate`,
  );
}

type Checked = Pick<Plan, 'modules' | 'asksDeciders' | 'scripts' | 'keys'>;
type Uncounted = Omit<Plan, keyof Checked>;

/** Completes every cell once, which validates the cell, and keeps only its key. */
function checkCells(plan: Uncounted): Checked {
  const modules = new Map<string, string>();
  const scripts = new Set<string>();
  const groups = new Set<string>();
  const keys: string[] = [];
  let asksDeciders = false;
  for (const cell of generateCells(plan.sweep, plan.scenario.seed)) {
    const scenario = scenarioOf(plan, cell);
    const hash = createHash('sha256').update(`${cell.seed}\n${canonical(withoutStops(scenario))}`);
    keys.push(hash.digest('hex').slice(0, KEY_LENGTH));
    asksDeciders ||= listExternals(scenario).length > 0;
    for (const path of scriptModules(scenario)) scripts.add(path);
    for (const { group } of scenario.agents) groups.add(group);
    for (const path of filesOf(scenario)) {
      if (!modules.has(path)) modules.set(path, fileHash(resolve(plan.folder, path)));
    }
  }
  const reports = scripts.size > 0 || plan.scenario.deliberation !== undefined;
  checkReported(plan.sweep, reports, groups);
  const sorted = [...modules].sort(([a], [b]) => (a < b ? -1 : 1));
  const named = { modules: Object.fromEntries(sorted), scripts: [...scripts].sort() };
  return { ...named, asksDeciders, keys };
}

/** Checks responses of scripts and deliberations. @param groups groups of any cell. */
function checkReported(sweep: Sweep, reports: boolean, groups: ReadonlySet<string>): void {
  for (const name of allResponses(sweep)) {
    const own = parseOwn(name);
    if (own && !reports) {
      const what = 'no script and no deliberation could report';
      throw new ScenarioError(`sweep.responses: ${what} ${name}`);
    }
    if (!own || own.group === null || groups.has(own.group)) continue;
    const known = [...groups].map((group) => `reported.${own.name}@${group}`).join(', ');
    throw new ScenarioError(`sweep.responses: unknown group: ${name}; expected one of ${known}`);
  }
}

const promptsIn = (strategy: Strategy): string[] =>
  strategy.kind === 'http' ? Object.values(strategy.prompts ?? {}) : [];

const filesOf = (scenario: Scenario): string[] => [
  ...scriptModules(scenario),
  ...listStrategies(scenario).flatMap(({ strategy }) => promptsIn(strategy)),
  ...dataFiles(scenario),
];

/** Yields the runs accepted by `wanted`, in order. Completes each cell again at its turn. */
export function* generateTasks(
  plan: Plan,
  replicatesOf: (cell: number) => number,
  wanted: (key: string, replicate: number) => boolean,
): Generator<SweepTask> {
  const { audit, log } = plan.sweep;
  for (const cell of generateCells(plan.sweep, plan.scenario.seed)) {
    const key = plan.keys[cell.number - 1]!;
    const most = replicatesOf(cell.number);
    let scenario: Scenario | null = null;
    for (let replicate = 1; replicate <= most; replicate += 1) {
      if (!wanted(key, replicate)) continue;
      scenario ??= scenarioOf(plan, cell);
      const seed = formatSeed(cell.seed, replicate);
      yield {
        cell,
        key,
        replicate,
        scenario,
        seed,
        folder: plan.folder,
        ...(plan.scripts.length > 0 ? { modules: { expected: plan.modules } } : {}),
        audit: audit === 'all' || (audit === 'first' && replicate === 1),
        log: log === 'none' ? 'none' : 'full',
      };
    }
  }
}

/** Returns each factor's path and value, in design order. */
export function getValues(sweep: Sweep, { values }: Cell): [path: string, value: FactorValue][] {
  return sweep.factors.map(({ path }, index) => [path, values[index]!]);
}

function scenarioOf({ base, sweep, folder }: Uncounted, cell: Cell): Scenario {
  const changes = getValues(sweep, cell);
  try {
    return completeScenario(withValues(base, changes), folder);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    const values = changes.map(([path, value]) => `${path}=${value}`).join(', ');
    throw new ScenarioError(`cell ${cell.number} (${values}): ${error.message}`);
  }
}

function fileHash(path: string): string {
  try {
    return createHash('sha256').update(readBounded(path, fileBounds.result)).digest('hex');
  } catch (error) {
    throw new ScenarioError(`cannot read the file ${path}: ${describeSystemError(error)}`);
  }
}

/*
 * Shards split a sweep between machines that do not communicate. The assignment of runs depends
 * only on the sweep. Runs are assigned round-robin, all first replicates first, so that added
 * replicates do not move existing runs. Each round starts one shard later, because a factor's
 * expensive value could otherwise always go to the same shard. With `until`, whole cells are
 * assigned, because the stopping rule needs all runs in a cell.
 */

/** Part of a sweep. */
export interface Shard {
  /** Shard number, from 1. */
  index: number;
  of: number;
}

/** Returns true if a run belongs to the shard. */
export type Share = (key: string, replicate: number) => boolean;

/** Returns a function from a run to its shard's index, or null for a run outside the sweep. */
export function isDealtTo(
  { sweep, keys }: Pick<Plan, 'sweep' | 'keys'>,
  of: number,
): (key: string, replicate: number) => number | null {
  const places = new Map<string, number>();
  for (const key of keys) if (!places.has(key)) places.set(key, places.size);
  return (key, replicate) => {
    const place = places.get(key);
    if (place === undefined) return null;
    const card = sweep.until ? place : (replicate - 1) * places.size + place;
    return 1 + ((card + Math.floor(card / of)) % of);
  };
}

/** Returns the shard's runs, or all runs without a shard. */
export function getShare(plan: Pick<Plan, 'sweep' | 'keys'>, shard?: Shard): Share {
  if (!shard) return () => true;
  const dealt = isDealtTo(plan, shard.of);
  return (key, replicate) => dealt(key, replicate) === shard.index;
}

export const shardText = ({ index, of }: Shard): string => `${index}/${of}`;
