/**
 * Records: what is stored of the network's state, table by table. Values are canonical JSON; an
 * actor is stored as its machine's state and context, so that a new XState reads old folders.
 */
import { type Static, type TSchema, Type } from '../bundled/typebox.js';
import { blockFields } from './block.js';
import {
  AgentId,
  AllianceId,
  AllianceStatus,
  BlockStatus,
  Capability,
  Count,
  Decision,
  Hash,
  MemeId,
  MemeType,
  Milliseconds,
  PublicKey,
  Status,
} from './primitives.js';

const actor = <S extends TSchema, C extends TSchema>(state: S, context: C) =>
  Type.Object({ state, context });

/** What registration fixed. */
export const AgentProfile = Type.Object({
  agent_id: AgentId,
  /** Dense number in order of registration, from 0. */
  ordinal: Count,
  public_key: PublicKey,
  personality: Type.String(),
  name: Type.String(),
  description: Type.String(),
  capabilities: Type.Array(Capability),
  registered_at: Milliseconds,
});

export const AgentContext = Type.Object({
  agent_id: AgentId,
  reason: Type.String(),
  expected_duration: Type.String(),
  previous: Status,
  /** Engine time of the last status update, or of registration. */
  changed_at: Milliseconds,
  /** Signed instant and signing input of the last status update; 0 and '' before the first. */
  signed_at: Type.Integer(),
  input_sha256: Type.String(),
  dormant: Type.Boolean(),
  blocks_produced: Count,
  meme_bytes: Count,
});

/**
 * Reputation and attendance by agent ordinal: bulk numbers that no machine holds, stored as a row.
 * `told` is `overall` as the last reputation_update gave it; `missed` counts voting periods in a
 * row in which blocks expired without a vote of the agent, an elector; `judged` is how many blocks
 * had been proposed when that was last looked at.
 */
export const standingFields = [
  'meme',
  'consistency',
  'peer',
  'alliance',
  'overall',
  'penalty',
  'told',
  'missed',
  'judged',
] as const;
export const StandingRow = Type.Array(Count, {
  minItems: standingFields.length,
  maxItems: standingFields.length,
});

export const BlockContext = Type.Object({
  ...blockFields,
  /** Dense number in order of proposal, from 0. */
  ordinal: Count,
  /** Sequence of the log entry that holds the signed proposal. */
  entry: Count,
  producer: AgentId,
  producer_key: PublicKey,
  transactions: Count,
  /** Which snapshot of the electorate decides. */
  electorate: Count,
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  /** 0 while in voting. */
  closed_at: Milliseconds,
  /** Weights. Stored as 0 while in voting: the votes are the truth. */
  approve: Count,
  reject: Count,
  total: Count,
  /** Heads that have voted, out of `electors`. */
  voted: Count,
  electors: Count,
  /** By the policy `veto`: a personality group of three or more has rejected as one. */
  vetoed: Type.Boolean(),
});

export const AllianceContext = Type.Object({
  alliance_id: AllianceId,
  purpose: Type.String(),
  duration: Type.String(),
  duration_ms: Milliseconds,
  founder: AgentId,
  /** In order of acceptance, the founder first. */
  members: Type.Array(AgentId),
  /** Ascending; who has not answered yet. */
  invited: Type.Array(AgentId),
  /** Ascending; who declined or left, and cannot come back. */
  gone: Type.Array(AgentId),
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  changed_at: Milliseconds,
});

/** What an answered invitation or a leave made of an alliance: a repeat is told this again. */
export const AllianceThen = Type.Object({
  status: AllianceStatus,
  members: Type.Array(AgentId),
  invited: Type.Array(AgentId),
});

export const Head = Type.Object({
  height: Count,
  head_hash: Hash,
  agents: Count,
  blocks: Count,
  electorates: Count,
  /** When network_metrics is next due; 0 while the network is idle. */
  metrics_at: Count,
  /** Voting periods in a row, since the last finalized block, in which a block expired. */
  failed: Count,
  /** How many blocks had been proposed when the last of them was counted. */
  failed_blocks: Count,
});

/** Table name to the shape of its values. The comment gives the key. */
export const records = {
  /** 'head' */
  network: Head,
  /** agent_id */
  agents: AgentProfile,
  /** agent ordinal */
  agent_numbers: Type.Object({ agent_id: AgentId }),
  /** agent_id */
  agent_states: actor(Status, AgentContext),
  /** agent ordinal; members in the order of `standingFields` */
  standings: StandingRow,
  /** number of the snapshot */
  electorates: Type.Object({ agents: Type.Array(Count), weights: Type.Array(Count) }),
  /** block_hash */
  blocks: actor(BlockStatus, BlockContext),
  /** block ordinal */
  block_numbers: Type.Object({ block_hash: Hash }),
  /** height of a finalized block */
  heights: Type.Object({ block_hash: Hash }),
  /** [block ordinal, agent ordinal] */
  votes: Type.Object({
    entry: Count,
    at: Milliseconds,
    decision: Decision,
    meme_references: Type.Array(MemeId),
  }),
  /** `[block ordinal, agent ordinal]`: the entry that holds the conflicting signed vote */
  equivocations: Type.Object({ entry: Count }),
  /** [transaction hash, signer's key] of a final transaction */
  transactions: Type.Object({ block_hash: Hash, height: Count, index: Count }),
  /** key of the application state */
  state: Type.Object({ value: Type.Unknown(), block_hash: Hash }),
  /** meme_id */
  memes: Type.Object({
    meme_id: MemeId,
    creator: AgentId,
    ordinal: Count,
    type: MemeType,
    media_type: Type.String(),
    caption: Type.String(),
    tags: Type.Array(Type.String()),
    content_sha256: Hash,
    size: Count,
    posted_at: Milliseconds,
    entry: Count,
  }),
  /** alliance_id */
  alliances: actor(AllianceStatus, AllianceContext),
  /** ['block', block_hash] or ['alliance', alliance_id]: what is in memory */
  open: Type.Object({}),
  /** request_id of a discussion or alliance request */
  requests: Type.Object({ at: Milliseconds, alliance: Type.Optional(AllianceThen) }),
} as const;

/**
 * The name of a table of records: see docs/protocol.md for what each holds.
 *
 * @useDeclaredType
 */
export type Table = keyof typeof records;
/**
 * The shape of a record, by its table. Times are milliseconds since 1970 of engine time.
 *
 * @interface
 */
export type RecordOf = { [T in Table]: Static<(typeof records)[T]> };
export type AgentProfile = Static<typeof AgentProfile>;
export type AgentContext = Static<typeof AgentContext>;
/**
 * A member of {@link Standing}.
 *
 * @useDeclaredType
 */
export type StandingField = (typeof standingFields)[number];
/** An agent's reputation and attendance by name; scores in 1/10,000 of a point. */
export type Standing = Record<StandingField, number>;
export type BlockContext = Static<typeof BlockContext>;
export type AllianceContext = Static<typeof AllianceContext>;
export type AllianceThen = Static<typeof AllianceThen>;
export type Head = Static<typeof Head>;

/** The names of all tables of records, as {@link openLmdbStore} takes them. */
export const tables = Object.keys(records) as Table[];

/** A stored row by its members' names. */
export function standingOf(row: RecordOf['standings']): Standing {
  const named = {} as Standing;
  for (let index = 0; index < standingFields.length; index += 1) {
    named[standingFields[index]!] = row[index]!;
  }
  return named;
}

/** Grows when a stored shape or a rule changes; a folder of another version is refused. */
export const SCHEMA_VERSION = 2;

/** A key inside a table: a string, an integer, or a tuple of these. */
export type RecordKey = string | number | readonly (string | number)[];
