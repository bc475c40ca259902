/** The data files that a scenario names: measured latencies and links, read and checked. */
import { readFileSync, statSync } from 'node:fs';
import { sha256Hex } from '../../../engine/protocol/signing.js';
import { type Problem, problemText, ScenarioError } from '../problem.js';
import type { Scenario } from '../schema/scenario.js';
import { type Edge, edgesIn } from './edges.js';
import { fileInside } from './inside.js';
import { BadLine } from './rows.js';
import { type Quantile, traceOf } from './trace.js';

/** What the files of a scenario hold. */
export interface ScenarioData {
  /** Measured latencies, by the file's path in the scenario. */
  traces: Map<string, Quantile>;
  /** Links between agents; none where no file says them. */
  edges: readonly Edge[];
  /** sha256 of each file, by its path in the scenario. */
  files: Record<string, string>;
}

interface Named {
  /** Where the scenario names it. */
  at: string[];
  file: string;
  /** @throws {BadLine} */
  take(text: string, data: ScenarioData): void;
}

const LARGEST_BYTES = 32 * 1_048_576;

function named(scenario: Scenario): Named[] {
  const { links, topology } = scenario;
  const all: Named[] = [];
  const measured = (at: string[], file: string | undefined): void => {
    if (file === undefined) return;
    const take: Named['take'] = (text, { traces }) => traces.set(file, traceOf(text));
    all.push({ at: [...at, 'latency', 'file'], file, take });
  };
  measured(['links'], links.latency.file);
  for (const [index, { latency }] of links.between.entries()) {
    measured(['links', 'between', String(index)], latency.file);
  }
  if (topology.file !== undefined) {
    const take: Named['take'] = (text, data) => {
      data.edges = edgesIn(text, scenario);
    };
    all.push({ at: ['topology', 'file'], file: topology.file, take });
  }
  return all;
}

/** Paths of all data files in the scenario. */
export function dataFiles(scenario: Scenario): string[] {
  return named(scenario).map(({ file }) => file);
}

/** The first file that is not there or does not hold what it should, or null. */
export function dataProblem(scenario: Scenario, folder: string): Problem | null {
  const found = read(scenario, folder);
  return 'problem' in found ? found.problem : null;
}

/**
 * @param folder where the files are found; a scenario that names some needs it.
 * @throws {ScenarioError} naming the file and its line.
 */
export function loadData(scenario: Scenario, folder: string | undefined): ScenarioData {
  const [first] = named(scenario);
  if (folder === undefined && first) {
    throw new ScenarioError(`${first.at.join('.')} is ${first.file}: its folder is not known`);
  }
  const found = read(scenario, folder ?? '.');
  if ('problem' in found) throw new ScenarioError(problemText(found.problem));
  return found.data;
}

function read(scenario: Scenario, folder: string): { data: ScenarioData } | { problem: Problem } {
  const data: ScenarioData = { traces: new Map(), edges: [], files: {} };
  for (const { at, file, take } of named(scenario)) {
    const text = textOf(file, folder);
    if ('why' in text) return { problem: { path: at, text: text.why } };
    try {
      take(text.text, data);
    } catch (error) {
      if (!(error instanceof BadLine)) throw error;
      const why = `is ${file}, whose line ${error.line} ${error.message}`;
      return { problem: { path: at, text: why } };
    }
    data.files[file] = text.sha256;
  }
  return { data };
}

function textOf(named: string, folder: string): { text: string; sha256: string } | { why: string } {
  const found = fileInside(named, folder, 'a CSV file');
  if ('why' in found) return found;
  const { size } = statSync(found.file);
  if (size > LARGEST_BYTES) {
    return { why: `is ${named} of ${size} bytes; expected at most ${LARGEST_BYTES}` };
  }
  const text = readFileSync(found.file, 'utf8');
  return { text, sha256: sha256Hex(text) };
}
