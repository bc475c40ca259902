/**
 * What a page that looks at a network is given: a snapshot of one entry, and spans of rows by which
 * a snapshot goes on. Shapes only, safe in a browser.
 */
import {
  type EventType,
  eventRows,
  eventTypes,
  type rowLists,
  type saidKinds,
  type ViewRow,
} from '../../engine/protocol/event-types.js';

/** Facts that no event tells. */
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

/** Kinds of rows: one for each event, and one for each fact that no event tells. */
export const viewRows: Readonly<Record<RowKind, ViewRow>> = {
  ...untold,
  ...(Object.fromEntries(eventTypes.map((type) => [type, eventRows[type].row])) as Record<
    EventType,
    ViewRow
  >),
};
/** The index is the code. */
export const rowKinds = (Object.keys(viewRows) as RowKind[]).sort(
  (one, other) => viewRows[one].code - viewRows[other].code,
);
export const rowCode = Object.fromEntries(
  rowKinds.map((kind) => [kind, viewRows[kind].code]),
) as Record<RowKind, number>;

/** How much a snapshot holds, and a span. */
export const viewLimits = {
  /** Blocks that are not in voting any more, and of all these the ballots. */
  blocksShown: 200,
  ballotsShown: 200_000,
  /** Alliances that are over, memes, and what was said. */
  alliancesShown: 200,
  memesShown: 100,
  saidShown: 100,
  /** Characters of a text of others: the protocol allows no more, but a damaged folder might. */
  textCharacters: 2_048,
  /** Rows of one span. */
  spanRows: 1_048_576,
} as const;

/**
 * A span of entries, both ends inclusive, column by column. A row is a fact; rows of one entry
 * stand together, in the order of their events. Agents, blocks, memes and alliances go by numbers,
 * from 0 in the order in which they came; spans that introduce them carry what they are called.
 */
export interface RowBatch {
  from: number;
  to: number;
  /** The last event of the span; that of the entry before it, where it has none. */
  event_seq: number;
  /** Engine time of its last entry, in milliseconds since 1970. */
  at: number;
  /** Both of its last entry, as they are stored; '' where that is not known. */
  digest: string;
  log_digest: string;
  rows: Rows;
  introduced: Introductions;
  /** What was said in it, the last of it at the most; `omitted` more were said. */
  said: Message[];
  omitted: number;
}

/** Columns of one length. */
export interface Rows {
  /** Entry, as an offset from the span's `from`; ascending. */
  entry: Uint32Array;
  /** Milliseconds since 1970; ascending. */
  at: Float64Array;
  /** Index into `rowKinds`. */
  kind: Uint8Array;
  /** Number of the agent that acted, or that it happened to; 0 where there is none. */
  who: Uint32Array;
  /** Number of the block, meme or alliance; 0 where there is none. */
  what: Uint32Array;
  /**
   * By kind, as `viewRows` has it: an index of a word, for a vote plus its weight * 2; a score, of
   * 1,000,000; thousandths of a transaction a second; 0 for rows without a value.
   */
  value: Uint32Array;
}

/** What a member of an item may be; `counts` is a list. Counts are whole numbers from 0. */
interface Members {
  count: number;
  text: string;
  flag: boolean;
  counts: number[];
}
export type MemberKind = keyof Members;
type Item<S extends Record<string, MemberKind>> = { -readonly [M in keyof S]: Members[S[M]] };

/** Members of what rows introduce: the types, and what a span is checked by. */
export const introducedShapes = {
  /** Of rows `registered`. */
  agents: {
    number: 'count',
    id: 'text',
    public_key: 'text',
    name: 'text',
    personality: 'text',
    validator: 'flag',
    producer: 'flag',
  },
  /** Of `block_proposal`. */
  blocks: {
    number: 'count',
    hash: 'text',
    parent: 'text',
    height: 'count',
    producer: 'count',
    transactions: 'count',
    /** Weight of the whole electorate, and how many may vote. */
    total: 'count',
    electors: 'count',
    /** Weight that finalizes it, as it stood at its proposal. */
    needed: 'count',
    proposed_at: 'count',
    deadline: 'count',
    entry: 'count',
  },
  /** Of `meme_posted`. */
  memes: {
    number: 'count',
    id: 'text',
    creator: 'count',
    type: 'text',
    caption: 'text',
    entry: 'count',
  },
  /** Of `alliance_update`: what the alliance is after it. */
  alliances: {
    number: 'count',
    id: 'text',
    purpose: 'text',
    /** ISO 8601. */
    duration: 'text',
    status: 'text',
    founder: 'count',
    /** In order of acceptance, the founder first; of one that is over, as it last had them. */
    members: 'counts',
    /** Who has not answered yet. */
    invited: 'counts',
    proposed_at: 'count',
    /** Of this change. */
    at: 'count',
    entry: 'count',
  },
} as const satisfies Record<(typeof rowLists)[number], Record<string, MemberKind>>;

type Shapes = typeof introducedShapes;
/** One for each row that introduces one, in the same order. */
export type Introductions = { [L in keyof Shapes]: Item<Shapes[L]>[] };
export type AgentRow = Item<Shapes['agents']>;
export type BlockRow = Item<Shapes['blocks']>;
export type MemeRow = Item<Shapes['memes']>;
export type AllianceRow = Item<Shapes['alliances']>;

/** A remark, the reason of a vote that has one, or a caption. Texts of others: never markup. */
export interface Message {
  entry: number;
  at: number;
  who: number;
  kind: MessageKind;
  /** Of a remark or a reason: its block. Of a meme: its number. */
  what: number;
  text: string;
}

export type MessageKind = (typeof saidKinds)[number];

/** A network after an entry: all that the views draw. */
export interface Snapshot {
  network_id: string;
  epoch: string;
  /** `consensus` of genesis. */
  policy: string;
  weights: string;
  participation_bps: number;
  entry: number;
  at: number;
  event_seq: number;
  /** Of the entry, as it is stored; '' where a fold went to an entry inside of a span. */
  digest: string;
  log_digest: string;
  height: number;
  agents: AgentSnapshot[];
  /** Those in voting and the last `viewLimits.blocksShown` others, ascending by number. */
  blocks: BlockSnapshot[];
  /** Those that are open and the last `viewLimits.alliancesShown` others, ascending by number. */
  alliances: AllianceRow[];
  /** The last `viewLimits.memesShown`, ascending. */
  memes: MemeRow[];
  /** The last `viewLimits.saidShown`, ascending by entry. */
  said: Message[];
  totals: Totals;
}

export interface AgentSnapshot extends AgentRow {
  status: string;
  /** Left out of electorates for missed votes. */
  dormant: boolean;
  /** Of 1,000,000, as events tell it: it moves by a thousand at the least. */
  reputation: number;
  votes: number;
  memes: number;
  blocks_produced: number;
}

export interface BlockSnapshot extends BlockRow {
  status: string;
  approve: number;
  reject: number;
  closed_at: number | null;
  /**
   * Of who voted: number of the agent * 2, plus 1 for reject, in the order in which they came. Of
   * blocks that are not in voting, the last `viewLimits.ballotsShown` together; of older ones none.
   */
  ballots: number[];
}

export interface Totals {
  /** Blocks, memes and alliances that there were: the next one's number. */
  proposed: number;
  finalized: number;
  rejected: number;
  expired: number;
  orphaned: number;
  votes: number;
  memes: number;
  alliances: number;
  remarks: number;
  /** Of finalized blocks. */
  transactions: number;
}

/** A piece of the log: its end is where a commit ended, so pieces are not all of one size. */
export interface Bucket {
  /** Its first entry, and how many there are. */
  from: number;
  entries: number;
  /** Milliseconds since 1970 of its first entry. */
  at: number;
  /** Events by kind, as in `event_types`. */
  events: number[];
  /** Blocks that left voting, as in `block_ends`. */
  ends: number[];
  registered: number;
}

/** A block that left voting. */
export interface Closing {
  entry: number;
  at: number;
  /** Its number. */
  block: number;
  height: number;
  status: string;
}

/** A whole log at a glance. */
export interface Overview {
  epoch: string;
  /** Where the log ends. */
  entry: number;
  at: number;
  event_seq: number;
  event_types: readonly string[];
  block_ends: readonly string[];
  buckets: Bucket[];
  /** The last of them, ascending by entry; `closings_omitted` came before. */
  closings: Closing[];
  closings_omitted: number;
}
