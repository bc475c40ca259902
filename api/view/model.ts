/**
 * What a page that looks at a network is given: a picture of one entry, and spans of rows by which
 * a picture goes on. Shapes only, safe in a browser.
 */

/** Kinds of rows: one for each event, and one for what no event tells. The index is the code. */
export const rowKinds = [
  'registered',
  'block_proposal',
  'block_validation',
  'consensus_discussion',
  'alliance_update',
  'agent_status',
  'network_metrics',
  'meme_posted',
  'reputation_update',
  'block_status',
  'dormancy',
] as const;
export type RowKind = (typeof rowKinds)[number];

/** What the column `value` is an index into, by kind. */
export const statuses = ['active', 'inactive', 'maintenance'] as const;
export const sentiments = ['positive', 'negative', 'neutral'] as const;
export const blockStatuses = ['voting', 'finalized', 'rejected', 'expired', 'orphaned'] as const;
export const allianceStatuses = ['proposed', 'active', 'lapsed', 'dissolved', 'expired'] as const;

/** How much a picture holds, and a span. */
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
export interface Span {
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
  introduced: Introduced;
  /** What was said in it, the last of it at the most; `omitted` more were said. */
  said: Said[];
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
   * By kind. block_validation: weight * 2, plus 1 for reject. consensus_discussion: index into
   * `sentiments`. alliance_update: into `allianceStatuses`. agent_status: into `statuses`.
   * reputation_update: the new score, of 1,000,000. block_status: index into `blockStatuses`.
   * network_metrics: thousandths of a transaction a second. dormancy: 1 for an agent that fell
   * dormant, 0 for one that woke. Others: 0.
   */
  value: Uint32Array;
}

/** One for each row that brings one, in the same order. */
export interface Introduced {
  /** Of rows `registered`. */
  agents: AgentRow[];
  /** Of `block_proposal`. */
  blocks: BlockRow[];
  /** Of `meme_posted`. */
  memes: MemeRow[];
  /** Of `alliance_update`: what the alliance is after it. */
  alliances: AllianceRow[];
}

export interface AgentRow {
  number: number;
  id: string;
  public_key: string;
  name: string;
  personality: string;
  validator: boolean;
  producer: boolean;
}

export interface BlockRow {
  number: number;
  hash: string;
  parent: string;
  height: number;
  producer: number;
  transactions: number;
  /** Weight of the whole electorate, and how many may vote. */
  total: number;
  electors: number;
  /** Weight that finalizes it, as it stood at its proposal. */
  needed: number;
  proposed_at: number;
  deadline: number;
  entry: number;
}

export interface MemeRow {
  number: number;
  id: string;
  creator: number;
  type: string;
  caption: string;
  entry: number;
}

export interface AllianceRow {
  number: number;
  id: string;
  purpose: string;
  /** ISO 8601. */
  duration: string;
  status: string;
  founder: number;
  /** In order of acceptance, the founder first; of one that is over, as it last had them. */
  members: number[];
  /** Who has not answered yet. */
  invited: number[];
  proposed_at: number;
  /** Of this change. */
  at: number;
  entry: number;
}

/** A remark, the reason of a vote that has one, or a caption. Texts of others: never markup. */
export interface Said {
  entry: number;
  at: number;
  who: number;
  kind: SaidKind;
  /** Of a remark or a reason: its block. Of a meme: its number. */
  what: number;
  text: string;
}

export const saidKinds = ['remark', 'reason', 'meme'] as const;
export type SaidKind = (typeof saidKinds)[number];

/** A network after an entry: all that the views draw. */
export interface Picture {
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
  agents: AgentPicture[];
  /** Those in voting and the last `viewLimits.blocksShown` others, ascending by number. */
  blocks: BlockPicture[];
  /** Those that are open and the last `viewLimits.alliancesShown` others, ascending by number. */
  alliances: AllianceRow[];
  /** The last `viewLimits.memesShown`, ascending. */
  memes: MemeRow[];
  /** The last `viewLimits.saidShown`, ascending by entry. */
  said: Said[];
  totals: Totals;
}

export interface AgentPicture extends AgentRow {
  status: string;
  /** Left out of electorates for missed votes. */
  dormant: boolean;
  /** Of 1,000,000, as events tell it: it moves by a thousand at the least. */
  reputation: number;
  votes: number;
  memes: number;
  blocks_produced: number;
}

export interface BlockPicture extends BlockRow {
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
