/**
 * The plan of a sweep: all cells are completed and checked before the first run, then come its
 * tasks. A shard is a part of the plan that one machine runs.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { canonical } from '../../engine/protocol/canonical.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import type { Job } from '../run/jobs.js';
import { completeScenario } from '../scenario/complete.js';
import { dataFiles } from '../scenario/files.js';
import { type Loaded, loadScenario } from '../scenario/load.js';
import { listStrategies, scriptModules } from '../scenario/population.js';
import { type Change, ScenarioError, withValues } from '../scenario/problem.js';
import type { Scenario, Sweep } from '../scenario/schema/scenario.js';
import type { Strategy } from '../scenario/schema/strategies.js';
import {
  type Cell,
  checkDesign,
  countCells,
  type FactorValue,
  findBaseline,
  formatSeed,
  generateCells,
} from './design.js';
import { firstReplicates } from './stopping.js';

/** What is larger is a typing mistake; all cells are checked before the first run. */
const LARGEST = { cells: 100_000, runs: 1_000_000 } as const;
/** As the scenario's schema has it. */
const LONGEST_SEED = 100;
/** 64 bits: among a million cells, two alike by chance are not to be expected. */
const KEY_LENGTH = 16;

/** A sweep before it is run: its scenario, and its cells. */
export interface Plan {
  /** The scenario around which values are varied, with all defaults. */
  scenario: Scenario;
  sweep: Sweep;
  cells: number;
  /** How many there are; with `until`, how many at least. */
  runs: number;
  /** sha256 of each module and data file of any cell, by its path in the scenario. */
  modules: Record<string, string>;
  /** Those of them that are programs. */
  scripts: readonly string[];
  /**
   * Of each cell, what its runs are kept under: it follows from its scenario and its seeds alone,
   * so that runs keep their place when a sweep gets more of anything.
   */
  keys: readonly string[];
  /** As read, without its sweep: values are set here, before defaults are. */
  base: unknown;
  folder: string;
}

/** What tables are made by: all of a plan that is known without its files. */
export type Outline = Pick<Plan, 'scenario' | 'sweep' | 'cells' | 'keys'>;

/** One run of the sweep. */
export interface SweepTask extends Job {
  cell: Cell;
  key: string;
  /** From 1. */
  replicate: number;
}

/** Instead of the file's own. */
export interface PlanOptions {
  seed?: string;
  replicates?: number;
  samples?: number;
  audit?: Sweep['audit'];
  /** Members of `sweep.until`. */
  until?: Partial<NonNullable<Sweep['until']>>;
}

/**
 * Reads the sweep of a scenario file and completes the scenario of each cell.
 *
 * @throws {ScenarioError} naming the values of the first cell that cannot be, and why.
 */
export function planSweep(file: string, options: PlanOptions = {}): Plan {
  return planScenario(loadScenario(file, changesOf(options)));
}

/** The same of a scenario that is read already. */
export function planScenario({ scenario, raw, folder }: Loaded): Plan {
  const { sweep } = scenario;
  if (!sweep) throw new ScenarioError('sweep is missing; expected a section with factors');
  checkDesign(sweep);
  const cells = countCells(sweep);
  const runs = cells * firstReplicates(sweep);
  checkSize(cells, runs, longestSeed(sweep, scenario.seed));
  const { sweep: _, ...base } = raw as Record<string, unknown>;
  if (sweep.baseline && !findBaseline(sweep, scenario.seed)) {
    throw new ScenarioError('sweep.baseline: no cell has these values; expected those of one');
  }
  const plan = { scenario, sweep, cells, runs, base, folder };
  return { ...plan, ...checkCells(plan) };
}

function changesOf({ seed, until = {}, ...sweep }: PlanOptions): Change[] {
  const members = [
    ...Object.entries(sweep).map(([name, value]) => [`sweep.${name}`, value] as const),
    ...Object.entries(widthOf(until)).map(([name, value]): Change => {
      return [`sweep.until.${name}`, value];
    }),
  ];
  return [...(seed === undefined ? [] : [['seed', seed] as const]), ...members];
}

/** Either width takes the place of the other. */
function widthOf(until: NonNullable<PlanOptions['until']>) {
  if (until.half_width !== undefined) return { percent: null, ...until };
  return until.percent === undefined ? until : { half_width: null, ...until };
}

const longestSeed = (sweep: Sweep, seed: string): string =>
  formatSeed(formatSeed(seed, sweep.samples ?? 0), sweep.until?.most ?? sweep.replicates);

function checkSize(cells: number, runs: number, longest: string): void {
  if (cells > LARGEST.cells) {
    throw new ScenarioError(`sweep has ${cells} cells; expected at most ${LARGEST.cells}`);
  }
  if (runs > LARGEST.runs) {
    throw new ScenarioError(`sweep has ${runs} runs; expected at most ${LARGEST.runs}`);
  }
  if (longest.length <= LONGEST_SEED) return;
  const room = LONGEST_SEED - (longest.length - longest.lastIndexOf('/'));
  throw new ScenarioError(`seed is too long: runs add their replicate; expected at most ${room}`);
}

type Uncounted = Omit<Plan, 'modules' | 'scripts' | 'keys'>;

/** Completes every cell once, which checks it, and keeps nothing of it but its key. */
function checkCells(plan: Uncounted): Pick<Plan, 'modules' | 'scripts' | 'keys'> {
  const modules = new Map<string, string>();
  const scripts = new Set<string>();
  const keys: string[] = [];
  for (const cell of generateCells(plan.sweep, plan.scenario.seed)) {
    const scenario = scenarioOf(plan, cell);
    const hash = createHash('sha256').update(`${cell.seed}\n${canonical(scenario)}`);
    keys.push(hash.digest('hex').slice(0, KEY_LENGTH));
    for (const path of scriptModules(scenario)) scripts.add(path);
    for (const path of filesOf(scenario)) {
      if (!modules.has(path)) modules.set(path, fileHash(resolve(plan.folder, path)));
    }
  }
  const sorted = [...modules].sort(([a], [b]) => (a < b ? -1 : 1));
  return { modules: Object.fromEntries(sorted), scripts: [...scripts].sort(), keys };
}

const promptsIn = (strategy: Strategy): string[] =>
  strategy.kind === 'http' ? Object.values(strategy.prompts ?? {}) : [];

/** Modules of scripts, prompts of deciders and files of data. */
const filesOf = (scenario: Scenario): string[] => [
  ...scriptModules(scenario),
  ...listStrategies(scenario).flatMap(({ strategy }) => promptsIn(strategy)),
  ...dataFiles(scenario),
];

/** The runs for which `wanted` holds, in order; each cell is completed anew when it is reached. */
export function* generateTasks(
  plan: Plan,
  replicatesOf: (cell: number) => number,
  wanted: (key: string, replicate: number) => boolean,
): Generator<SweepTask> {
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
        ...audited(plan, replicate),
      };
    }
  }
}

function audited({ sweep: { audit } }: Plan, replicate: number): { audit: boolean } {
  return { audit: audit === 'all' || (audit === 'first' && replicate === 1) };
}

/** As `path=value` of each factor, in the order of the design. */
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
    throw new ScenarioError(`the file ${path} cannot be read: ${(error as Error).message}`);
  }
}

/*
 * Shards: a sweep dealt out to machines that know nothing of each other. Which runs are a shard's
 * follows from the sweep alone. Runs are dealt one by one, all first replicates first, so that more
 * replicates leave every run where it is; each hand begins one shard further, or the heavy value of
 * a factor might always come to the same one. Where an interval says when a cell has runs enough,
 * whole cells are dealt: to look at it takes all of the cell's runs.
 */

/** One of several parts of a sweep. */
export interface Shard {
  /** From 1. */
  index: number;
  of: number;
}

/** Whether a run is among those of a shard. */
export type Share = (key: string, replicate: number) => boolean;

/** Gives the index of the shard that a run belongs to; null for one that is not of the sweep. */
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

/** Without a shard, all runs. */
export function getShare(plan: Pick<Plan, 'sweep' | 'keys'>, shard?: Shard): Share {
  if (!shard) return () => true;
  const dealt = isDealtTo(plan, shard.of);
  return (key, replicate) => dealt(key, replicate) === shard.index;
}

export const shardText = ({ index, of }: Shard): string => `${index}/${of}`;
