/**
 * Questions that the page may ask of its worker, by name, with their answers: the votes of the
 * snapshot that is shown, texts that agents said, and rows around an entry.
 */

import {
  type Message,
  type MessageKind,
  type RowBatch,
  type RowKind,
  rowKinds,
  type Snapshot,
  viewRows,
} from '../../api/view/model.js';
import type { RowValue } from '../../engine/protocol/event-types.js';
import { agreements, type Before, computeOpinion, listVotes } from './opinion.js';
import type { Source } from './source.js';

interface Known {
  picture: Snapshot | null;
  source: Source;
}

export type Answer = (known: Known, parameters: never) => unknown;

/** Ballots of a block that is shown: number of the agent * 2, plus 1 for reject. */
const ballots: Answer = ({ picture: snapshot }, block: number) =>
  Uint32Array.from(snapshot?.blocks.find(({ number }) => number === block)?.ballots ?? []);

const opinion: Answer = ({ picture: snapshot }, before: Before | null) => ({
  opinion: snapshot && computeOpinion(snapshot, before),
});
const votes: Answer = ({ picture: snapshot }, agent: number) =>
  snapshot ? listVotes(snapshot, agent) : [];
const alike: Answer = ({ picture: snapshot }) => (snapshot ? agreements(snapshot) : []);
const around: Answer = ({ source }, { from, to }: { from: number; to: number }) =>
  happenings(source, from, to);

const said: Answer = ({ source }, of: { before: number; kind: MessageKind | null }) =>
  saidBefore(source, of);

export const answers: Readonly<Record<string, Answer>> = {
  ...{ ballots, opinion, votes, alike, around, said },
};

/** Scripted agents say the same about a block by the hundred: equal texts are one line. */
export interface MessageLine {
  /** The newest of them. */
  said: Message;
  /** Agents that said the same about the same thing before it. */
  others: number;
}

export interface MessagePage {
  kind: MessageKind | null;
  lines: MessageLine[];
  /** The entry before which the next page begins; null at the beginning of the log. */
  next: number | null;
}

/** Two texts with one key are shown as one line. Each meme has a line. */
export const getMessageKey = ({ kind, what, text }: Message): string => `${kind} ${what} ${text}`;

/** @param all in the order of the log */
export function groupMessages(all: readonly Message[]): MessageLine[] {
  const lines = new Map<string, MessageLine>();
  for (let place = all.length - 1; place >= 0; place -= 1) addTo(lines, all[place]!);
  return [...lines.values()];
}

function addTo(lines: Map<string, MessageLine>, said: Message): void {
  const key = getMessageKey(said);
  const line = lines.get(key);
  if (line) line.others += 1;
  else lines.set(key, { said, others: 0 });
}

/** Lines of a page. */
const SAID_LINES = 30;
/** Spans that are fetched for one page: a page of a rare kind may be shorter. */
const SAID_FETCHES = 24;
/** Entries of a span: a server gives the last 500 texts of one. */
const LEAST_ENTRIES = 500;
const MOST_ENTRIES = 8_000;

/** The texts of a kind, or of all kinds, that were said before an entry. */
async function saidBefore(
  source: Source,
  { before, kind }: { before: number; kind: MessageKind | null },
): Promise<MessagePage> {
  const lines = new Map<string, MessageLine>();
  let last = before - 1;
  let width = LEAST_ENTRIES;
  for (let fetches = 0; last >= 0 && fetches < SAID_FETCHES; ) {
    const from = Math.max(0, last - width + 1);
    const batches = await spansOf(source, from, last);
    fetches += batches.length;
    let first = from;
    for (const batch of batches.reverse()) {
      first = firstWhole(batch, kind);
      for (let place = batch.said.length - 1; place >= 0; place -= 1) {
        const said = batch.said[place]!;
        if (said.entry < first || (kind !== null && said.kind !== kind)) continue;
        if (lines.size === SAID_LINES && !lines.has(getMessageKey(said))) {
          return { kind, lines: [...lines.values()], next: said.entry + 1 };
        }
        addTo(lines, said);
      }
      if (first > batch.from) break;
    }
    // A span of one entry cannot be made smaller.
    last = from === last ? from - 1 : first - 1;
    width = first === from ? Math.min(MOST_ENTRIES, 2 * width) : Math.ceil(width / 2);
  }
  return { kind, lines: [...lines.values()], next: last < 0 ? null : last + 1 };
}

/** Spans of all entries from one to another: a server ends one where its own pieces end. */
async function spansOf(source: Source, from: number, to: number): Promise<RowBatch[]> {
  const batches: RowBatch[] = [];
  for (let end = from - 1; end < to; end = batches.at(-1)!.to) {
    const batch = await source.columns(end + 1, to);
    if (batch.to <= end) throw new Error(`the server gave no entry ${end + 1}`);
    batches.push(batch);
  }
  return batches;
}

/** The entry from which on a span has every text of a kind. */
function firstWhole({ from, to, rows, said, omitted }: RowBatch, kind: MessageKind | null): number {
  if (omitted === 0) return from;
  const first = said[0]?.entry ?? to + 1;
  const says = (code: number) => viewRows[rowKinds[code]!].says?.kind;
  const isOmitted = rows.kind.some(
    (code, row) => from + rows.entry[row]! < first && (kind === null || says(code) === kind),
  );
  return isOmitted ? first : from;
}

/** A row of the entries around one, for a list that a reader goes through. */
export interface Happening {
  entry: number;
  at: number;
  kind: RowKind;
  who: number;
  /** Number of the block, meme or alliance. */
  what: number;
  /** In words where it is one: a decision, a status, a sentiment. */
  value: string;
  /** Rows of this kind and entry that follow it and are not shown. */
  others: number;
}

export interface Happenings {
  from: number;
  to: number;
  rows: Happening[];
  /** What it takes to call blocks by their names. */
  blocks: { number: number; height: number; hash: string }[];
  /** Earlier rows that are not in it. */
  omitted: number;
}

const MOST_ROWS = 500;
/**
 * Of each entry and kind of consequence. A block that is decided moves the score of every agent:
 * rows that follow by the hundred are counted, so that the vote that decided and the outcome are
 * among those that are shown.
 */
const MOST_ALIKE = 2;
const consequences: readonly RowKind[] = ['reputation_update', 'dormancy'];

async function happenings(source: Source, from: number, to: number): Promise<Happenings> {
  const all: Happening[] = [];
  const blocks: Happenings['blocks'] = [];
  // An outcome has a row for each agent: one span may end before the entry that is shown.
  const batches = await spansOf(source, from, to);
  for (const batch of batches) {
    all.push(...happeningsOf(batch));
    for (const { number, height, hash } of batch.introduced.blocks) {
      blocks.push({ number, height, hash });
    }
  }
  const rows = all.slice(-MOST_ROWS);
  return { from, to: batches.at(-1)?.to ?? to, rows, blocks, omitted: all.length - rows.length };
}

function happeningsOf(batch: RowBatch): Happening[] {
  const { rows } = batch;
  const shown: Happening[] = [];
  /** Of the entry that is gone through: rows that are shown, by kind. */
  const alike = new Map<RowKind, Happening[]>();
  for (let row = 0; row < rows.entry.length; row += 1) {
    const kind = rowKinds[rows.kind[row]!]!;
    if (rows.entry[row] !== rows.entry[row - 1]) alike.clear();
    const same = alike.get(kind) ?? [];
    if (consequences.includes(kind) && same.length === MOST_ALIKE) {
      same.at(-1)!.others += 1;
      continue;
    }
    const one = happening(batch, row);
    alike.set(kind, [...same, one]);
    shown.push(one);
  }
  return shown;
}

function happening({ from, rows }: RowBatch, row: number): Happening {
  const kind = rowKinds[rows.kind[row]!]!;
  const value = rows.value[row]!;
  return {
    entry: from + rows.entry[row]!,
    at: rows.at[row]!,
    kind,
    who: rows.who[row]!,
    what: rows.what[row]!,
    value: wordsOf(viewRows[kind].value, value),
    others: 0,
  };
}

function wordsOf(of: RowValue | undefined, value: number): string {
  if (!of) return '';
  if ('words' in of) return of.words[of.weighted ? value % 2 : value] ?? '';
  const shown = 10 ** of.digits;
  return `${Math.round(value / (of.times / shown)) / shown}`;
}
