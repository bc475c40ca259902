/** What happened around an entry, row by row, for a list that somebody reads. */
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

export interface Happening {
  entry: number;
  at: number;
  kind: RowKind;
  who: number;
  /** Number of the block, meme or alliance. */
  what: number;
  /** In words where it is one: a decision, a status, a sentiment. */
  value: string;
}

export interface Happenings {
  from: number;
  to: number;
  rows: Happening[];
  /** What it takes to call blocks by their names. */
  blocks: { number: number; height: number; hash: string }[];
  /** Rows that are not in it. */
  omitted: number;
}

const MOST = 500;

export async function happenings(source: Source, from: number, to: number): Promise<Happenings> {
  const span = await source.columns(from, to);
  const { rows, introduced } = span;
  const count = rows.entry.length;
  const shown: Happening[] = [];
  for (let row = Math.max(0, count - MOST); row < count; row += 1) shown.push(happening(span, row));
  const blocks = introduced.blocks.map(({ number, height, hash }) => ({ number, height, hash }));
  return { from: span.from, to: span.to, rows: shown, blocks, omitted: count - shown.length };
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
