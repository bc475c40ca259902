/**
 * Rows of the entries around one, for a list that a reader goes through. A block that is decided
 * moves the score of every agent: rows that follow by the hundred are counted, so that the vote
 * that decided and the outcome are among those that are shown.
 */
import {
  allianceStatuses,
  blockStatuses,
  type RowKind,
  rowKinds,
  type Span,
  sentiments,
  statuses,
} from '../../../api/view/model.js';
import type { Source } from '../source.js';
import { spansOf } from './said.js';

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

const MOST = 500;
/** Of each entry and kind of consequence. */
const MOST_ALIKE = 2;
const consequences: readonly RowKind[] = ['reputation_update', 'dormancy'];

export async function happenings(source: Source, from: number, to: number): Promise<Happenings> {
  const all: Happening[] = [];
  const blocks: Happenings['blocks'] = [];
  // An outcome has a row for each agent: one span may end before the entry that is shown.
  const spans = await spansOf(source, from, to);
  for (const span of spans) {
    all.push(...happeningsOf(span));
    for (const { number, height, hash } of span.introduced.blocks) {
      blocks.push({ number, height, hash });
    }
  }
  const rows = all.slice(-MOST);
  return { from, to: spans.at(-1)?.to ?? to, rows, blocks, omitted: all.length - rows.length };
}

function happeningsOf(span: Span): Happening[] {
  const { rows } = span;
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
    const one = happening(span, row);
    alike.set(kind, [...same, one]);
    shown.push(one);
  }
  return shown;
}

function happening({ from, rows }: Span, row: number): Happening {
  const kind = rowKinds[rows.kind[row]!]!;
  const value = rows.value[row]!;
  return {
    entry: from + rows.entry[row]!,
    at: rows.at[row]!,
    kind,
    who: rows.who[row]!,
    what: rows.what[row]!,
    value: words[kind]?.(value) ?? '',
    others: 0,
  };
}

const words: Partial<Record<RowKind, (value: number) => string | undefined>> = {
  block_validation: (value) => (value & 1 ? 'reject' : 'approve'),
  consensus_discussion: (value) => sentiments[value],
  alliance_update: (value) => allianceStatuses[value],
  agent_status: (value) => statuses[value],
  reputation_update: (value) => `${Math.round(value / 1_000) / 10}`,
  block_status: (value) => blockStatuses[value],
  network_metrics: (value) => `${value / 1_000}`,
  dormancy: (value) => (value === 1 ? 'fell dormant' : 'woke'),
};
