/**
 * Records: the network's stored state, by table. Values are canonical JSON. An actor is stored as
 * its machine's state and context, so that a new version of XState can read old folders.
 */
import { type Static, type TSchema, Type } from '../bundled/typebox.js';
import { blockFields, OptionName, ruleOutcome } from './block.js';
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

/** Data fixed at registration. */
export const AgentProfile = Type.Object({
  agent_id: AgentId,
  /** Number in order of registration, from 0 without gaps. */
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
  /** Engine time at which the status was last updated, or of registration before any update. */
  changed_at: Milliseconds,
  /** Signed timestamp and input hash of the last status update; 0 and '' before the first. */
  signed_at: Type.Integer(),
  input_sha256: Type.String(),
  dormant: Type.Boolean(),
  blocks_produced: Count,
  meme_bytes: Count,
});

/**
 * Columns of a standing, which is an agent's reputation and attendance. `told` is `overall` in the
 * last reputation_update. `missed` counts consecutive voting periods in which blocks expired
 * without a vote from this elector. `judged` is the number of blocks proposed when `missed` was
 * last updated.
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
  /** Number in order of proposal, from 0 without gaps. */
  ordinal: Count,
  /** Log entry that contains the signed proposal. */
  entry: Count,
  producer: AgentId,
  producer_key: PublicKey,
  transactions: Count,
  /** Number of the electorate snapshot. */
  electorate: Count,
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  /** 0 while the block is open. */
  closed_at: Milliseconds,
  /** Weights. `approve` and `reject` are stored as 0 while the block is open. */
  approve: Count,
  reject: Count,
  total: Count,
  /** Number of electors that voted, out of `electors`; stored as 0 while the block is open. */
  voted: Count,
  electors: Count,
  /** True if a personality group has vetoed the block (policy `veto`). */
  vetoed: Type.Boolean(),
  /** Names of the options, if the network's rule chooses among options. */
  options: Type.Optional(Type.Array(OptionName)),
  ...ruleOutcome,
});

export const AllianceContext = Type.Object({
  alliance_id: AllianceId,
  purpose: Type.String(),
  duration: Type.String(),
  duration_ms: Milliseconds,
  founder: AgentId,
  /** In order of acceptance, the founder first. */
  members: Type.Array(AgentId),
  /** Agents that have not responded, ascending. */
  invited: Type.Array(AgentId),
  /** Agents that declined or left and cannot rejoin, ascending. */
  gone: Type.Array(AgentId),
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  changed_at: Milliseconds,
});

/** An alliance after a response or a departure, stored to answer duplicates. */
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
  /** Time of the next network_metrics event; 0 while the network is idle. */
  metrics_at: Count,
  /** Consecutive voting periods with an expired block since the last finalized block. */
  failed: Count,
  /** Number of blocks proposed when `failed` was last updated. */
  failed_blocks: Count,
});

/** Schemas of records by table. Each comment describes the key. */
export const records = {
  /** One record, with the key `head`. */
  network: Head,
  /** By the agent's id. */
  agents: AgentProfile,
  /** By the agent's ordinal. */
  agent_numbers: Type.Object({ agent_id: AgentId }),
  /** By the agent's id. */
  agent_states: actor(Status, AgentContext),
  /** By the agent's ordinal. Members are in the order of `standingFields`. */
  standings: StandingRow,
  /** By the number of the snapshot. */
  electorates: Type.Object({ agents: Type.Array(Count), weights: Type.Array(Count) }),
  /** By the block's hash. */
  blocks: actor(BlockStatus, BlockContext),
  /** By the block's ordinal. */
  block_numbers: Type.Object({ block_hash: Hash }),
  /** By the height of the finalized block. */
  heights: Type.Object({ block_hash: Hash }),
  /** By the ordinals of the block and of the agent. */
  votes: Type.Object({
    entry: Count,
    at: Milliseconds,
    decision: Decision,
    meme_references: Type.Array(MemeId),
    ballot: Type.Optional(Type.Unknown()),
  }),
  /** Entry of the conflicting signed vote, by the ordinals of the block and of the agent. */
  equivocations: Type.Object({ entry: Count }),
  /** Final transactions, by hash and by the signer's key. */
  transactions: Type.Object({ block_hash: Hash, height: Count, index: Count }),
  /** By the key in the application state. */
  state: Type.Object({ value: Type.Unknown(), block_hash: Hash }),
  /** By the meme's id. */
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
  /** By the alliance's id. */
  alliances: actor(AllianceStatus, AllianceContext),
  /** Open blocks and alliances, by `block` or `alliance` and by hash or id. */
  open: Type.Object({}),
  /** By the `request_id` of a discussion or an alliance request. */
  requests: Type.Object({ at: Milliseconds, alliance: Type.Optional(AllianceThen) }),
} as const;

/** Name of a record table. See docs/protocol.md. @useDeclaredType */
export type Table = keyof typeof records;
/** Record type by table. Times are engine time, milliseconds since 1970. @interface */
export type RecordOf = { [T in Table]: Static<(typeof records)[T]> };
export type AgentProfile = Static<typeof AgentProfile>;
export type AgentContext = Static<typeof AgentContext>;
/** A member of {@link Standing}. @useDeclaredType */
export type StandingField = (typeof standingFields)[number];
/** An agent's reputation and attendance. Scores are in 1/10,000 of a point. */
export type Standing = Record<StandingField, number>;
export type BlockContext = Static<typeof BlockContext>;
export type AllianceContext = Static<typeof AllianceContext>;
export type AllianceThen = Static<typeof AllianceThen>;
export type Head = Static<typeof Head>;

/** Names of all tables, for {@link openLmdbStore}. */
export const tables = Object.keys(records) as Table[];

/** Converts a stored row to an object. */
export function standingOf(row: RecordOf['standings']): Standing {
  const named = {} as Standing;
  for (let index = 0; index < standingFields.length; index += 1) {
    named[standingFields[index]!] = row[index]!;
  }
  return named;
}

/** Version of the stored schemas and rules. Folders with a different version are refused. */
export const SCHEMA_VERSION = 2;

/** A key in a table: a string, an integer, or a tuple of strings and integers. */
export type RecordKey = string | number | readonly (string | number)[];
