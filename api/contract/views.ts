/** The reads of a page that looks at a network: shapes, and their routes. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { eventData } from '../../engine/protocol/schema/event.js';
import {
  AgentId,
  BlockStatus,
  Capability,
  Count,
  Decision,
  Hash,
  MemeId,
  MemeType,
  Milliseconds,
  nullable,
  PublicKey,
  Status,
} from '../../engine/protocol/schema/primitives.js';
import { PublishedEvent } from './answers.js';
import { serverBounds } from './limit-table.js';
import { agentInPath, cursor, type Declared, entryNumber, rows, whole } from './route.js';
import { AgentDecisions, AgentNeighbours } from './run.js';

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
const Snapshot = Type.Object({
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

const ViewProgress = Type.Object({
  made: Type.Boolean({ description: 'whether all of the log is gone through' }),
  entry: Count,
  to: Count,
});

const Overview = Type.Object({
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

const EntryDetail = Type.Object({
  entry: Count,
  at: Milliseconds,
  kind: Text,
  agent_id: Type.String({ description: 'empty where no agent sent a request' }),
  public_key: Text,
  target: Text,
  timestamp: Text,
  signature: Text,
  body: Type.String({ description: 'as it was sent' }),
  log_digest: Type.Optional(Hash),
  digest: Type.Optional(Hash),
  events: Type.Array(PublishedEvent),
});

const Roster = Type.Object({
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

const AgentVotes = Type.Object({
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

const Memes = Type.Object({
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

const Scenario = Type.Object({
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

const { defaultPageRows, view } = serverBounds;

const paged = { limit: rows({ default: defaultPageRows }), cursor };
/** Of a read that the server makes of the log on request. */
const made = ['SCHEMA', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED', 'BEING_MADE'] as const;

export const shownReads = {
  view: {
    path: '/api/v1/view',
    id: 'getPicture',
    tag: 'network',
    summary: 'The network after an entry',
    text: `All that a page draws. Agents, blocks, memes and alliances go by numbers, from 0 in the
order in which they came. Of what is over, the last few are in it.`,
    query: { at: entryNumber('the entry; default: the last') },
    answer: Snapshot,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  view_progress: {
    path: '/api/v1/view/progress',
    id: 'getPictureProgress',
    tag: 'network',
    summary: 'How much of the log pictures can be made of',
    text: `Each request continues the work. A client that repeats it until \`made\` is true gets no
\`BEING_MADE\` afterwards.`,
    answer: ViewProgress,
    reasons: ['LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  columns: {
    path: '/api/v1/columns',
    id: 'getColumns',
    tag: 'network',
    summary: 'What happened in some entries, column by column',
    text: `One span as bytes, by which a picture goes on: docs/protocol.md says how to read it. Its
own \`to\` says how far it goes, ${view.columnRows} rows at the most.`,
    query: {
      from: entryNumber('the first entry'),
      to: {
        ...entryNumber('the last entry; default: the last of the log'),
        expected: 'the number of an entry, `from` or a later one',
      },
    },
    content: { 'application/octet-stream': null },
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  overview: {
    path: '/api/v1/overview',
    id: 'getOverview',
    tag: 'network',
    summary: 'The whole log at a glance',
    text: 'Events and outcomes in pieces of about one size, and the last blocks that left voting.',
    query: {
      buckets: whole('pieces at the most', `a whole number from 1 to ${view.buckets}`, {
        ...{ minimum: 1, maximum: view.buckets, default: view.defaultBuckets },
      }),
    },
    answer: Overview,
    reasons: made,
  },
  roster: {
    path: '/api/v1/agents',
    id: 'listRoster',
    tag: 'agents',
    summary: 'All registered agents of every status',
    text: 'In order of registration: `number` is what pictures and columns call an agent.',
    query: paged,
    answer: Roster,
    reasons: ['SCHEMA'],
  },
  agent_votes: {
    path: '/api/v1/agents/{id}/votes',
    id: 'listAgentVotes',
    tag: 'agents',
    summary: "An agent's votes that counted, newest block first",
    text: `A page looks through ${view.voteBlocks} blocks at the most, so it may be empty and still
have a next one.`,
    parameters: { agent_id: agentInPath },
    query: paged,
    answer: AgentVotes,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT'],
  },
  agent_memes: {
    path: '/api/v1/agents/{id}/memes',
    id: 'listAgentMemes',
    tag: 'agents',
    summary: "An agent's memes, newest first",
    parameters: { agent_id: agentInPath },
    query: paged,
    answer: Memes,
    reasons: [...made, 'UNKNOWN_AGENT'],
  },
  agent_decisions: {
    path: '/api/v1/agents/{id}/decisions',
    id: 'listAgentDecisions',
    tag: 'agents',
    summary: "What an agent's votes rested on, newest first",
    text: 'Of a kept run with `measure.decisions: true`: docs/attribution.md says how to read it.',
    parameters: { agent_id: agentInPath },
    query: { at: entryNumber('votes up to this entry; default: all'), ...paged },
    answer: AgentDecisions,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'NO_DECISIONS', 'LOG_DAMAGED', 'BEING_MADE'],
  },
  agent_neighbours: {
    path: '/api/v1/agents/{id}/neighbours',
    id: 'listAgentNeighbours',
    tag: 'agents',
    summary: 'Whom an agent hears, and who hears it',
    text: `Of an agent of a scenario, in the order of the scenario. Partitions, and links and agents
that interventions cut off, are as they were at the time of the entry.`,
    parameters: { agent_id: agentInPath },
    query: { at: entryNumber('the entry; default: the last'), ...paged },
    answer: AgentNeighbours,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'UNKNOWN_ENTRY', 'UNKNOWN_SCENARIO', 'BEING_MADE'],
  },
  memes: {
    path: '/api/v1/memes',
    id: 'listMemes',
    tag: 'social',
    summary: 'All memes, newest first',
    text: 'A page may be empty and still have a next one.',
    query: paged,
    answer: Memes,
    reasons: made,
  },
  log: {
    path: '/api/v1/log',
    id: 'getLog',
    tag: 'network',
    summary: 'The log, a JSON object a line',
    text: `As \`folkmoot log\` prints it: who has all of it recomputes the network. It ends before
it has ${view.logBytes} bytes; one line there is always.`,
    query: {
      from: entryNumber('the first entry; default: 0'),
      limit: rows({ default: defaultPageRows }, 'lines at the most'),
    },
    content: { 'application/x-ndjson': Type.String() },
    reasons: ['SCHEMA', 'UNKNOWN_ENTRY', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  entry: {
    path: '/api/v1/entries/{entry}',
    id: 'getEntry',
    tag: 'network',
    summary: 'One entry of the log, and what came of it',
    text: 'The file of a meme is left out.',
    parameters: { entry: entryNumber('its number') },
    answer: EntryDetail,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  scenario: {
    path: '/api/v1/scenario',
    id: 'getScenario',
    tag: 'network',
    summary: 'The scenario of its agents, where it is known',
    text: `\`graph\` is null where the server does not know which agents hear each other.
Its \`edges\` are null where it has more than ${view.graphEdges} links: then ask
\`/api/v1/agents/{id}/neighbours\` for each agent.`,
    answer: Scenario,
    reasons: ['UNKNOWN_SCENARIO'],
  },
} as const satisfies Readonly<Record<string, Declared>>;
