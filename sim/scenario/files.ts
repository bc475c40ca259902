/**
 * The files that a scenario names: measured latencies and lists of links, read and checked, and the
 * rule that each lies inside the scenario's folder.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, posix, relative, resolve, win32 } from 'node:path';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { inhabitants, type PopulationSource } from './population.js';
import { type Problem, problemText, ScenarioError } from './problem.js';
import type { Scenario } from './schema/scenario.js';

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

function namedFiles(scenario: Scenario): Named[] {
  const { links, topology } = scenario;
  const all: Named[] = [];
  const measured = (at: string[], file: string | undefined): void => {
    if (file === undefined) return;
    const take: Named['take'] = (text, { traces }) => traces.set(file, parseTrace(text));
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
  return namedFiles(scenario).map(({ file }) => file);
}

/** The first file that is not there or does not hold what it should, or null. */
export function dataProblem(scenario: Scenario, folder: string): Problem | null {
  const found = readData(scenario, folder);
  return 'problem' in found ? found.problem : null;
}

/**
 * @param folder where the files are found; a scenario that names some needs it.
 * @throws {ScenarioError} naming the file and its line.
 */
export function loadData(scenario: Scenario, folder: string | undefined): ScenarioData {
  const [first] = namedFiles(scenario);
  if (folder === undefined && first) {
    throw new ScenarioError(`${first.at.join('.')} is ${first.file}: its folder is not known`);
  }
  const found = readData(scenario, folder ?? '.');
  if ('problem' in found) throw new ScenarioError(problemText(found.problem));
  return found.data;
}

function readData(
  scenario: Scenario,
  folder: string,
): { data: ScenarioData } | { problem: Problem } {
  const data: ScenarioData = { traces: new Map(), edges: [], files: {} };
  for (const { at, file, take } of namedFiles(scenario)) {
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

/** Ordinals of the two ends of a link. */
type Edge = readonly [number, number];

const edgeHeads = new Set(['a,b', 'from,to', 'source,target']);

/** Links are mutual: one that is there twice, or from both ends, is one. @throws {BadLine} */
function edgesIn(text: string, scenario: PopulationSource): Edge[] {
  const all = rowsOf(text);
  const [first] = all;
  const rows = first && edgeHeads.has(first.cells.join(',')) ? all.slice(1) : all;
  const ordinals = new Map<string, number>();
  for (const { name, ordinal } of inhabitants(scenario)) {
    ordinals.set(name, ordinal);
    ordinals.set(String(ordinal), ordinal);
  }
  return rows.map((row) => edgeOf(row, ordinals, scenario.population));
}

function edgeOf(
  { line, cells }: CsvRow,
  ordinals: ReadonlyMap<string, number>,
  size: number,
): Edge {
  if (cells.length !== 2) {
    throw new BadLine(line, `has ${cells.length} cells; expected two agents, a,b`);
  }
  const [a, b] = cells.map((cell) => {
    const ordinal = ordinals.get(cell);
    if (ordinal !== undefined) return ordinal;
    const expected = `an agent by ordinal from 0 to ${size - 1}, or by name`;
    throw new BadLine(line, `has ${JSON.stringify(cell)}; expected ${expected}`);
  }) as [number, number];
  if (a !== b) return [a, b];
  throw new BadLine(line, `links ${cells[0]} to itself; expected two agents`);
}

/*
 * A file of measured latencies has a line for each time in milliseconds, each as likely as the
 * others; or lines of quantile,ms from quantile 0 to 1, with straight lines between them.
 */

/** From a place between 0 and 1 to milliseconds. */
export type Quantile = (place: number) => number;

const MOST_MS = 600_000;
const MOST_ROWS = 1_000_000;
const milliseconds = { what: 'milliseconds', least: 0, most: MOST_MS };
const quantiles = { what: 'a quantile', least: 0, most: 1 };
const traceHeads = new Set(['ms', 'quantile,ms']);

/** @throws {BadLine} */
export function parseTrace(text: string): Quantile {
  const all = rowsOf(text);
  const [first] = all;
  const rows = first && traceHeads.has(first.cells.join(',')) ? all.slice(1) : all;
  if (rows.length === 0) throw new BadLine(1, 'has no times; expected a line for each');
  if (rows.length > MOST_ROWS) {
    throw new BadLine(rows[MOST_ROWS]!.line, `is one too many; expected ${MOST_ROWS} at most`);
  }
  const width = rows[0]!.cells.length;
  const odd = rows.find(({ cells }) => cells.length !== width || width > 2);
  if (odd) {
    const expected = width > 2 ? 'ms, or quantile,ms' : `${width} as in the first line`;
    throw new BadLine(odd.line, `has ${odd.cells.length} cells; expected ${expected}`);
  }
  return width === 1 ? sampleOf(rows) : curveOf(rows);
}

/** The inverse of the empirical distribution: the least time that a share of all is not above. */
function sampleOf(rows: readonly CsvRow[]): Quantile {
  const times = Float64Array.from(rows, (row) => numberIn(row, 0, milliseconds)).sort();
  return (place) => times[Math.min(times.length - 1, Math.floor(place * times.length))]!;
}

function curveOf(rows: readonly CsvRow[]): Quantile {
  const places = rows.map((row) => numberIn(row, 0, quantiles));
  const times = rows.map((row) => numberIn(row, 1, milliseconds));
  for (const [index, { line }] of rows.entries()) {
    const [place, before] = [places[index]!, places[index - 1] ?? -1];
    if (index === 0 && place !== 0) throw new BadLine(line, `has quantile ${place}; expected 0`);
    if (place <= before) {
      throw new BadLine(line, `has quantile ${place}; expected one above ${before}`);
    }
    if (times[index]! < (times[index - 1] ?? 0)) {
      throw new BadLine(line, `has ${times[index]} ms; expected ${times[index - 1]} or more`);
    }
  }
  if (places.at(-1) !== 1) {
    throw new BadLine(rows.at(-1)!.line, `has quantile ${places.at(-1)}; expected 1 at the end`);
  }
  return (place) => quantileBetween(places, times, place);
}

/** On the straight line between the two points around a place. */
function quantileBetween(
  places: readonly number[],
  times: readonly number[],
  place: number,
): number {
  let [below, above] = [0, places.length - 1];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (places[middle]! <= place) below = middle;
    else above = middle;
  }
  const share = (place - places[below]!) / (places[above]! - places[below]!);
  return times[below]! + share * (times[above]! - times[below]!);
}

/** A line of a file that cannot be meant. */
class BadLine extends Error {
  override name = 'BadLine';

  constructor(
    /** From 1. */
    readonly line: number,
    text: string,
  ) {
    super(text);
  }
}

interface CsvRow {
  /** From 1. */
  line: number;
  cells: string[];
}

/** What has something in it, in order; what begins with # is a comment. */
function rowsOf(text: string): CsvRow[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  return lines.flatMap((whole, index) => {
    const content = whole.trim();
    if (content === '' || content.startsWith('#')) return [];
    const cells = content.split(',').map((cell) => cell.trim());
    return [{ line: index + 1, cells }];
  });
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** A number within bounds. @throws {BadLine} */
function numberIn(
  { line, cells }: CsvRow,
  column: number,
  { what, least, most }: { what: string; least: number; most: number },
): number {
  const cell = cells[column] ?? '';
  const value = DECIMAL.test(cell) ? Number(cell) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new BadLine(line, `has ${JSON.stringify(cell)}; expected ${what} from ${least} to ${most}`);
}

/*
 * A file must lie in the folder of the scenario file that the user named, or below it. A script is
 * a program, and error messages quote what a file holds: a scenario from elsewhere must not choose
 * which file is read.
 */

/**
 * The file's real path, or why there is none, after its path in the scenario.
 * @param what is expected, as in "a module".
 */
export function fileInside(
  path: string,
  folder: string,
  what: string,
): { file: string } | { why: string } {
  const whole = posix.isAbsolute(path) || win32.isAbsolute(path) || /^\w[\w+.-]*:/.test(path);
  if (whole) return { why: `is ${path}; expected a path from the scenario's folder` };
  const named = resolve(folder, path);
  if (!existsSync(named)) return { why: `is not there: ${path}` };
  const file = realpathSync(named);
  const inside = relative(realpathSync(folder), file);
  if (inside.split(/[\\/]/, 1)[0] === '..' || isAbsolute(inside)) {
    return { why: `is ${path}, which leads out of the scenario's folder; expected one inside` };
  }
  if (statSync(file).isFile()) return { file };
  return { why: `is ${path}, which is no file; expected ${what}` };
}
