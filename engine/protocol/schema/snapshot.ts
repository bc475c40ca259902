/** Schemas of the data that a server sends to its page: snapshots, and the overview of a log. */
import { Type } from '../bundled/typebox.js';
import { eventData } from './event.js';
import { RuleOptions } from './genesis.js';
import {
  AgentId,
  BlockStatus,
  Count,
  Hash,
  MemeId,
  Milliseconds,
  nullable,
  PublicKey,
} from './primitives.js';

const Text = Type.String();
/** Creation number, from 0. */
const number = Count;

export const AgentNow = Type.Object({
  number,
  id: AgentId,
  public_key: PublicKey,
  name: Text,
  personality: Text,
  validator: Type.Boolean(),
  producer: Type.Boolean(),
  status: Text,
  /** True if the agent is excluded from electorates because of missed votes. */
  dormant: Type.Boolean(),
  reputation: Type.Integer({ description: 'in parts of 1,000,000' }),
  votes: Count,
  memes: Count,
  blocks_produced: Count,
});

export const BlockNow = Type.Object({
  number,
  hash: Hash,
  parent: Hash,
  height: Count,
  producer: Type.Integer({ description: 'number of the producer' }),
  transactions: Count,
  total: Type.Integer({ description: 'total weight of the electorate' }),
  electors: Count,
  needed: Type.Integer({ description: 'weight that finalizes the block, fixed at its proposal' }),
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  entry: Count,
  status: Text,
  approve: Count,
  reject: Count,
  closed_at: nullable(Milliseconds),
  // Closed blocks together keep a limited number of ballots; older ones keep none.
  ballots: Type.Array(Count, {
    description: 'agent number * 2, plus 1 for reject, in order of arrival',
  }),
});

const AllianceNow = Type.Object({
  number,
  id: Text,
  purpose: Text,
  duration: Text,
  status: Text,
  founder: Count,
  members: Type.Array(Count),
  invited: Type.Array(Count),
  proposed_at: Milliseconds,
  at: Milliseconds,
  entry: Count,
});

const Meme = Type.Object({
  number,
  id: MemeId,
  creator: Count,
  type: Text,
  caption: Text,
  entry: Count,
  at: Milliseconds,
});

/** A remark, a vote's reason, or a caption. Untrusted: must never be treated as markup. */
export const Said = Type.Object({
  entry: Count,
  at: Milliseconds,
  who: Count,
  kind: Type.Enum(['remark', 'reason', 'meme']),
  /** Block number for a remark or reason; meme number for a caption. */
  what: Count,
  /** Decision of a vote, or sentiment of a remark; empty for a caption. */
  stance: Text,
  text: Text,
});

export const Totals = Type.Object({
  // Counts of blocks, memes and alliances so far. A count is also the next number.
  proposed: Count,
  finalized: Count,
  rejected: Count,
  expired: Count,
  orphaned: Count,
  votes: Count,
  memes: Count,
  alliances: Count,
  remarks: Count,
  /** Transactions in finalized blocks. */
  transactions: Count,
});

/** A network after an entry. Contains everything that the page renders. */
export const Snapshot = Type.Object({
  network_id: Text,
  epoch: Text,
  /** Consensus parameters from genesis. */
  policy: Text,
  weights: Text,
  participation_bps: Count,
  rule: Type.Optional(RuleOptions),
  entry: Count,
  at: Milliseconds,
  event_seq: Count,
  /** Stored digests after the entry; empty if the entry is inside an applied batch. */
  digest: Hash,
  log_digest: Hash,
  height: Count,
  agents: Type.Array(AgentNow),
  /** All blocks in voting and the last closed blocks, by number. */
  blocks: Type.Array(BlockNow),
  /** All open alliances, and the last ended alliances, memes and messages . */
  alliances: Type.Array(AllianceNow),
  memes: Type.Array(Meme),
  said: Type.Array(Said),
  totals: Totals,
});

/** A part of the log. Buckets end at commits, so their sizes differ. */
export const Bucket = Type.Object({
  /** First entry in the bucket, number of entries, and time of the first entry. */
  from: Count,
  entries: Count,
  at: Milliseconds,
  events: Type.Array(Count),
  ends: Type.Array(Count),
  registered: Count,
});

export const Closing = Type.Object({
  entry: Count,
  at: Milliseconds,
  block: Type.Integer(),
  height: Count,
  status: BlockStatus,
  proposed_at: Milliseconds,
  /** Counted weights, and numbers of agents. */
  approve: Count,
  reject: Count,
  voted: Count,
  electors: Count,
});

export const Overview = Type.Object({
  epoch: Text,
  entry: Count,
  at: Milliseconds,
  event_seq: Count,
  event_types: Type.Array(Type.Enum(Object.keys(eventData)), {
    description: 'event types that `events` counts, in this order',
  }),
  block_ends: Type.Array(BlockStatus, {
    description: 'outcomes that `ends` counts, in this order',
  }),
  buckets: Type.Array(Bucket),
  /** The last closings, by entry. */
  closings: Type.Array(Closing),
  closings_omitted: Count,
});
