import { type Static, type TSchema, Type } from '../bundled/typebox.js';
import { type EventType, eventRows, eventTypes } from '../event-types.js';
import { blockFields, OptionName, ruleOutcome } from './block.js';
import {
  AgentId,
  AllianceId,
  AllianceStatus,
  BlockStatus,
  Count,
  Decision,
  Duration,
  Hash,
  MemeId,
  MemeType,
  PublicKey,
  Role,
  Sentiment,
  Status,
  Timestamp,
} from './primitives.js';

const Who = Type.Object({ id: AgentId, personality: Type.String() });
const Text = Type.String();
const timed = { timestamp: Timestamp };

export const AllianceMember = Type.Object({ id: AgentId, role: Role });

export const MetricsData = Type.Object({
  block_height: Count,
  tps: Type.Number(),
  active_validators: Count,
  active_producers: Count,
  pending_transactions: Count,
  head_hash: Hash,
  ...timed,
});

/** Schema of `data` by event type. The table in event-types.ts contains everything else. */
export const eventData = {
  block_proposal: Type.Object({
    ...blockFields,
    options: Type.Optional(Type.Array(OptionName)),
    producer: Type.Object({ id: AgentId, public_key: PublicKey }),
    transactions: Type.Array(Type.Object({ hash: Hash, type: Text })),
    meme_content: Type.Object({ type: Type.Optional(MemeType), content: Type.Optional(Text) }),
    ...timed,
  }),
  block_validation: Type.Object({
    block_hash: Hash,
    validator: Who,
    decision: Decision,
    reason: Text,
    ballot: Type.Optional(Type.Unknown()),
    ...timed,
  }),
  consensus_discussion: Type.Object({
    block_hash: Hash,
    agent: Who,
    message: Text,
    sentiment: Sentiment,
    meme_references: Type.Array(MemeId),
    ...timed,
  }),
  alliance_update: Type.Object({
    alliance_id: AllianceId,
    members: Type.Array(AllianceMember),
    purpose: Text,
    duration: Duration,
    status: AllianceStatus,
    ...timed,
  }),
  agent_status: Type.Object({
    agent_id: AgentId,
    status: Status,
    reason: Text,
    expected_duration: Text,
    ...timed,
  }),
  network_metrics: MetricsData,
  meme_posted: Type.Object({
    meme_id: MemeId,
    creator: Who,
    content: Type.Object({ type: MemeType, url: Text, caption: Text }),
    tags: Type.Array(Text),
    ...timed,
  }),
  reputation_update: Type.Object({
    agent_id: AgentId,
    old_score: Type.Number(),
    new_score: Type.Number(),
    reason: Text,
    ...timed,
  }),
  block_status: Type.Object({
    ...blockFields,
    status: BlockStatus,
    approve: Count,
    reject: Count,
    electorate: Count,
    transactions: Count,
    ...ruleOutcome,
    ...timed,
  }),
} satisfies Record<EventType, TSchema>;

export type { EventType };
/** Member `data` of an event, by type. Times are RFC 3339, scores 0 to 100. @interface */
export type EventData = { [T in EventType]: Static<(typeof eventData)[T]> };
/** An event without a number. */
export type Emitted = { [T in EventType]: { type: T; data: EventData[T] } }[EventType];
/** A numbered event. `seq` counts from 1 without gaps. */
export type Event = Emitted & { seq: number };

export const eventShapes = Object.fromEntries(
  eventTypes.map((type) => [
    type,
    Type.Object({
      type: Type.Literal(type),
      data: eventData[type] as TSchema,
      seq: Type.Integer({ minimum: 1 }),
    }),
  ]),
) as Partial<Record<EventType, TSchema>> as Record<EventType, TSchema>;

/** Topics by event type. `proposals` and `outcomes` are opt-in. */
export const eventTopics = Object.fromEntries(
  eventTypes.map((type) => [type, eventRows[type].topics]),
) as Record<EventType, readonly string[]>;
