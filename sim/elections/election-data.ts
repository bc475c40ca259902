/**
 * Reads election data: PrefLib files with orders (soc, soi, toc and toi), and Pabulib files (pb).
 * The files are untrusted input. All limits are below, and each error names a line.
 *
 * Formats: PrefLib-Data, FORMAT_SPECIFICATION.md (2025); pabulib.org/format (2025).
 */

import {
  formatMessage,
  type MessageRow,
  type MessageValues,
} from '../../engine/protocol/messages.js';
import { type CsvError, parseSync } from '../../report/bundled/csv.js';
import { electionMessages } from './messages.js';

/** PrefLib file types with orders: strict orders and orders with ties, complete and incomplete. */
const orderTypes = ['soc', 'soi', 'toc', 'toi'] as const;
export type OrderType = (typeof orderTypes)[number];

const dataTypes = [...orderTypes, 'pb'] as const;
/** Types of election data, which are the extensions of their files. */
export type DataType = (typeof dataTypes)[number];

export const electionLimits = {
  bytes: 32 * 1_048_576,
  alternatives: 1_000,
  /** Lines with ballots. */
  ballots: 500_000,
  /** Sum of the counts of all ballots. */
  voters: 100_000_000,
  nameCharacters: 1_000,
  points: 1_000_000_000,
} as const;

/** Preference of a voter. Alternatives are named by position, from 0. */
export interface Preference {
  /**
   * Alternatives, best first. The alternatives of a tier are tied, and an alternative outside all
   * tiers is below all tiers. An approval has one tier.
   */
  readonly tiers: readonly (readonly number[])[];
  /** Points of the alternatives in the tiers, in this order. Only in data with points. */
  readonly points?: readonly number[];
}

interface CountedBallot {
  /** Number of voters with this ballot. */
  readonly count: number;
  readonly ballot: Preference;
  /** Line in the file, from 1. */
  readonly line: number;
}

export interface ElectionData {
  readonly title: string;
  /** `ranking`: orders; `approval`: one tier; `points`: points for each alternative. */
  readonly form: 'ranking' | 'approval' | 'points';
  /** Unique names, in the order of the file. */
  readonly alternatives: readonly string[];
  /** Ballots, in the order of the file. */
  readonly ballots: readonly CountedBallot[];
  /** Number of voters: the sum of the counts. */
  readonly voters: number;
}

type ElectionCode = keyof typeof electionMessages;

/** Invalid election data. The message names the problem and its fix. */
export class ElectionError extends Error {
  override name = 'ElectionError';

  constructor(
    readonly code: ElectionCode,
    /** Line number, from 1. */
    readonly line: number,
    text: string,
  ) {
    super(text);
  }
}

function refuse<K extends ElectionCode>(
  line: number,
  code: K,
  values: MessageValues<(typeof electionMessages)[K]>,
): never {
  const row: MessageRow = electionMessages[code];
  throw new ElectionError(code, line, formatMessage<MessageRow>(row, values));
}

/** Shortens a value for an error. */
const shorten = (value: string): string => {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
};

/**
 * Returns the type of a file, by its extension.
 * @throws {ElectionError}
 */
export function findDataType(file: string): DataType {
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  const found = dataTypes.find((type) => type === ending);
  if (found) return found;
  return refuse(1, 'UNKNOWN_TYPE', { type: shorten(ending), expected: dataTypes.join(', ') });
}

/**
 * Reads election data.
 * @throws {ElectionError} with the line of the first problem.
 */
export function readElection(text: string, type: DataType): ElectionData {
  const bytes = Buffer.byteLength(text);
  const limit = electionLimits.bytes;
  if (bytes > limit) return refuse(1, 'TOO_LARGE', { bytes, limit });
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  return type === 'pb' ? readPabulib(content) : readPrefLib(content, type);
}

const INTEGER = /^\d{1,15}$/;

function integerIn(
  line: number,
  name: string,
  value: string,
  [least, most]: readonly [number, number],
): number {
  const number = INTEGER.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  return refuse(line, 'INVALID_COUNT', { name, value: shorten(value), least, most });
}

// Control characters in a name would reach terminals and logs.
const isName = (name: string): boolean =>
  name !== '' && name.length <= electionLimits.nameCharacters && !/\p{Cc}/u.test(name);

function checkName(line: number, name: string): void {
  if (isName(name)) return;
  refuse(line, 'INVALID_NAME', { value: shorten(name), most: electionLimits.nameCharacters });
}

/** Collects ballots, and refuses data that exceeds the limits. */
class Ballots {
  readonly list: CountedBallot[] = [];
  voters = 0;

  add(one: CountedBallot): void {
    const { ballots, voters } = electionLimits;
    this.list.push(one);
    this.voters += one.count;
    const { line } = one;
    const count = this.list.length;
    if (count > ballots) refuse(line, 'TOO_MANY', { what: 'ballots', count, limit: ballots });
    if (this.voters <= voters) return;
    refuse(line, 'TOO_MANY', { what: 'voters', count: this.voters, limit: voters });
  }
}

/*
 * PrefLib: lines `# KEY: VALUE`, then lines `COUNT: 1,{2,3},4`. Alternatives are numbered from 1.
 */

interface Header {
  /** Values with their lines, by key. */
  values: Map<string, { value: string; line: number }>;
  /** Last line of the header. */
  end: number;
}

function readPrefLib(text: string, type: OrderType): ElectionData {
  const lines = text.split(/\r\n|\r|\n/);
  const header = readHeader(lines);
  checkType(header, type);
  const alternatives = readAlternatives(header);
  const ballots = new Ballots();
  for (let index = header.end; index < lines.length; index += 1) {
    const content = lines[index]!.trim();
    const line = index + 1;
    if (content === '') continue;
    if (content.startsWith('#')) refuse(line, 'LATE_HEADER', { name: shorten(content) });
    ballots.add(readOrder(line, content, type, alternatives.length));
  }
  const { list, voters } = ballots;
  if (list.length === 0) refuse(lines.length, 'EMPTY', { what: 'orders' });
  checkSum(header, 'NUMBER VOTERS', voters);
  checkSum(header, 'NUMBER UNIQUE ORDERS', list.length);
  const title = header.values.get('TITLE')?.value ?? '';
  return { title, form: 'ranking', alternatives, ballots: list, voters };
}

function readHeader(lines: readonly string[]): Header {
  const values: Header['values'] = new Map();
  let end = 0;
  for (const [index, whole] of lines.entries()) {
    const content = whole.trim();
    if (content !== '' && !content.startsWith('#')) break;
    end = index + 1;
    const colon = content.indexOf(':');
    if (colon < 0) continue;
    const key = content.slice(1, colon).trim().toUpperCase();
    if (values.has(key)) refuse(end, 'REPEATED', { name: 'key', value: shorten(key) });
    values.set(key, { value: content.slice(colon + 1).trim(), line: end });
  }
  return { values, end };
}

function checkType({ values }: Header, type: OrderType): void {
  const given = values.get('DATA TYPE');
  if (given === undefined || given.value.toLowerCase() === type) return;
  refuse(given.line, 'INVALID_TYPE', { type: shorten(given.value), expected: type });
}

function readAlternatives({ values, end }: Header): string[] {
  const name = 'NUMBER ALTERNATIVES';
  const given = values.get(name);
  if (!given) return refuse(Math.max(1, end), 'MISSING_HEADER', { name: `# ${name}` });
  const count = integerIn(given.line, name, given.value, [1, electionLimits.alternatives]);
  const seen = new Set<string>();
  for (let number = 1; number <= count; number += 1) {
    const found = values.get(`ALTERNATIVE NAME ${number}`);
    if (!found) return refuse(given.line, 'NAME_MISSING', { number });
    checkName(found.line, found.value);
    if (seen.has(found.value)) {
      refuse(found.line, 'REPEATED', { name: 'name', value: shorten(found.value) });
    }
    seen.add(found.value);
  }
  return [...seen];
}

function checkSum({ values }: Header, name: string, sum: number): void {
  const given = values.get(name);
  if (given === undefined || given.value === String(sum)) return;
  refuse(given.line, 'WRONG_SUM', { name, value: shorten(given.value), sum });
}

function readOrder(line: number, content: string, type: OrderType, size: number): CountedBallot {
  const colon = content.indexOf(':');
  if (colon < 0) return refuse(line, 'INVALID_ORDER', { value: shorten(content) });
  const bounds = [1, electionLimits.voters] as const;
  const count = integerIn(line, 'count', content.slice(0, colon).trim(), bounds);
  const tiers = readTiers(line, content.slice(colon + 1), size);
  const value = shorten(content);
  if (type.startsWith('s') && tiers.some(({ length }) => length > 1)) {
    refuse(line, 'TIE', { type, value, expected: type === 'soc' ? 'toc' : 'toi' });
  }
  const named = tiers.reduce((sum, { length }) => sum + length, 0);
  if (type.endsWith('c') && named < size) {
    refuse(line, 'INCOMPLETE', { type, value, expected: type === 'soc' ? 'soi' : 'toi' });
  }
  return { count, ballot: { tiers }, line };
}

/** Parses `1,{2,3},4`. */
function readTiers(line: number, text: string, size: number): number[][] {
  const tiers: number[][] = [];
  const seen = new Set<number>();
  let inTie = false;
  let isNext = true;
  const broken = (): never => refuse(line, 'INVALID_ORDER', { value: shorten(text.trim()) });
  for (const [token] of text.matchAll(/\d+|\S/g)) {
    if (token === ',') {
      if (isNext) broken();
      isNext = true;
    } else if (token === '{') {
      if (inTie || !isNext) broken();
      inTie = true;
      tiers.push([]);
    } else if (token === '}') {
      if (!inTie || isNext) broken();
      inTie = false;
    } else {
      if (!isNext) broken();
      const position = positionOf(line, token, size);
      if (seen.has(position)) refuse(line, 'REPEATED_ALTERNATIVE', { value: token.slice(0, 20) });
      seen.add(position);
      if (inTie) tiers.at(-1)!.push(position);
      else tiers.push([position]);
      isNext = false;
    }
  }
  return inTie || isNext ? broken() : tiers;
}

function positionOf(line: number, token: string, size: number): number {
  const number = INTEGER.test(token) ? Number(token) : 0;
  if (number >= 1 && number <= size) return number - 1;
  const value = shorten(token.slice(0, 20));
  return refuse(line, 'UNKNOWN_ALTERNATIVE', { value, expected: `1 to ${size}` });
}

/*
 * Pabulib: the sections META, PROJECTS and VOTES, each with a line of column names. Values are
 * separated by semicolons and may be quoted.
 */

interface Row {
  line: number;
  cells: string[];
}

interface Section {
  name: string;
  line: number;
  columns: string[];
  rows: Row[];
}

const sectionNames = ['META', 'PROJECTS', 'VOTES'] as const;

function readPabulib(text: string): ElectionData {
  const [meta, projects, votes] = readSections(readRows(text)) as [Section, Section, Section];
  const about = readMeta(meta);
  const type = about.get('vote_type');
  const isKnown = type !== undefined && Object.hasOwn(voteForms, type.value);
  const form = isKnown ? voteForms[type.value] : undefined;
  if (form === undefined) {
    const value = shorten(type?.value ?? '');
    const expected = Object.keys(voteForms).join(', ');
    return refuse(type?.line ?? meta.line, 'INVALID_TYPE', { type: value, expected });
  }
  const { alternatives, positions } = readProjects(projects);
  const ballots = readVotes(votes, form, positions);
  const counts: [key: string, sum: number][] = [
    ['num_projects', alternatives.length],
    ['num_votes', ballots.voters],
  ];
  for (const [name, sum] of counts) {
    const given = about.get(name);
    if (given === undefined || given.value === String(sum)) continue;
    refuse(given.line, 'WRONG_SUM', { name, value: shorten(given.value), sum });
  }
  const title = about.get('description')?.value ?? '';
  return { title, form, alternatives, ballots: ballots.list, voters: ballots.voters };
}

/** Forms of the ballots, by `vote_type`. */
const voteForms: Record<string, ElectionData['form']> = {
  approval: 'approval',
  'choose-1': 'approval',
  ordinal: 'ranking',
  cumulative: 'points',
  scoring: 'points',
};

/** Maximum length of a row, in characters. */
const LARGEST_ROW = 1_000_000;
const MOST_ROWS = electionLimits.ballots + electionLimits.alternatives + 1_000;

function readRows(text: string): Row[] {
  const rows: Row[] = [];
  try {
    parseSync(text, {
      delimiter: ';',
      max_record_size: LARGEST_ROW,
      on_record: (cells, { lines: line }) => {
        rows.push({ line, cells });
        return null;
      },
      // Published files contain quotes inside unquoted values.
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      to: MOST_ROWS + 1,
      trim: true,
    });
  } catch (error) {
    const { lines, message } = error as CsvError & { lines?: number };
    return refuse(lines ?? 1, 'INVALID_CSV', { detail: shorten(message) });
  }
  const last = rows.at(-1);
  if (rows.length <= MOST_ROWS || !last) return rows;
  return refuse(last.line, 'TOO_MANY', { what: 'lines', count: rows.length, limit: MOST_ROWS });
}

/** Divides the rows into sections. */
function readSections(rows: readonly Row[]): Section[] {
  const sections: Section[] = [];
  for (const { line, cells } of rows) {
    const next = sectionNames[sections.length];
    const isTitle = next !== undefined && cells[0] === next && cells.slice(1).every(isEmpty);
    const section = sections.at(-1);
    if (isTitle) sections.push({ name: next, line, columns: [], rows: [] });
    else if (!section) return refuse(line, 'NO_SECTION', { name: 'META' });
    else if (section.columns.length === 0) section.columns = cells.map((cell) => cell.trim());
    else section.rows.push({ line, cells });
  }
  const missing = sectionNames[sections.length];
  if (missing === undefined) return sections;
  return refuse(rows.at(-1)?.line ?? 1, 'NO_SECTION', { name: missing });
}

const isEmpty = (cell: string): boolean => cell === '';

function readMeta({ rows }: Section) {
  const values = new Map<string, { value: string; line: number }>();
  for (const { line, cells } of rows) {
    const [key = '', value = ''] = cells;
    if (values.has(key)) refuse(line, 'REPEATED', { name: 'key', value: shorten(key) });
    values.set(key, { value, line });
  }
  return values;
}

function columnIn({ name: section, line, columns }: Section, name: string): number {
  const at = columns.indexOf(name);
  return at >= 0 ? at : refuse(line, 'NO_COLUMN', { section, name });
}

/** Returns the cells of a row. Trailing empty cells may be missing or superfluous. */
function cellsOf({ columns }: Section, { line, cells }: Row): string[] {
  const expected = columns.length;
  if (cells.slice(expected).every(isEmpty) && cells.length > 1) return cells;
  return refuse(line, 'WRONG_CELLS', { count: cells.length, expected });
}

function readProjects(section: Section) {
  const idAt = columnIn(section, 'project_id');
  const nameAt = section.columns.indexOf('name');
  const positions = new Map<string, number>();
  const names = new Set<string>();
  const limit = electionLimits.alternatives;
  for (const row of section.rows) {
    const { line } = row;
    const cells = cellsOf(section, row);
    const id = cells[idAt] ?? '';
    checkName(line, id);
    if (positions.has(id)) refuse(line, 'REPEATED', { name: 'project', value: shorten(id) });
    positions.set(id, positions.size);
    const count = positions.size;
    if (count > limit) refuse(line, 'TOO_MANY', { what: 'projects', count, limit });
    const name = nameAt < 0 || cells[nameAt] === '' ? id : (cells[nameAt] ?? id);
    // Project names may repeat, but ids are unique.
    const unique = names.has(name) ? `${name} ${id}` : name;
    checkName(line, unique);
    if (names.has(unique)) refuse(line, 'REPEATED', { name: 'name', value: shorten(unique) });
    names.add(unique);
  }
  if (names.size === 0) refuse(section.line, 'EMPTY', { what: 'projects' });
  return { alternatives: [...names], positions };
}

function readVotes(
  section: Section,
  form: ElectionData['form'],
  positions: ReadonlyMap<string, number>,
): Ballots {
  const voteAt = columnIn(section, 'vote');
  const pointsAt = form === 'points' ? columnIn(section, 'points') : -1;
  const ballots = new Ballots();
  for (const row of section.rows) {
    const { line } = row;
    const cells = cellsOf(section, row);
    const named = readProjectIds(line, cells[voteAt] ?? '', positions);
    if (form === 'points') {
      const ballot = rankByPoints(named, readPoints(line, cells[pointsAt] ?? '', named.length));
      ballots.add({ count: 1, ballot, line });
      continue;
    }
    const tiers = form === 'ranking' ? named.map((one) => [one]) : [named];
    ballots.add({ count: 1, ballot: { tiers: named.length === 0 ? [] : tiers }, line });
  }
  if (ballots.list.length === 0) refuse(section.line, 'EMPTY', { what: 'votes' });
  return ballots;
}

function readProjectIds(
  line: number,
  text: string,
  positions: ReadonlyMap<string, number>,
): number[] {
  const found = new Set<number>();
  for (const id of listOf(text)) {
    const position = positions.get(id);
    if (position === undefined) {
      const expected = 'a project_id of the section PROJECTS';
      return refuse(line, 'UNKNOWN_ALTERNATIVE', { value: shorten(id), expected });
    }
    if (found.has(position)) refuse(line, 'REPEATED_ALTERNATIVE', { value: shorten(id) });
    found.add(position);
  }
  return [...found];
}

const listOf = (text: string): string[] =>
  text === '' ? [] : text.split(',').map((one) => one.trim());

function readPoints(line: number, text: string, count: number): number[] {
  const most = electionLimits.points;
  const points = listOf(text).map((one) => (INTEGER.test(one) ? Number(one) : Number.NaN));
  if (points.length === count && points.every((one) => one <= most)) return points;
  return refuse(line, 'INVALID_POINTS', { value: shorten(text), most });
}

/** Ranks alternatives by their points. Alternatives with equal points are tied. */
export function rankByPoints(named: readonly number[], points: readonly number[]): Preference {
  const places = named.map((alternative, at) => ({ alternative, points: points[at]! }));
  places.sort((one, other) => other.points - one.points);
  const tiers: number[][] = [];
  for (const [at, { alternative, points: own }] of places.entries()) {
    if (places[at - 1]?.points === own) tiers.at(-1)!.push(alternative);
    else tiers.push([alternative]);
  }
  return { tiers, points: places.map((one) => one.points) };
}
