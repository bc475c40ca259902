/** Data for the page: snapshots at an entry, and row batches that advance one. Runs in browsers. */
import type { Static } from '../../engine/protocol/bundled/typebox.js';
import {
  type EventType,
  eventRows,
  eventTypes,
  type RowValue,
  type rowLists,
  type saidKinds,
  type ViewRow,
} from '../../engine/protocol/event-types.js';
import type * as schema from '../../engine/protocol/schema/snapshot.js';

const untold = {
  registered: { code: 0, introduces: 'agents', changes: ['agent'], text: '{agent} registered' },
  dormancy: {
    code: 10,
    value: { of: 'dormant', words: ['woke', 'fell dormant'] },
    changes: ['agent'],
    text: '{agent} {value}',
  },
} as const satisfies Record<string, ViewRow>;

export type RowKind = EventType | keyof typeof untold;

/** Row kinds: one per event type, and one per fact without an event. */
export const viewRows: Readonly<Record<RowKind, ViewRow>> = {
  ...untold,
  ...(Object.fromEntries(eventTypes.map((type) => [type, eventRows[type].row])) as Record<
    EventType,
    ViewRow
  >),
};
/** Row kinds by code. */
export const rowKinds = (Object.keys(viewRows) as RowKind[]).sort(
  (one, other) => viewRows[one].code - viewRows[other].code,
);
export const rowCode = Object.fromEntries(
  rowKinds.map((kind) => [kind, viewRows[kind].code]),
) as Record<RowKind, number>;

/** Limits for snapshots and row batches. */
export const viewLimits = {
  /** Closed blocks, and ballots in all closed blocks together. */
  blocksShown: 200,
  ballotsShown: 200_000,
  /** Ended alliances, memes and messages. */
  alliancesShown: 200,
  memesShown: 100,
  saidShown: 100,
  /** Characters in a text. The protocol allows no more, but a damaged folder may contain more. */
  textCharacters: 2_048,
  spanRows: 1_048_576,
} as const;

/**
 * The rows for an entry range, both ends inclusive, in columns. A row states a fact; rows are in
 * the order of entries and events. Agents, blocks, memes and alliances are numbered from 0 in
 * creation order. The batch in which an item first occurs introduces its details.
 */
export interface RowBatch {
  from: number;
  to: number;
  /** Last event in the batch or, without events, the last event before the batch. */
  event_seq: number;
  /** Engine time of the last entry, in milliseconds since 1970. */
  at: number;
  /** Stored digests after the last entry; empty if unknown. */
  digest: string;
  log_digest: string;
  rows: Rows;
  introduced: Introductions;
  /** The batch's last messages. `omitted` earlier messages are left out. */
  said: Message[];
  omitted: number;
}

/** Columns of equal length. */
export interface Rows {
  /** Entry, as an offset from `from`; ascending. */
  entry: Uint32Array;
  /** Milliseconds since 1970; ascending. */
  at: Float64Array;
  /** Index into `rowKinds`. */
  kind: Uint8Array;
  /** Number of the acting or affected agent; 0 without an agent. */
  who: Uint32Array;
  /** Number of the block, meme or alliance; 0 without such an item. */
  what: Uint32Array;
  /**
   * Value by kind (see `viewRows`): index of a word, plus weight * 2 for a vote; score in
   * millionths; thousandths of a transaction per second; or 0.
   */
  value: Uint32Array;
}

/** Types of an item's members. Counts are whole numbers from 0. */
interface Members {
  count: number;
  text: string;
  flag: boolean;
  counts: number[];
}
export type MemberKind = keyof Members;
type Item<S extends Record<string, MemberKind>> = { -readonly [M in keyof S]: Members[S[M]] };

/** Members of introduced items, used for their types and for validating batches. */
export const introducedShapes = {
  /** Introduced by `registered` rows. */
  agents: {
    number: 'count',
    id: 'text',
    public_key: 'text',
    name: 'text',
    personality: 'text',
    validator: 'flag',
    producer: 'flag',
  },
  /** Introduced by `block_proposal`. */
  blocks: {
    number: 'count',
    hash: 'text',
    parent: 'text',
    height: 'count',
    producer: 'count',
    transactions: 'count',
    /** The electorate's total weight and size. */
    total: 'count',
    electors: 'count',
    /** Weight that finalizes the block, fixed when the block is proposed. */
    needed: 'count',
    proposed_at: 'count',
    deadline: 'count',
    entry: 'count',
  },
  /** Introduced by `meme_posted`. */
  memes: {
    number: 'count',
    id: 'text',
    creator: 'count',
    type: 'text',
    caption: 'text',
    entry: 'count',
    at: 'count',
  },
  /** Introduced by `alliance_update`: the alliance after the update. */
  alliances: {
    number: 'count',
    id: 'text',
    purpose: 'text',
    /** ISO 8601 duration. */
    duration: 'text',
    status: 'text',
    founder: 'count',
    /** Members in order of acceptance, founder first. An ended alliance keeps its last members. */
    members: 'counts',
    /** Invited agents that have not answered. */
    invited: 'counts',
    proposed_at: 'count',
    /** Time of this update. */
    at: 'count',
    entry: 'count',
  },
} as const satisfies Record<(typeof rowLists)[number], Record<string, MemberKind>>;

type Shapes = typeof introducedShapes;
/** Introduced items, in the order of their rows. */
export type Introductions = { [L in keyof Shapes]: Item<Shapes[L]>[] };
export type AgentRow = Item<Shapes['agents']>;
export type BlockRow = Item<Shapes['blocks']>;
export type MemeRow = Item<Shapes['memes']>;
export type AllianceRow = Item<Shapes['alliances']>;

export type Message = Static<typeof schema.Said>;

export type MessageKind = (typeof saidKinds)[number];

export type Snapshot = Static<typeof schema.Snapshot>;
export type AgentSnapshot = Static<typeof schema.AgentNow>;
export type BlockSnapshot = Static<typeof schema.BlockNow>;
export type Totals = Static<typeof schema.Totals>;
export type Bucket = Static<typeof schema.Bucket>;
export type Closing = Static<typeof schema.Closing>;
export type Overview = Static<typeof schema.Overview>;

/** Formats a row's value: a word, or a decimal number. */
export function formatRowValue(of: RowValue | undefined, value: number): string {
  if (!of) return '';
  if ('words' in of) return of.words[of.weighted ? value % 2 : value] ?? '';
  const shown = 10 ** of.digits;
  return `${Math.round(value / (of.times / shown)) / shown}`;
}
