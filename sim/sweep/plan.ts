/** The plan of a sweep: all cells completed and checked before the first run, then its tasks. */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { canonical, fileBounds, readBounded } from '../../engine/internal.js';
import type { Job } from '../run/jobs/index.js';
import { strategiesIn } from '../scenario/external.js';
import { dataFiles } from '../scenario/files/data.js';
import { scriptModules } from '../scenario/files/modules.js';
import { ScenarioError } from '../scenario/problem.js';
import { completeScenario } from '../scenario/read/complete.js';
import { type Loaded, loadScenario } from '../scenario/read/load.js';
import { type Change, withValues } from '../scenario/read/paths.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Strategy } from '../scenario/schema/strategies.js';
import type { Sweep } from '../scenario/schema/sweep.js';
import { baselineOf } from './design/baseline.js';
import { type Cell, cellsOf, countCells, seedOf } from './design/cells.js';
import { checkDesign } from './design/check.js';
import type { FactorValue } from './design/place.js';
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
  return planLoaded(loadScenario(file, changesOf(options)));
}

/** The same of a scenario that is read already. */
export function planLoaded({ scenario, raw, folder }: Loaded): Plan {
  const { sweep } = scenario;
  if (!sweep) throw new ScenarioError('sweep is missing; expected a section with factors');
  checkDesign(sweep);
  const cells = countCells(sweep);
  const runs = cells * firstReplicates(sweep);
  checkSize(cells, runs, longestSeed(sweep, scenario.seed));
  const { sweep: _, ...base } = raw as Record<string, unknown>;
  if (sweep.baseline && !baselineOf(sweep, scenario.seed)) {
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
  seedOf(seedOf(seed, sweep.samples ?? 0), sweep.until?.most ?? sweep.replicates);

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
  for (const cell of cellsOf(plan.sweep, plan.scenario.seed)) {
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
  ...strategiesIn(scenario).flatMap(({ strategy }) => promptsIn(strategy)),
  ...dataFiles(scenario),
];

/** The runs for which `wanted` holds, in order; each cell is completed anew when it is reached. */
export function* tasksOf(
  plan: Plan,
  replicatesOf: (cell: number) => number,
  wanted: (key: string, replicate: number) => boolean,
): Generator<SweepTask> {
  for (const cell of cellsOf(plan.sweep, plan.scenario.seed)) {
    const key = plan.keys[cell.number - 1]!;
    const most = replicatesOf(cell.number);
    let scenario: Scenario | null = null;
    for (let replicate = 1; replicate <= most; replicate += 1) {
      if (!wanted(key, replicate)) continue;
      scenario ??= scenarioOf(plan, cell);
      const seed = seedOf(cell.seed, replicate);
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
export function valuesOf(sweep: Sweep, { values }: Cell): [path: string, value: FactorValue][] {
  return sweep.factors.map(({ path }, index) => [path, values[index]!]);
}

function scenarioOf({ base, sweep, folder }: Uncounted, cell: Cell): Scenario {
  const changes = valuesOf(sweep, cell);
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
