/**
 * A run archive contains all of a run's row batches as one table, and additional data, as JSON that
 * compresses well. Repeated texts are stored once. Runs in browsers.
 */

import { parseUnique } from '../../engine/protocol/repeated-members.js';
import {
  type AgentRow,
  type AllianceRow,
  type BlockRow,
  formatRowValue,
  type Introductions,
  type MemeRow,
  type Message,
  type Overview,
  type RowBatch,
  type Rows,
  rowKinds,
  viewRows,
} from './model.js';
import type { NetworkParameters } from './reducer.js';
import { introducing, newRows } from './row-batch.js';

/** One value per row: absolute entries, times since the first row, and text numbers. */
type Table = Record<keyof Rows | 'said', Float64Array>;

/** The parts of an archive outside its table. */
interface TableHead {
  spans: (Omit<RowBatch, 'rows' | 'introduced' | 'said' | 'omitted'> & { rows: number })[];
  /** Items introduced in all batches, as lists of values by member. */
  introduced: Record<keyof Introductions, Record<string, unknown[]>>;
  /** Texts by number, from 1. Number 1 stands for the caption of the row's meme. */
  texts: string[];
  /** Subtracted from each time. */
  since: number;
}

const emptyTable = (rows: number): Table => ({
  entry: new Float64Array(rows),
  at: new Float64Array(rows),
  kind: new Float64Array(rows),
  who: new Float64Array(rows),
  what: new Float64Array(rows),
  value: new Float64Array(rows),
  said: new Float64Array(rows),
});

const saying = rowKinds.map((kind) => viewRows[kind].says?.kind);
const values = rowKinds.map((kind) => viewRows[kind].value);
const MEME = introducing.memes;
const CAPTION = 1;

export interface RunArchive {
  batches: readonly RowBatch[];
  data: RunData;
}

/** Columns that change slowly, stored as differences because differences compress better. */
const steady: readonly (keyof Table)[] = ['entry', 'at'];

interface ReelJson extends TableHead {
  kept: RunData;
  columns: Record<keyof Table, number[]>;
}

/** @throws {RangeError} if messages are omitted or belong to no row. */
export function encodeRunArchive({ batches, data }: RunArchive): Uint8Array {
  const { table, ...head } = toTable(batches);
  const columns = Object.entries(table).map(([name, values]) => [
    name,
    steady.includes(name as keyof Table) ? differences(values) : [...values],
  ]);
  const archive = { ...head, kept: data, columns: Object.fromEntries(columns) } satisfies ReelJson;
  return new TextEncoder().encode(JSON.stringify(archive));
}

export function decodeRunArchive(bytes: Uint8Array): RunArchive {
  const { columns, kept, ...head } = parseUnique(new TextDecoder().decode(bytes)) as ReelJson;
  const table = emptyTable(columns.kind.length);
  for (const name of Object.keys(table) as (keyof Table)[]) {
    table[name].set(columns[name]);
    if (steady.includes(name)) sumUp(table[name]);
  }
  return { batches: toRowBatches(head, table), data: kept };
}

const differences = (values: Float64Array): number[] =>
  Array.from(values, (value, row) => value - (values[row - 1] ?? 0));

function sumUp(values: Float64Array): void {
  for (let row = 1; row < values.length; row += 1) values[row]! += values[row - 1]!;
}

function toTable(batches: readonly RowBatch[]): TableHead & { table: Table } {
  const table = emptyTable(batches.reduce((sum, { rows }) => sum + rows.kind.length, 0));
  const since = batches.find(({ rows }) => rows.at.length > 0)?.rows.at[0] ?? 0;
  const texts = new Map<string, number>();
  let start = 0;
  for (const { from, rows, introduced, said, omitted } of batches) {
    let next = 0;
    let meme = 0;
    for (const [row, kind] of rows.kind.entries()) {
      const place = start + row;
      table.entry[place] = from + rows.entry[row]!;
      table.at[place] = rows.at[row]! - since;
      table.kind[place] = kind;
      table.who[place] = rows.who[row]!;
      table.what[place] = rows.what[row]!;
      table.value[place] = rows.value[row]!;
      const caption = kind === MEME ? introduced.memes[meme++]?.caption : undefined;
      const one = said[next];
      if (!one || !isOf(one, table, place)) continue;
      next += 1;
      const known = one.text === caption ? CAPTION : texts.get(one.text);
      table.said[place] = known ?? CAPTION + 1 + texts.size;
      if (known === undefined) texts.set(one.text, table.said[place]!);
    }
    if (omitted > 0 || next < said.length) throw new RangeError(`entry ${from}: texts are missing`);
    start += rows.kind.length;
  }
  return {
    spans: batches.map(headOf),
    introduced: introducedIn(batches),
    texts: ['', ...texts.keys()],
    since,
    table,
  };
}

const isOf = ({ entry, kind, who, what, stance }: Message, table: Table, row: number) =>
  entry === table.entry[row] &&
  kind === saying[table.kind[row]!] &&
  who === table.who[row] &&
  what === table.what[row] &&
  stance === stanceOf(table, row);

function stanceOf(table: Table, row: number): string {
  const kind = table.kind[row]!;
  return kind === MEME ? '' : formatRowValue(values[kind], table.value[row]!);
}

const headOf = ({ rows, introduced: _, said: __, omitted: ___, ...rest }: RowBatch) => ({
  ...rest,
  rows: rows.kind.length,
});

function introducedIn(batches: readonly RowBatch[]): TableHead['introduced'] {
  const of = (name: keyof Introductions) =>
    transposed(batches.flatMap((batch) => batch.introduced[name] as object[]));
  return {
    agents: of('agents'),
    blocks: of('blocks'),
    memes: of('memes'),
    alliances: of('alliances'),
  };
}

type Lists = Record<string, unknown[]>;

const transposed = (rows: readonly object[]): Lists =>
  Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((member) => [
      member,
      rows.map((row) => (row as Record<string, unknown>)[member]),
    ]),
  );

function toRowBatches(head: TableHead, table: Table): RowBatch[] {
  const take = {
    agents: takeInTurn(rowsIn<AgentRow>(head.introduced.agents)),
    blocks: takeInTurn(rowsIn<BlockRow>(head.introduced.blocks)),
    memes: takeInTurn(rowsIn<MemeRow>(head.introduced.memes)),
    alliances: takeInTurn(rowsIn<AllianceRow>(head.introduced.alliances)),
  };
  let start = 0;
  return head.spans.map(({ rows: length, ...span }) => {
    const part = Object.fromEntries(
      Object.entries(table).map(([name, values]) => [name, values.subarray(start, start + length)]),
    ) as Table;
    start += length;
    const count = (kind: number) => part.kind.filter((one) => one === kind).length;
    const introduced: Introductions = {
      agents: take.agents(count(introducing.agents)),
      blocks: take.blocks(count(introducing.blocks)),
      memes: take.memes(count(introducing.memes)),
      alliances: take.alliances(count(introducing.alliances)),
    };
    const said = saidIn(part, head, introduced.memes);
    return { ...span, rows: rowsOf(part, span.from, head.since), introduced, said, omitted: 0 };
  });
}

function takeInTurn<T>(rows: readonly T[]): (count: number) => T[] {
  let next = 0;
  return (count) => {
    next += count;
    return rows.slice(next - count, next);
  };
}

const rowsIn = <T>(lists: Lists): T[] =>
  Array.from(
    { length: Object.values(lists)[0]?.length ?? 0 },
    (_, place) =>
      Object.fromEntries(
        Object.entries(lists).map(([member, values]) => [member, values[place]]),
      ) as T,
  );

function rowsOf(table: Table, from: number, since: number): Rows {
  const rows = newRows(table.kind.length);
  for (const name of ['kind', 'who', 'what', 'value'] as const) rows[name].set(table[name]);
  rows.entry.set(table.entry.map((entry) => entry - from));
  rows.at.set(table.at.map((at) => at + since));
  return rows;
}

function saidIn(table: Table, { texts, since }: TableHead, memes: readonly MemeRow[]): Message[] {
  const said: Message[] = [];
  let meme = 0;
  for (const [row, place] of table.said.entries()) {
    const kind = table.kind[row]!;
    const caption = kind === MEME ? memes[meme++]!.caption : '';
    if (place === 0) continue;
    said.push({
      entry: table.entry[row]!,
      at: table.at[row]! + since,
      who: table.who[row]!,
      kind: saying[kind]!,
      what: table.what[row]!,
      stance: stanceOf(table, row),
      text: place === CAPTION ? caption : texts[place - 1]!,
    });
  }
  return said;
}

/** Data that the page would read from a server. */
export interface RunData {
  network: NetworkParameters;
  /** Entries without rows, and their times. */
  quiet: { entries: number[]; at: number[] };
  overview: Overview;
  /** Lists by agent number, all equally long. */
  agents: { description: string[]; reason: string[]; scores: Scores[] };
  /** The scenario's groups, if known. `of` is the group index by agent number, or -1. */
  groups: { names: string[]; of: number[] } | null;
  /** The scenario's question and the run's verdict, if known. */
  about: {
    title: string;
    question?: string;
    seed?: string;
    verdict?: string;
    reported?: Record<string, number | null>;
  } | null;
  /** Names of options in the scenario's election data; only those that differ. */
  labels: Readonly<Record<string, string>>;
  /** Proposals by block number, without signatures; null if omitted. */
  proposals: (Readonly<Record<string, unknown>> | null)[];
  /** Files by meme number, as text or base64. Omitted files are absent. */
  memes: Record<number, { text: string } | { base64: string }>;
}

/** Scores after the last entry, 0-100 in tenths: overall, memes, decisions, peers and alliances. */
export type Scores = [number, number, number, number, number];

/** Metadata, readable before unpacking. */
export interface RunSummary {
  folder: string;
  network_id: string;
  entries: number;
  events: number;
  /** Number of entries recomputed for the export, and the resulting digest. */
  proven: { entries: number; digest: string };
  version: string;
}
