/** Shapes of what a page that looks at a network is given, for readers of the documents. */
import {
  AgentId,
  BlockStatus,
  Capability,
  Count,
  Decision,
  eventData,
  Hash,
  MemeId,
  MemeType,
  Milliseconds,
  nullable,
  PublicKey,
  type Static,
  Status,
  Type,
} from '../../engine/internal.js';
import { eventShapes } from './answers.js';

const Text = Type.String();
const next_cursor = nullable(Text);
/** A number in the order in which they came, from 0. */
const number = Count;

const AgentNow = Type.Object({
  number,
  id: AgentId,
  public_key: PublicKey,
  name: Text,
  personality: Text,
  validator: Type.Boolean(),
  producer: Type.Boolean(),
  status: Text,
  dormant: Type.Boolean(),
  reputation: Type.Integer({ description: 'of 1,000,000' }),
  votes: Count,
  memes: Count,
  blocks_produced: Count,
});

const BlockNow = Type.Object({
  number,
  hash: Hash,
  parent: Hash,
  height: Count,
  producer: Type.Integer({ description: 'number of the agent' }),
  transactions: Count,
  total: Type.Integer({ description: 'weight of the whole electorate' }),
  electors: Count,
  needed: Type.Integer({ description: 'weight that finalizes it, as it stood at its proposal' }),
  proposed_at: Milliseconds,
  deadline: Milliseconds,
  entry: Count,
  status: Text,
  approve: Count,
  reject: Count,
  closed_at: nullable(Milliseconds),
  ballots: Type.Array(Count, {
    description: 'number of the agent * 2, plus 1 for reject, in the order in which they came',
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
});

const Said = Type.Object({
  entry: Count,
  at: Milliseconds,
  who: Count,
  kind: Type.Enum(['remark', 'reason', 'meme']),
  what: Count,
  text: Text,
});

/** A network after an entry, as `model.ts` of the view says it. */
export const Picture = Type.Object({
  network_id: Text,
  epoch: Text,
  policy: Text,
  weights: Text,
  participation_bps: Count,
  entry: Count,
  at: Milliseconds,
  event_seq: Count,
  digest: Hash,
  log_digest: Hash,
  height: Count,
  agents: Type.Array(AgentNow),
  blocks: Type.Array(BlockNow),
  alliances: Type.Array(AllianceNow),
  memes: Type.Array(Meme),
  said: Type.Array(Said),
  totals: Type.Object({
    proposed: Count,
    finalized: Count,
    rejected: Count,
    expired: Count,
    orphaned: Count,
    votes: Count,
    memes: Count,
    alliances: Count,
    remarks: Count,
    transactions: Count,
  }),
});

export const ViewProgress = Type.Object({
  made: Type.Boolean({ description: 'whether all of the log is gone through' }),
  entry: Count,
  to: Count,
});

export const Overview = Type.Object({
  epoch: Text,
  entry: Count,
  at: Milliseconds,
  event_seq: Count,
  event_types: Type.Array(Type.Enum(Object.keys(eventData)), {
    description: 'what the numbers in `events` count, in this order',
  }),
  block_ends: Type.Array(BlockStatus, { description: 'what those in `ends` count' }),
  buckets: Type.Array(
    Type.Object({
      from: Count,
      entries: Count,
      at: Milliseconds,
      events: Type.Array(Count),
      ends: Type.Array(Count),
      registered: Count,
    }),
  ),
  closings: Type.Array(
    Type.Object({
      entry: Count,
      at: Milliseconds,
      block: Type.Integer(),
      height: Count,
      status: BlockStatus,
    }),
  ),
  closings_omitted: Count,
});

export const EntryShown = Type.Object({
  entry: Count,
  at: Milliseconds,
  kind: Text,
  agent_id: Type.String({ description: "'' for what nobody asked for" }),
  public_key: Text,
  target: Text,
  timestamp: Text,
  signature: Text,
  body: Type.String({ description: 'as it was sent' }),
  log_digest: Type.Optional(Hash),
  digest: Type.Optional(Hash),
  events: Type.Array(Type.Union(Object.values(eventShapes))),
});

export const Roster = Type.Object({
  agents: Type.Array(
    Type.Object({
      number,
      id: AgentId,
      public_key: PublicKey,
      name: Text,
      personality: Text,
      capabilities: Type.Array(Capability),
      status: Status,
      dormant: Type.Boolean(),
      reputation_score: Type.Number(),
      blocks_produced: Count,
      registration_time: Text,
    }),
  ),
  next_cursor,
});

export const AgentVotes = Type.Object({
  agent_id: AgentId,
  votes: Type.Array(
    Type.Object({
      block_hash: Hash,
      height: Count,
      block_status: BlockStatus,
      decision: Decision,
      entry: Count,
      at: Milliseconds,
      meme_references: Type.Array(MemeId),
    }),
  ),
  next_cursor,
});

export const Memes = Type.Object({
  memes: Type.Array(
    Type.Object({
      meme_id: MemeId,
      creator: AgentId,
      type: MemeType,
      media_type: Text,
      caption: Text,
      tags: Type.Array(Text),
      size: Count,
      at: Milliseconds,
      entry: Count,
    }),
  ),
  next_cursor,
});

/** What a scenario is, as far as it is known of a network. */
const ScenarioKnown = Type.Object({
  title: Text,
  question: Type.Optional(Text),
  groups: Type.Array(Type.Object({ name: Text, agents: Type.Array(AgentId) })),
  faults: Type.Array(
    Type.Object({
      kind: Text,
      from: Milliseconds,
      to: nullable(Milliseconds),
      groups: Type.Array(Text),
    }),
  ),
});

/**
 * What a server shows of the scenario of its agents.
 *
 * @interface
 */
export type ScenarioShown = Static<typeof ScenarioKnown>;

export const Scenario = Type.Object({
  ...ScenarioKnown.properties,
  graph: nullable(
    Type.Object({
      topology: Text,
      links: Count,
      edges: nullable(
        Type.Array(Type.Array(Count, { minItems: 2, maxItems: 2 }), {
          description: 'places of agents in `groups`, counted through all of them; null of many',
        }),
      ),
    }),
  ),
});
