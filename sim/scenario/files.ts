/**
 * Data files used by a scenario: measured latencies, lists of links, and election data. Each file
 * must be inside the scenario's folder.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, posix, relative, resolve, win32 } from 'node:path';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { isUnloadedModule, type NetworkRule, ruleOf } from '../../engine/rules/network-rule.js';
import {
  type ElectionData,
  ElectionError,
  findDataType,
  readElection,
} from '../elections/election-data.js';
import {
  BallotMaker,
  type ElectionUse,
  findOptionsProblem,
  labelOptions,
  nameOptions,
  surveyBallots,
} from '../elections/rule-ballots.js';
import { groupSizes, inhabitants, listStrategies, type PopulationSource } from './population.js';
import {
  type Finding,
  finding,
  invalid,
  type Problem,
  type Problems,
  problemError,
  scenarioError,
} from './problem.js';
import type { Quantile } from './schema/latency.js';
import type { Scenario } from './schema/scenario.js';

/** Contents of the data files. */
export interface ScenarioData {
  /** Measured latencies, by file path in the scenario. */
  traces: Map<string, Quantile>;
  /** Links between agents; empty if there is no file. */
  edges: readonly Edge[];
  /** Elections, by file path in the scenario. */
  elections: Map<string, ReadElection>;
  /** SHA-256 of each file, by its path in the scenario. */
  files: Record<string, string>;
}

/** Election data with the names that its alternatives have as options. */
export interface ReadElection extends ElectionData {
  options: readonly string[];
}

interface Named {
  /** Path of the value that names the file. */
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
  for (const { path, strategy } of listStrategies(scenario)) {
    if (strategy.kind !== 'ballots') continue;
    const { file } = strategy;
    const take: Named['take'] = (text, { elections }) => {
      if (elections.has(file)) return;
      const found = readElection(text, findDataType(file));
      elections.set(file, { ...found, options: nameOptions(found.alternatives, true) });
    };
    all.push({ at: [...path, 'file'], file, take });
  }
  return all;
}

export function dataFiles(scenario: Scenario): string[] {
  return namedFiles(scenario).map(({ file }) => file);
}

/** Checks the data files, if their folder is known. */
export function* dataProblems(scenario: Scenario, folder: string | undefined): Problems {
  if (folder === undefined) return;
  const found = readData(scenario, folder);
  if ('problem' in found) return yield found.problem;
  const { policy, rule: { file: _, ...rule } = {} } = scenario.consensus;
  // The rule of a module is known only once the sandbox is loaded.
  const known = isUnloadedModule({ policy }) ? null : ruleOf({ policy, rule });
  const used = useElections(scenario, found.data, known);
  if ('problem' in used) yield used.problem;
}

/** Returns the ballots' uses, by file. @throws {ScenarioError} if the rule does not take them. */
export function loadElectionUses(
  scenario: Scenario,
  data: ScenarioData,
  rule: NetworkRule,
): Record<string, ElectionUse> {
  const used = useElections(scenario, data, rule);
  if ('problem' in used) throw problemError([used.problem]);
  return used.uses;
}

function useElections(
  scenario: Scenario,
  { elections }: ScenarioData,
  rule: NetworkRule | null,
): { uses: Record<string, ElectionUse> } | { problem: Problem } {
  const sizes = groupSizes(scenario);
  const uses: Record<string, ElectionUse> = {};
  for (const { path, strategy } of listStrategies(scenario)) {
    if (strategy.kind !== 'ballots') continue;
    const { file, take, ties } = strategy;
    const at = [...path, 'file'];
    const election = elections.get(file)!;
    const { voters, options: names, alternatives } = election;
    const [list, index] = path;
    if (take === 'listed' && list !== 'agents') {
      return {
        problem: { path: [...path, 'take'], ...invalid(take, 'drawn, in an intervention') },
      };
    }
    const agents = sizes[Number(index)]!;
    if (take === 'listed' && voters !== agents) {
      return { problem: { path: at, ...finding('WRONG_VOTERS', { file, voters, agents }) } };
    }
    const options = findOptions(scenario, elections).options ?? names;
    const maker = rule && new BallotMaker(rule, { ...strategy, points: election.points });
    const survey = maker && surveyBallots(election, names, options, maker);
    const problem = findOptionsProblem(names, options) ?? (ties === 'refuse' ? survey?.tied : null);
    if (problem) {
      const { line, detail: what } = problem;
      const detail = line === undefined ? what : `line ${line}: ${what}`;
      return { problem: { path: at, ...finding('INVALID_ELECTION', { file, detail }) } };
    }
    const labels = labelOptions(names, alternatives);
    uses[file] = {
      ballots: Object.fromEntries(
        Object.entries(survey?.uses ?? {}).filter(([, count]) => count > 0),
      ),
      ...(maker?.scale ? { scale: maker.scale } : {}),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    };
  }
  return { uses };
}

/** Returns the producers with the options of blocks: as given, or those of the first election. */
export function findOptions(
  { producers }: Pick<Scenario, 'producers'>,
  elections: ReadonlyMap<string, ReadElection>,
): Scenario['producers'] {
  const [first] = elections.values();
  const options = producers.options ?? first?.options;
  return options ? { ...producers, options: [...options] } : producers;
}

/**
 * Loads the data files.
 * @param folder base folder, required if the scenario names files.
 * @throws {ScenarioError} with the file name and line.
 */
export function loadData(scenario: Scenario, folder: string | undefined): ScenarioData {
  const [first] = namedFiles(scenario);
  if (folder === undefined && first) throw scenarioError('UNKNOWN_FOLDER', { file: first.file });
  const found = readData(scenario, folder ?? '.');
  if ('problem' in found) throw problemError([found.problem]);
  return found.data;
}

function readData(
  scenario: Scenario,
  folder: string,
): { data: ScenarioData } | { problem: Problem } {
  const data: ScenarioData = { traces: new Map(), edges: [], elections: new Map(), files: {} };
  for (const { at, file, take } of namedFiles(scenario)) {
    const found = readText(file, folder);
    if ('code' in found) return { problem: { path: at, ...found } };
    try {
      take(found.content, data);
    } catch (error) {
      if (error instanceof ElectionError) {
        const detail = `line ${error.line}: ${error.message}`;
        return { problem: { path: at, ...finding('INVALID_ELECTION', { file, detail }) } };
      }
      if (!(error instanceof BadLine)) throw error;
      const values = { file, line: error.line, detail: error.message };
      return { problem: { path: at, ...finding('INVALID_LINE', values) } };
    }
    data.files[file] = found.sha256;
  }
  return { data };
}

function readText(file: string, folder: string): { content: string; sha256: string } | Finding {
  const found = fileInside(file, folder, 'a data file');
  if ('code' in found) return found;
  const { size: bytes } = statSync(found.file);
  if (bytes > LARGEST_BYTES)
    return finding('FILE_TOO_LARGE', { file, bytes, limit: LARGEST_BYTES });
  const content = readFileSync(found.file, 'utf8');
  return { content, sha256: sha256Hex(content) };
}

/** Ordinals of the link's two ends. */
type Edge = readonly [number, number];

const edgeHeads = new Set(['a,b', 'from,to', 'source,target']);

/** Parses undirected links. @throws {BadLine} */
function edgesIn(text: string, scenario: PopulationSource): Edge[] {
  const rows = rowsOf(text, edgeHeads);
  const ordinals = new Map<string, number>();
  for (const { name, ordinal } of inhabitants(scenario)) {
    ordinals.set(name, ordinal);
    ordinals.set(String(ordinal), ordinal);
  }
  const size = scenario.population;
  const edges = new Map<number, Edge>();
  for (const row of rows) {
    const [a, b] = edgeOf(row, ordinals, size);
    // A link is mutual, so both directions and repetitions name one link.
    const key = Math.min(a, b) * size + Math.max(a, b);
    if (!edges.has(key)) edges.set(key, [a, b]);
  }
  return [...edges.values()];
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
 * A latency file contains either one sample in milliseconds per line, all equally likely, or lines
 * of quantile,ms from quantile 0 to 1, with linear interpolation.
 */

const MOST_MS = 600_000;
const MOST_ROWS = 1_000_000;
const milliseconds = { what: 'milliseconds', least: 0, most: MOST_MS };
const quantiles = { what: 'a quantile', least: 0, most: 1 };
const traceHeads = new Set(['ms', 'quantile,ms']);

/** @throws {BadLine} */
export function parseTrace(text: string): Quantile {
  const rows = rowsOf(text, traceHeads);
  if (rows.length === 0) throw new BadLine(1, 'has no data; expected one time per line');
  if (rows.length > MOST_ROWS) {
    throw new BadLine(rows[MOST_ROWS]!.line, `is above the limit of ${MOST_ROWS} lines`);
  }
  const width = rows[0]!.cells.length;
  const odd = rows.find(({ cells }) => cells.length !== width || width > 2);
  if (odd) {
    const expected = width > 2 ? 'ms, or quantile,ms' : `${width} as in the first line`;
    throw new BadLine(odd.line, `has ${odd.cells.length} cells; expected ${expected}`);
  }
  return width === 1 ? sampleOf(rows) : curveOf(rows);
}

/** Returns the inverse of the empirical distribution function. */
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
      throw new BadLine(line, `has quantile ${place}; expected more than ${before}`);
    }
    if (times[index]! < (times[index - 1] ?? 0)) {
      throw new BadLine(line, `has ${times[index]} ms; expected at least ${times[index - 1]}`);
    }
  }
  if (places.at(-1) !== 1) {
    throw new BadLine(
      rows.at(-1)!.line,
      `has quantile ${places.at(-1)}; expected the last to be 1`,
    );
  }
  return (place) => quantileBetween(places, times, place);
}

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

class BadLine extends Error {
  override name = 'BadLine';

  constructor(
    /** Line number, from 1. */
    readonly line: number,
    text: string,
  ) {
    super(text);
  }
}

interface CsvRow {
  /** Line number, from 1. */
  line: number;
  cells: string[];
}

/** Returns the lines with data, without a head, empty lines and comments, which begin with #. */
function rowsOf(text: string, heads: ReadonlySet<string>): CsvRow[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const rows = lines.flatMap((whole, index) => {
    const content = whole.trim();
    if (content === '' || content.startsWith('#')) return [];
    const cells = content.split(',').map((cell) => cell.trim());
    return [{ line: index + 1, cells }];
  });
  return heads.has(rows[0]?.cells.join(',') ?? '') ? rows.slice(1) : rows;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** Parses a number within bounds. @throws {BadLine} */
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

/**
 * Resolves a path in a scenario to a real path inside the scenario's folder.
 *
 * A script is a program, and error messages quote file contents. A scenario from an untrusted
 * source must therefore not choose files outside its folder.
 * @param what expected type, such as "a module".
 */
export function fileInside(path: string, folder: string, what: string): { file: string } | Finding {
  const whole = posix.isAbsolute(path) || win32.isAbsolute(path) || /^\w[\w+.-]*:/.test(path);
  if (whole) return finding('FILE_NOT_RELATIVE', { file: path });
  const named = resolve(folder, path);
  if (!existsSync(named)) return finding('FILE_NOT_FOUND', { file: path });
  const file = realpathSync(named);
  const inside = relative(realpathSync(folder), file);
  if (inside.split(/[\\/]/, 1)[0] === '..' || isAbsolute(inside)) {
    return finding('FILE_OUTSIDE', { file: path });
  }
  if (statSync(file).isFile()) return { file };
  return finding('NOT_A_FILE', { file: path, expected: what });
}
