/** The plan of a sweep: all cells completed and checked before the first run, then its tasks. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonical } from '../../engine/internal.js';
import type { Job } from '../run/jobs/index.js';
import { ScenarioError } from '../scenario/problem.js';
import { completeScenario } from '../scenario/read/complete.js';
import { loadScenario } from '../scenario/read/load.js';
import { withValues } from '../scenario/read/paths.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Sweep } from '../scenario/schema/sweep.js';
import { type Cell, cellsOf, checkDesign, countCells, seedOf } from './design.js';
import type { FactorValue } from './hypercube.js';

/** What is larger is a typing mistake; all cells are checked before the first run. */
const LARGEST = { cells: 100_000, runs: 1_000_000 } as const;
/** As the scenario's schema has it. */
const LONGEST_SEED = 100;

/** A sweep before it is run: its scenario, its cells, and how many runs. */
export interface Plan {
  /** The scenario around which values are varied, with all defaults. */
  scenario: Scenario;
  sweep: Sweep;
  cells: number;
  runs: number;
  /** sha256 of each module that a script of any cell loads, by its path in the scenario. */
  modules: Record<string, string>;
  /** sha256 over all cells, completed, and their seeds. */
  design: string;
  /** As read, without its sweep: values are set here, before defaults are. */
  base: unknown;
  folder: string;
}

/** One run of the sweep. */
export interface SweepTask extends Job {
  /** From 1: cell by cell, and in a cell replicate by replicate. */
  run: number;
  cell: Cell;
  /** From 1. */
  replicate: number;
}

/** Instead of the file's own. */
export interface PlanOptions {
  seed?: string;
  replicates?: number;
}

/**
 * Reads the sweep of a scenario file and completes the scenario of each cell.
 *
 * @throws {ScenarioError} naming the values of the first cell that cannot be, and why.
 */
export function planSweep(file: string, { seed, replicates }: PlanOptions = {}): Plan {
  const { scenario, raw, folder } = loadScenario(file, [
    ...(seed === undefined ? [] : [['seed', seed] as const]),
    ...(replicates === undefined ? [] : [['sweep.replicates', replicates] as const]),
  ]);
  const { sweep } = scenario;
  if (!sweep) throw new ScenarioError('sweep is missing; expected a section with factors');
  checkDesign(sweep);
  const cells = countCells(sweep);
  const runs = cells * sweep.replicates;
  checkSize(cells, runs, seedOf(scenario.seed, sweep.replicates));
  const { sweep: _, ...base } = raw as Record<string, unknown>;
  const plan = { scenario, sweep, cells, runs, base, folder };
  return { ...plan, ...checkCells(plan) };
}

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

type Uncounted = Omit<Plan, 'modules' | 'design'>;

/** Completes every cell once, which checks it, and keeps nothing of it but its digest. */
function checkCells(plan: Uncounted): Pick<Plan, 'modules' | 'design'> {
  const hash = createHash('sha256').update(`${plan.scenario.seed} ${plan.sweep.replicates}\n`);
  const modules = new Map<string, string>();
  for (const cell of cellsOf(plan.sweep, plan.scenario.seed)) {
    const scenario = scenarioOf(plan, cell);
    hash.update(`${canonical(scenario)}\n`);
    for (const { strategy } of scenario.agents) {
      if (strategy.kind !== 'script' || modules.has(strategy.module)) continue;
      modules.set(strategy.module, fileHash(resolve(plan.folder, strategy.module)));
    }
  }
  const sorted = [...modules].sort(([a], [b]) => (a < b ? -1 : 1));
  return { modules: Object.fromEntries(sorted), design: hash.digest('hex') };
}

/** The runs for which `wanted` holds, in order; each cell is completed anew when it is reached. */
export function* tasksOf(plan: Plan, wanted: (run: number) => boolean): Generator<SweepTask> {
  const { sweep, folder } = plan;
  for (const cell of cellsOf(sweep, plan.scenario.seed)) {
    let scenario: Scenario | null = null;
    for (let replicate = 1; replicate <= sweep.replicates; replicate += 1) {
      const run = (cell.number - 1) * sweep.replicates + replicate;
      if (!wanted(run)) continue;
      scenario ??= scenarioOf(plan, cell);
      const seed = seedOf(plan.scenario.seed, replicate);
      yield { run, cell, replicate, scenario, seed, folder };
    }
  }
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
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch (error) {
    throw new ScenarioError(`the script ${path} cannot be read: ${(error as Error).message}`);
  }
}
