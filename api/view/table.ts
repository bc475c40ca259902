/** Between the spans of a run and one table of all their rows. Safe in a browser. */
import {
  type AgentRow,
  type AllianceRow,
  type BlockRow,
  type Introduced,
  type MemeRow,
  type Rows,
  rowKinds,
  type Said,
  type SaidKind,
  type Span,
} from './model.js';
import { newRows } from './span.js';

/** One value a row: entries as they are, times since the first, and the text that was said. */
export type Table = Record<keyof Rows | 'said', Float64Array>;

/** What a table does not have. */
export interface TableHead {
  spans: (Omit<Span, 'rows' | 'introduced' | 'said' | 'omitted'> & { rows: number })[];
  /** Of all spans, one after the other: lists of values by member. */
  introduced: Record<keyof Introduced, Record<string, unknown[]>>;
  /** What `said` names by its place, from 1; the first stands for the caption of a row's meme. */
  texts: string[];
  /** What is taken off each time. */
  since: number;
}

export const emptyTable = (rows: number): Table => ({
  entry: new Float64Array(rows),
  at: new Float64Array(rows),
  kind: new Float64Array(rows),
  who: new Float64Array(rows),
  what: new Float64Array(rows),
  value: new Float64Array(rows),
  said: new Float64Array(rows),
});

const MEME = rowKinds.indexOf('meme_posted');
const saying: ReadonlyMap<number, SaidKind> = new Map([
  [rowKinds.indexOf('block_validation'), 'reason'],
  [rowKinds.indexOf('consensus_discussion'), 'remark'],
  [MEME, 'meme'],
]);
const CAPTION = 1;
const bringing = {
  agents: rowKinds.indexOf('registered'),
  blocks: rowKinds.indexOf('block_proposal'),
  memes: MEME,
  alliances: rowKinds.indexOf('alliance_update'),
} as const;

/** @throws {RangeError} when something that was said is left out, or is of no row. */
export function tableOf(spans: readonly Span[]): TableHead & { table: Table } {
  const table = emptyTable(spans.reduce((sum, { rows }) => sum + rows.kind.length, 0));
  const since = spans.find(({ rows }) => rows.at.length > 0)?.rows.at[0] ?? 0;
  const texts = new Map<string, number>();
  let start = 0;
  for (const { from, rows, introduced, said, omitted } of spans) {
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
    spans: spans.map(headOf),
    introduced: introducedIn(spans),
    texts: ['', ...texts.keys()],
    since,
    table,
  };
}

const isOf = ({ entry, kind, who, what }: Said, table: Table, row: number) =>
  entry === table.entry[row] &&
  kind === saying.get(table.kind[row]!) &&
  who === table.who[row] &&
  what === table.what[row];

const headOf = ({ rows, introduced: _, said: __, omitted: ___, ...rest }: Span) => ({
  ...rest,
  rows: rows.kind.length,
});

function introducedIn(spans: readonly Span[]): TableHead['introduced'] {
  const of = (name: keyof Introduced) =>
    transposed(spans.flatMap((span) => span.introduced[name] as object[]));
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

/** The spans that it was made of. */
export function spansOf(head: TableHead, table: Table): Span[] {
  const whole = {
    agents: rowsIn<AgentRow>(head.introduced.agents),
    blocks: rowsIn<BlockRow>(head.introduced.blocks),
    memes: rowsIn<MemeRow>(head.introduced.memes),
    alliances: rowsIn<AllianceRow>(head.introduced.alliances),
  };
  let start = 0;
  return head.spans.map(({ rows: length, ...of }) => {
    const part = Object.fromEntries(
      Object.entries(table).map(([name, values]) => [name, values.subarray(start, start + length)]),
    ) as Table;
    start += length;
    const count = (kind: number) => part.kind.filter((one) => one === kind).length;
    const introduced: Introduced = {
      agents: whole.agents.splice(0, count(bringing.agents)),
      blocks: whole.blocks.splice(0, count(bringing.blocks)),
      memes: whole.memes.splice(0, count(bringing.memes)),
      alliances: whole.alliances.splice(0, count(bringing.alliances)),
    };
    const said = saidIn(part, head, introduced.memes);
    return { ...of, rows: rowsOf(part, of.from, head.since), introduced, said, omitted: 0 };
  });
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

function saidIn(table: Table, { texts, since }: TableHead, memes: readonly MemeRow[]): Said[] {
  const said: Said[] = [];
  let meme = 0;
  for (const [row, place] of table.said.entries()) {
    const kind = table.kind[row]!;
    const caption = kind === MEME ? memes[meme++]!.caption : '';
    if (place === 0) continue;
    said.push({
      entry: table.entry[row]!,
      at: table.at[row]! + since,
      who: table.who[row]!,
      kind: saying.get(kind)!,
      what: table.what[row]!,
      text: place === CAPTION ? caption : texts[place - 1]!,
    });
  }
  return said;
}
