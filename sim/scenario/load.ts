/**
 * Loads YAML or JSON scenario files, and the scenarios shipped with the package. Problems are
 * reported with file, line and path.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { complete } from './complete.js';
import {
  type Change,
  fileProblemError,
  type Problem,
  problemText,
  scenarioError,
  withValues,
} from './problem.js';
import type { Scenario } from './schema/scenario.js';
import { readYaml, type YamlFile } from './yaml.js';

/** Scenario loaded from a file. */
export interface Loaded {
  /** Scenario with all defaults. */
  scenario: Scenario;
  /** Scenario as written in the file, with the changes applied. */
  raw: unknown;
  /** Base folder for scripts and data files. */
  folder: string;
}

/**
 * Reads a YAML or JSON scenario file, checks it and fills in all defaults.
 *
 * @param named file, or the name of a shipped scenario.
 * @param changes values that replace those in the file, by path.
 * @throws {ScenarioError} with a line for each of at most 20 problems: file, line, path and what is
 * expected.
 *
 * @example
 * ```ts
 * import { loadScenario, ScenarioError, simulate } from 'folkmoot/sim';
 *
 * const { scenario, folder } = loadScenario('two-blocs', [['length', { blocks: 2 }]]);
 * const { entries, measures } = await simulate(scenario, { folder, store: 'memory' });
 * console.log(entries > scenario.population, measures.proposed !== null); // true true
 * try {
 *   loadScenario('two-blocs', [['consensus.policy', 'lottery']]);
 * } catch (error) {
 *   console.log(error instanceof ScenarioError); // true
 * }
 * ```
 */
export function loadScenario(named: string, changes: readonly Change[] = []): Loaded {
  const file = fileOf(named);
  const { value: given, lineOf } = read(file);
  const folder = dirname(resolve(file));
  const raw = withValues(given, changes);
  const found = complete(raw, folder);
  if ('scenario' in found) return { scenario: found.scenario, raw, folder };
  const changed = changesAtFault(given, changes, folder);
  throw fileProblemError(found.problems, { file, lineOf }, changed);
}

/**
 * Reads a YAML or JSON file as plain data.
 *
 * @throws {ScenarioError} if the file cannot be read, is too large or is not YAML.
 */
export const readYamlValue = (file: string): unknown => read(file).value;

/** Returns a function that names the change that caused a problem: null if the file did. */
function changesAtFault(given: unknown, changes: readonly Change[], folder: string) {
  const textsAfter = (count: number): string[] => {
    const found = complete(withValues(given, changes.slice(0, count)), folder);
    return 'problems' in found ? found.problems.map(problemText) : [];
  };
  const texts = [...changes, null].map((_, count) => textsAfter(count));
  return (problem: Problem): string | null => {
    const text = problemText(problem);
    const index = changes.findLastIndex(
      (_, at) => texts[at + 1]!.includes(text) && !texts[at]!.includes(text),
    );
    if (index < 0) return null;
    const [path, , option] = changes[index]!;
    return option ?? `--set ${path}`;
  };
}

function fileOf(named: string): string {
  const file = findScenario(named);
  if (file !== null) return file;
  if (existsSync(named)) throw scenarioError('IS_FOLDER', { name: named });
  const names = shippedScenarios().map(({ name }) => name);
  throw scenarioError('NOT_FOUND', { name: named, names: names.join(', ') });
}

const read = (file: string): YamlFile =>
  readYaml(file, {
    unreadable: (detail) => scenarioError('UNREADABLE', { file, detail }),
    invalid: (place) => scenarioError('NOT_YAML', { file, ...place }),
  });

/** The relative path is valid in a checkout and in an installed package. */
const folder = fileURLToPath(new URL('../../../sim/scenarios/', import.meta.url));

const ENDING = '.yaml';

/** Scenario shipped with the package. */
export interface Shipped {
  name: string;
  path: string;
}

/** Returns the shipped scenarios, sorted by name. */
export function shippedScenarios(): Shipped[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return files
    .sort()
    .map((file) => ({ name: file.slice(0, -ENDING.length), path: join(folder, file) }));
}

/** Returns the path to a file or shipped scenario, or null if neither exists. */
export function findScenario(named: string): string | null {
  const found = statSync(named, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) return named;
  return shippedScenarios().find(({ name }) => name === named)?.path ?? null;
}
