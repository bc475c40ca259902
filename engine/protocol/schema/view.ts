/** Responses to commands and reads. */
import { type Static, Type } from '../bundled/typebox.js';
import { blockFields, OptionName, ruleOutcome } from './block.js';
import { eventData } from './event.js';
import {
  AgentId,
  BlockStatus,
  Capability,
  Count,
  Decision,
  Hash,
  MemeId,
  MemeType,
  nullable,
  PublicKey,
  Status,
  Timestamp,
} from './primitives.js';

const Text = Type.String();
/** True if the command was applied earlier and nothing changed. */
const duplicate = { duplicate: Type.Optional(Type.Literal(true)) };

export const Tally = Type.Object({
  approve: Count,
  reject: Count,
  electorate: Count,
  needed: Count,
});

export const answers = {
  register: Type.Object({
    agent_id: AgentId,
    registration_time: Timestamp,
    status: Status,
    ...duplicate,
  }),
  status: Type.Object({
    agent_id: AgentId,
    status: Status,
    previous_status: Status,
    reason: Text,
    expected_duration: Text,
    timestamp: Timestamp,
    ...duplicate,
  }),
  vote: Type.Object({
    block_hash: Hash,
    agent_id: AgentId,
    decision: Decision,
    block_status: BlockStatus,
    tally: Tally,
    timestamp: Timestamp,
    ...duplicate,
  }),
  propose: Type.Object({
    block_hash: Hash,
    height: Count,
    parent_hash: Hash,
    status: BlockStatus,
    voting_deadline: Timestamp,
    electorate: Count,
    timestamp: Timestamp,
    ...duplicate,
  }),
  meme: Type.Object({
    meme_id: MemeId,
    content: Type.Object({ type: MemeType, url: Text, caption: Text }),
    tags: Type.Array(Text),
    timestamp: Timestamp,
    ...duplicate,
  }),
  discuss: Type.Object({ ...eventData.consensus_discussion.properties, ...duplicate }),
  alliance_propose: Type.Object({ ...eventData.alliance_update.properties, ...duplicate }),
  alliance_respond: Type.Object({ ...eventData.alliance_update.properties, ...duplicate }),
  alliance_leave: Type.Object({ ...eventData.alliance_update.properties, ...duplicate }),
} as const;

/** Response to an accepted command, by kind. @interface */
export type AnswerOf = { [K in keyof typeof answers]: Static<(typeof answers)[K]> };
/** Response to an accepted command: one of {@link AnswerOf}. */
export type Answer = AnswerOf[keyof AnswerOf];

export const NetworkState = Type.Object({
  block_height: Count,
  active_validators: Count,
  active_producers: Count,
  pending_transactions: Count,
  network_tps: Type.Number(),
  head_hash: Hash,
  network_id: Text,
  server_time: Timestamp,
});

export const AgentView = Type.Object({
  id: AgentId,
  public_key: PublicKey,
  personality: Text,
  name: Text,
  description: Text,
  capabilities: Type.Array(Capability),
  status: Status,
  reason: Text,
  expected_duration: Text,
  registration_time: Timestamp,
  dormant: Type.Boolean(),
  reputation_score: Type.Number(),
  blocks_produced: Count,
});

export const AgentList = Type.Object({
  validators: Type.Array(
    Type.Object({
      id: AgentId,
      public_key: PublicKey,
      personality: Text,
      status: Status,
      reputation_score: Type.Number(),
    }),
  ),
  producers: Type.Array(
    Type.Object({ id: AgentId, public_key: PublicKey, blocks_produced: Count, status: Status }),
  ),
});

export const ReputationView = Type.Object({
  overall_score: Type.Number(),
  meme_quality: Type.Number(),
  decision_consistency: Type.Number(),
  peer_ratings: Type.Number(),
  alliance_strength: Type.Number(),
});

export const BlockView = Type.Object({
  ...blockFields,
  status: BlockStatus,
  producer: Type.Object({ id: AgentId, public_key: PublicKey }),
  tally: Tally,
  transactions: Count,
  voting_deadline: Timestamp,
  timestamp: Timestamp,
  closed_at: nullable(Timestamp),
  options: Type.Optional(Type.Array(OptionName)),
  ...ruleOutcome,
});

/**
 * The network's state. `network_tps` is finalized transactions per second over the last minute.
 *
 * @interface
 */
export type NetworkState = Static<typeof NetworkState>;
/** An agent's current state. `reputation_score` is 0 to 100. @interface */
export type AgentView = Static<typeof AgentView>;
/** Active validators and producers, each by ascending id. @interface */
export type AgentList = Static<typeof AgentList>;
/** An agent's five scores, each 0 to 100. @interface */
export type ReputationView = Static<typeof ReputationView>;
/**
 * A block's current state. `tally` is in weights; an approving weight of `needed` finalizes the
 * block. `transactions` is the number of transactions.
 *
 * @interface
 */
export type BlockView = Static<typeof BlockView>;
