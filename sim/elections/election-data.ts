/**
 * Reads election data: PrefLib files with orders (soc, soi, toc and toi), and Pabulib files (pb).
 * The files are untrusted input. All limits are below, and each error names a line.
 *
 * Formats: PrefLib-Data, FORMAT_SPECIFICATION.md (2025); pabulib.org/format (2025).
 */
import { formatMessage, type MessageValues } from '../../engine/protocol/messages.js';
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
  /** Most points of an alternative in a ballot; 0 in data without points. */
  readonly points: number;
  /** Lines that were left out because of an invalid ballot. Absent if there are none. */
  readonly skipped?: { lines: number; first: { line: number; problem: string } } | undefined;
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
  throw new ElectionError(code, line, formatMessage<string>(electionMessages[code], values));
}

const shorten = (value: string): string => {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
};

/** Returns the type of a file, by its extension. @throws {ElectionError} */
export function findDataType(file: string): DataType {
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  const found = dataTypes.find((type) => type === ending);
  if (found) return found;
  return refuse(1, 'UNKNOWN_TYPE', { type: shorten(ending), expected: dataTypes.join(', ') });
}

export interface ReadOptions {
  /** Leaves out lines with an invalid ballot and counts them. */
  skipInvalid?: boolean;
}

/** Reads election data. @throws {ElectionError} with the line of the first problem. */
export function readElection(
  text: string,
  type: DataType,
  { skipInvalid = false }: ReadOptions = {},
): ElectionData {
  const bytes = Buffer.byteLength(text);
  const limit = electionLimits.bytes;
  if (bytes > limit) return refuse(1, 'TOO_LARGE', { bytes, limit });
  const lines = new Lines(text);
  const ballots = new Ballots(skipInvalid);
  return type === 'pb' ? readPabulib(lines, ballots) : readPrefLib(lines, ballots, type);
}

/** Lines of a text, read one at a time. */
class Lines {
  /** Number of the last line that was read, from 1. */
  number = 0;
  readonly #text: string;
  readonly #end = /\r\n|\r|\n/g;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
  }

  /** Returns the next line, or null after the last one. */
  next(): string | null {
    if (this.#at > this.#text.length) return null;
    this.number += 1;
    this.#end.lastIndex = this.#at;
    const found = this.#end.exec(this.#text);
    const line = this.#text.slice(this.#at, found?.index);
    this.#at = found ? this.#end.lastIndex : this.#text.length + 1;
    return line;
  }
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

function assertName(line: number, name: string): void {
  if (isName(name)) return;
  refuse(line, 'INVALID_NAME', { value: shorten(name), most: electionLimits.nameCharacters });
}

/** Problems of one ballot, which do not concern other lines. */
const skippable: ReadonlySet<ElectionCode> = new Set([
  ...(['LATE_HEADER', 'INVALID_COUNT', 'INVALID_ORDER', 'UNKNOWN_ALTERNATIVE'] as const),
  ...(['REPEATED_ALTERNATIVE', 'TIE', 'INCOMPLETE', 'WRONG_CELLS', 'INVALID_POINTS'] as const),
]);

/** Collects ballots, and refuses data that exceeds the limits. */
class Ballots {
  readonly list: CountedBallot[] = [];
  voters = 0;
  points = 0;
  skipped: ElectionData['skipped'];

  constructor(private readonly skipInvalid: boolean) {}

  /** Adds the ballot of a line. Skips an invalid ballot if that is allowed. */
  add(line: number, read: () => Pick<CountedBallot, 'count' | 'ballot'>): void {
    const { ballots, voters } = electionLimits;
    const found = this.skipInvalid ? this.#readOrSkip(line, read) : read();
    if (found === null) return;
    const { count: voted, ballot } = found;
    this.list.push({ count: voted, ballot, line });
    this.voters += voted;
    this.points = Math.max(this.points, ballot.points?.[0] ?? 0);
    const count = this.list.length;
    if (count > ballots) refuse(line, 'TOO_MANY', { what: 'ballots', count, limit: ballots });
    if (this.voters <= voters) return;
    refuse(line, 'TOO_MANY', { what: 'voters', count: this.voters, limit: voters });
  }

  #readOrSkip<T>(line: number, read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ElectionError && skippable.has(error.code))) throw error;
      this.skipped ??= { lines: 0, first: { line, problem: error.message } };
      this.skipped.lines += 1;
      return null;
    }
  }

  /** Refuses a number of the file that differs from the sum. Skipped lines are missing in sums. */
  assertSum(name: string, given: { value: string; line: number } | undefined, sum: number): void {
    if (this.skipped || given === undefined || given.value === String(sum)) return;
    refuse(given.line, 'WRONG_SUM', { name, value: shorten(given.value), sum });
  }

  result() {
    const { list, voters, points, skipped } = this;
    return { ballots: list, voters, points, ...(skipped ? { skipped } : {}) };
  }
}

/** Returns a tier of one alternative. Ballots share these tiers, so that large files fit memory. */
function createSingles(count: number): (readonly number[])[] {
  return Array.from({ length: count }, (_, alternative) => [alternative]);
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

/** Most lines before the first order. */
const MOST_HEADERS = electionLimits.alternatives + 1_000;

function readPrefLib(lines: Lines, ballots: Ballots, type: OrderType): ElectionData {
  const { header, first } = readHeader(lines);
  assertType(header, type);
  const alternatives = readAlternatives(header);
  const orders = new OrderReader(type, alternatives.length);
  for (let whole = first; whole !== null; whole = lines.next()) {
    const content = whole.trim();
    const line = lines.number;
    if (content !== '') ballots.add(line, () => orders.read(line, content));
  }
  const { length } = ballots.list;
  if (length === 0) refuse(lines.number, 'EMPTY', { what: 'orders' });
  ballots.assertSum('NUMBER VOTERS', header.values.get('NUMBER VOTERS'), ballots.voters);
  const orderCount = 'NUMBER UNIQUE ORDERS';
  ballots.assertSum(orderCount, header.values.get(orderCount), length);
  const title = header.values.get('TITLE')?.value ?? '';
  return { title, form: 'ranking', alternatives, ...ballots.result() };
}

function readHeader(lines: Lines): { header: Header; first: string | null } {
  const values: Header['values'] = new Map();
  for (;;) {
    const end = lines.number;
    const first = lines.next();
    const content = first?.trim() ?? '';
    if (first === null || (content !== '' && !content.startsWith('#'))) {
      return { header: { values, end }, first };
    }
    const { number } = lines;
    const limit = MOST_HEADERS;
    if (number > limit)
      refuse(number, 'TOO_MANY', { what: 'metadata lines', count: number, limit });
    const colon = content.indexOf(':');
    if (colon < 0) continue;
    const key = content.slice(1, colon).trim().toUpperCase();
    if (values.has(key)) refuse(number, 'REPEATED', { name: 'key', value: shorten(key) });
    values.set(key, { value: content.slice(colon + 1).trim(), line: number });
  }
}

function assertType({ values }: Header, type: OrderType): void {
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
    assertName(found.line, found.value);
    if (seen.has(found.value)) {
      refuse(found.line, 'REPEATED', { name: 'name', value: shorten(found.value) });
    }
    seen.add(found.value);
  }
  return [...seen];
}

/** Parses orders, such as `5: 1,{2,3},4`. */
class OrderReader {
  readonly #type: OrderType;
  readonly #size: number;
  readonly #singles: readonly (readonly number[])[];
  /** Line in which an alternative was last named. */
  readonly #named: Uint32Array;

  constructor(type: OrderType, size: number) {
    this.#type = type;
    this.#size = size;
    this.#singles = createSingles(size);
    this.#named = new Uint32Array(size);
  }

  /** @throws {ElectionError} */
  read(line: number, content: string): Pick<CountedBallot, 'count' | 'ballot'> {
    if (content.startsWith('#')) refuse(line, 'LATE_HEADER', { name: shorten(content) });
    const colon = content.indexOf(':');
    if (colon < 0) return refuse(line, 'INVALID_ORDER', { value: shorten(content) });
    const bounds = [1, electionLimits.voters] as const;
    const count = integerIn(line, 'count', content.slice(0, colon).trim(), bounds);
    const tiers = this.#readTiers(line, content, colon + 1);
    const type = this.#type;
    if (type.startsWith('s') && tiers.some(({ length }) => length > 1)) {
      const expected = type === 'soc' ? 'toc' : 'toi';
      refuse(line, 'TIE', { type, value: shorten(content), expected });
    }
    if (type.endsWith('c')) {
      const named = tiers.reduce((sum, { length }) => sum + length, 0);
      const expected = type === 'soc' ? 'soi' : 'toi';
      if (named < this.#size) {
        refuse(line, 'INCOMPLETE', { type, value: shorten(content), expected });
      }
    }
    return { count, ballot: { tiers } };
  }

  #readTiers(line: number, text: string, from: number): (readonly number[])[] {
    const tiers: (readonly number[])[] = [];
    let tie: number[] | null = null;
    let isNext = true;
    const broken = (): never => refuse(line, 'INVALID_ORDER', { value: shorten(text.slice(from)) });
    for (let at = from; at < text.length; ) {
      const character = text[at]!;
      if (character === ',') {
        if (isNext) broken();
        isNext = true;
      } else if (character === '{') {
        if (tie || !isNext) broken();
        tie = [];
      } else if (character === '}') {
        if (!tie || isNext) return broken();
        tiers.push(tie.length === 1 ? this.#singles[tie[0]!]! : tie);
        tie = null;
      } else if (isDigit(text.charCodeAt(at)) || !/\s/.test(character)) {
        if (!isNext) broken();
        const end = findEnd(text, at);
        const position = this.#readPosition(line, text.slice(at, end));
        if (tie) tie.push(position);
        else tiers.push(this.#singles[position]!);
        isNext = false;
        at = end - 1;
      }
      at += 1;
    }
    return tie || isNext ? broken() : tiers;
  }

  #readPosition(line: number, token: string): number {
    const number = INTEGER.test(token) ? Number(token) : 0;
    if (number < 1 || number > this.#size) {
      const value = shorten(token.slice(0, 20));
      refuse(line, 'UNKNOWN_ALTERNATIVE', { value, expected: `1 to ${this.#size}` });
    }
    if (this.#named[number - 1] === line) {
      refuse(line, 'REPEATED_ALTERNATIVE', { value: token.slice(0, 20) });
    }
    this.#named[number - 1] = line;
    return number - 1;
  }
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Returns the end of the number, or of the one other character, at a position. */
function findEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return Math.max(end, at + 1);
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
}

const sectionNames = ['META', 'PROJECTS', 'VOTES'] as const;

/** Forms of the ballots, by `vote_type`. */
const voteForms: Record<string, ElectionData['form']> = {
  approval: 'approval',
  'choose-1': 'approval',
  ordinal: 'ranking',
  cumulative: 'points',
  scoring: 'points',
};

function readPabulib(lines: Lines, ballots: Ballots): ElectionData {
  const rows = new Rows(lines);
  const meta = new Meta(beginSection(rows, 0));
  const projectsAt = readSection(rows, 1, meta.section, (row) => meta.add(row));
  const projects = new Projects(projectsAt);
  const votesAt = readSection(rows, 2, projectsAt, (row) => projects.add(row));
  const form = meta.readForm();
  const { alternatives, positions } = projects.finish();
  let votes: VoteReader | null = null;
  readSection(rows, 3, votesAt, (row) => {
    votes ??= new VoteReader(votesAt, form, positions);
    const reader = votes;
    ballots.add(row.line, () => reader.read(row));
  });
  votes ??= new VoteReader(votesAt, form, positions);
  if (ballots.list.length === 0) refuse(votesAt.line, 'EMPTY', { what: 'votes' });
  ballots.assertSum('num_projects', meta.values.get('num_projects'), alternatives.length);
  ballots.assertSum('num_votes', meta.values.get('num_votes'), ballots.voters);
  const title = meta.values.get('description')?.value ?? '';
  return { title, form, alternatives, ...ballots.result() };
}

/** Begins the first section, whose title must be the first row. */
function beginSection(rows: Rows, next: number): Section {
  const name = sectionNames[next]!;
  const row = rows.next();
  if (row && isTitle(row, name)) return { name, line: row.line, columns: [] };
  return refuse(row?.line ?? 1, 'NO_SECTION', { name });
}

/** Reads a section's rows and returns the next one's title. The first row names the columns. */
function readSection(rows: Rows, next: number, section: Section, add: (row: Row) => void): Section {
  const name = sectionNames[next];
  let last = section.line;
  for (let row = rows.next(); row !== null; row = rows.next()) {
    last = row.line;
    if (name !== undefined && isTitle(row, name)) return { name, line: row.line, columns: [] };
    if (section.columns.length === 0) section.columns = row.cells;
    else add(row);
  }
  return name === undefined ? section : refuse(last, 'NO_SECTION', { name });
}

const isEmpty = (cell: string): boolean => cell === '';

const isTitle = ({ cells }: Row, name: string): boolean =>
  cells[0] === name && cells.slice(1).every(isEmpty);

const MOST_META = 1_000;

class Meta {
  readonly values = new Map<string, { value: string; line: number }>();

  constructor(readonly section: Section) {}

  add({ line, cells: [key = '', value = ''] }: Row): void {
    const { values } = this;
    if (values.has(key)) refuse(line, 'REPEATED', { name: 'key', value: shorten(key) });
    values.set(key, { value, line });
    const count = values.size;
    if (count > MOST_META) refuse(line, 'TOO_MANY', { what: 'keys', count, limit: MOST_META });
  }

  readForm(): ElectionData['form'] {
    const type = this.values.get('vote_type');
    const isKnown = type !== undefined && Object.hasOwn(voteForms, type.value);
    const form = isKnown ? voteForms[type.value] : undefined;
    if (form !== undefined) return form;
    const value = shorten(type?.value ?? '');
    const expected = Object.keys(voteForms).join(', ');
    return refuse(type?.line ?? this.section.line, 'INVALID_TYPE', { type: value, expected });
  }
}

/** Longest row, in characters, and most cells of a row. */
const LONGEST_ROW = 1_000_000;
const MOST_CELLS = 1_000;

/** Rows of values that are separated by semicolons and may be quoted. Skips empty lines. */
class Rows {
  constructor(private readonly lines: Lines) {}

  next(): Row | null {
    for (let text = this.lines.next(); text !== null; text = this.lines.next()) {
      const line = this.lines.number;
      checkLength(line, text.length);
      const cells = text.includes('"') ? this.#readQuoted(text, line) : splitCells(text);
      const count = cells.length;
      if (count > MOST_CELLS)
        refuse(line, 'TOO_MANY', { what: 'values', count, limit: MOST_CELLS });
      if (count > 1 || cells[0] !== '') return { line, cells };
    }
    return null;
  }

  /** A quoted value may contain semicolons, doubled quotes and line ends. */
  #readQuoted(first: string, line: number): string[] {
    const cells: string[] = [];
    let text = first;
    let size = text.length;
    for (let at = 0; at <= text.length && cells.length <= MOST_CELLS; ) {
      while (isBlank(text[at])) at += 1;
      let value = '';
      if (text[at] === '"') {
        const parts: string[] = [];
        let end = findQuote(text, at + 1);
        for (let from = at + 1; end < 0; from = 0) {
          parts.push(text.slice(from));
          const more = this.lines.next();
          if (more === null) return refuse(line, 'INVALID_CSV', { detail: 'quote without an end' });
          size += more.length + 1;
          checkLength(line, size);
          text = more;
          at = -1;
          end = findQuote(text, 0);
        }
        parts.push(text.slice(at + 1, end));
        value = parts.join('\n').replaceAll('""', '"');
        at = end + 1;
        while (isBlank(text[at])) at += 1;
        // Published files contain quotes inside unquoted values.
        if (at < text.length && text[at] !== ';') {
          const rest = endOfCell(text, at);
          value = `"${value}"${text.slice(end + 1, rest)}`;
          at = rest;
        }
      } else {
        const end = endOfCell(text, at);
        value = text.slice(at, end);
        at = end;
      }
      cells.push(value.trim());
      at += 1;
    }
    return cells;
  }
}

function checkLength(line: number, count: number): void {
  const what = 'characters in a row';
  if (count > LONGEST_ROW) refuse(line, 'TOO_MANY', { what, count, limit: LONGEST_ROW });
}

/** Splits and trims values. Most need no trimming, which would take half of the time. */
function splitCells(text: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= text.length && cells.length <= MOST_CELLS; ) {
    const end = endOfCell(text, at);
    const cell = text.slice(at, end);
    cells.push(
      isPlain(text.charCodeAt(at)) && isPlain(text.charCodeAt(end - 1)) ? cell : cell.trim(),
    );
    at = end + 1;
  }
  return cells;
}

/** Returns true for a printable ASCII character other than a space. */
const isPlain = (code: number): boolean => code > 32 && code < 128;

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

const endOfCell = (text: string, at: number): number => {
  const end = text.indexOf(';', at);
  return end < 0 ? text.length : end;
};

/** Returns the position of the next quote that is not doubled, or -1. */
function findQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function findColumn({ name: section, line, columns }: Section, name: string): number {
  const at = columns.indexOf(name);
  return at >= 0 ? at : refuse(line, 'NO_COLUMN', { section, name });
}

/** Checks the number of cells. Trailing empty cells may be missing or superfluous. */
function checkCells({ columns }: Section, { line, cells }: Row): void {
  const expected = columns.length;
  const isFitting = cells.length <= expected || cells.slice(expected).every(isEmpty);
  if (!isFitting || cells.length < 2) {
    refuse(line, 'WRONG_CELLS', { count: cells.length, expected });
  }
}

class Projects {
  readonly #positions = new Map<string, number>();
  readonly #names = new Set<string>();

  constructor(private readonly section: Section) {}

  add(row: Row): void {
    const { line, cells } = row;
    const names = this.#names;
    const positions = this.#positions;
    checkCells(this.section, row);
    const id = cells[findColumn(this.section, 'project_id')] ?? '';
    assertName(line, id);
    if (positions.has(id)) refuse(line, 'REPEATED', { name: 'project', value: shorten(id) });
    positions.set(id, positions.size);
    const count = positions.size;
    const limit = electionLimits.alternatives;
    if (count > limit) refuse(line, 'TOO_MANY', { what: 'projects', count, limit });
    const nameAt = this.section.columns.indexOf('name');
    const name = nameAt < 0 || cells[nameAt] === '' ? id : (cells[nameAt] ?? id);
    // Project names may repeat, but ids are unique.
    const unique = names.has(name) ? `${name} ${id}` : name;
    assertName(line, unique);
    if (names.has(unique)) refuse(line, 'REPEATED', { name: 'name', value: shorten(unique) });
    names.add(unique);
  }

  finish(): { alternatives: string[]; positions: ReadonlyMap<string, number> } {
    findColumn(this.section, 'project_id');
    if (this.#names.size === 0) refuse(this.section.line, 'EMPTY', { what: 'projects' });
    return { alternatives: [...this.#names], positions: this.#positions };
  }
}

class VoteReader {
  readonly #section: Section;
  readonly #form: ElectionData['form'];
  readonly #positions: ReadonlyMap<string, number>;
  readonly #singles: readonly (readonly number[])[];
  readonly #voteAt: number;
  readonly #pointsAt: number;
  /** Ballots by their text. Many voters cast the same ballot. */
  readonly #known = new Map<string, Preference>();

  constructor(
    section: Section,
    form: ElectionData['form'],
    positions: ReadonlyMap<string, number>,
  ) {
    this.#section = section;
    this.#form = form;
    this.#positions = positions;
    this.#singles = createSingles(positions.size);
    this.#voteAt = findColumn(section, 'vote');
    this.#pointsAt = form === 'points' ? findColumn(section, 'points') : -1;
  }

  /** @throws {ElectionError} */
  read(row: Row): Pick<CountedBallot, 'count' | 'ballot'> {
    checkCells(this.#section, row);
    const { line, cells } = row;
    const vote = cells[this.#voteAt] ?? '';
    const points = cells[this.#pointsAt] ?? '';
    const text = points === '' ? vote : `${vote};${points}`;
    let ballot = this.#known.get(text);
    if (!ballot) {
      ballot = this.#readBallot(line, vote, points);
      this.#known.set(text, ballot);
    }
    return { count: 1, ballot };
  }

  #readBallot(line: number, vote: string, points: string): Preference {
    const named = readProjectIds(line, vote, this.#positions);
    if (this.#form === 'points') return rankByPoints(named, readPoints(line, points, named.length));
    if (named.length === 0) return { tiers: [] };
    return { tiers: this.#form === 'ranking' ? named.map((one) => this.#singles[one]!) : [named] };
  }
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

/** Splits a list. Values beyond the largest number of alternatives repeat one of them. */
const listOf = (text: string): string[] =>
  text === '' ? [] : text.split(',', electionLimits.alternatives + 1).map((one) => one.trim());

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
