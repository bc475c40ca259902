/** Schemas and routes for the reads that the web page uses. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
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
import { Overview, Snapshot } from '../../engine/protocol/schema/snapshot.js';
import { PublishedEvent } from './answers.js';
import { serverBounds } from './limit-table.js';
import { agentInPath, cursor, type Declared, entryNumber, rows, whole } from './route.js';
import { AgentDecisions, AgentNeighbours } from './run.js';

const Text = Type.String();
const next_cursor = nullable(Text);
/** Creation number, from 0. */
const number = Count;

const ViewProgress = Type.Object({
  made: Type.Boolean({ description: 'true if the whole log is indexed' }),
  entry: Count,
  to: Count,
});

const EntryDetail = Type.Object({
  entry: Count,
  at: Milliseconds,
  kind: Text,
  agent_id: Type.String({ description: 'empty for entries without a request' }),
  public_key: Text,
  target: Text,
  timestamp: Text,
  signature: Text,
  body: Type.String({ description: 'body as sent' }),
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
      ballot: Type.Optional(Type.Unknown()),
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

/** Known parts of a network's scenario. */
const ScenarioKnown = Type.Object({
  title: Text,
  question: Type.Optional(Text),
  seed: Type.Optional(Text),
  verdict: Type.Optional(Type.String({ description: 'verdict of a finished run' })),
  reported: Type.Optional(
    Type.Record(Text, nullable(Type.Number()), {
      description: 'measures that scripts and deciders reported at the end, by NAME or NAME@GROUP',
    }),
  ),
  groups: Type.Array(Type.Object({ name: Text, agents: Type.Array(AgentId) })),
  faults: Type.Array(
    Type.Object({
      kind: Text,
      from: Milliseconds,
      to: nullable(Milliseconds),
      groups: Type.Array(Text),
    }),
  ),
  labels: Type.Optional(
    Type.Record(Text, Text, {
      description: 'names of alternatives in election data, by option; only those that differ',
    }),
  ),
});

/** Scenario for a server's agents. @interface */
export type ScenarioView = Static<typeof ScenarioKnown>;

const Scenario = Type.Object({
  ...ScenarioKnown.properties,
  graph: nullable(
    Type.Object({
      topology: Text,
      links: Count,
      edges: nullable(
        Type.Array(Type.Array(Count, { minItems: 2, maxItems: 2 }), {
          description:
            'pairs of agent positions, counted over all `groups`; null if there are too many links',
        }),
      ),
    }),
  ),
});

const { defaultPageRows, view } = serverBounds;

const paged = { limit: rows({ default: defaultPageRows }), cursor };
/** Refusal reasons for reads that the server computes from the log. */
const made = ['SCHEMA', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED', 'BEING_MADE'] as const;

export const shownReads = {
  view: {
    path: '/api/v1/view',
    id: 'getPicture',
    tag: 'network',
    summary: 'Network snapshot after an entry',
    text: `All data that the page renders. Agents, blocks, memes and alliances are numbered from 0
in creation order. Of closed blocks and ended alliances, only the most recent are included.`,
    query: { at: entryNumber('entry of the snapshot; default: the last') },
    answer: Snapshot,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  view_progress: {
    path: '/api/v1/view/progress',
    id: 'getPictureProgress',
    tag: 'network',
    summary: 'Progress of indexing the log',
    text: `Each request continues the indexing. Once \`made\` is true, view reads do not answer
\`BEING_MADE\`.`,
    answer: ViewProgress,
    reasons: ['LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  columns: {
    path: '/api/v1/columns',
    id: 'getColumns',
    tag: 'network',
    summary: 'Changes of an entry range, as columns',
    text: `One batch of rows as bytes, which advances a snapshot. docs/protocol.md describes the
format. \`to\` in the batch is its last entry. At most ${view.columnRows} rows.`,
    query: {
      from: entryNumber('first entry'),
      to: {
        ...entryNumber('last entry; default: the last of the log'),
        expected: 'an entry number, `from` or later',
      },
    },
    content: { 'application/octet-stream': null },
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  overview: {
    path: '/api/v1/overview',
    id: 'getOverview',
    tag: 'network',
    summary: 'Overview of the whole log',
    text: 'Event and outcome counts in buckets of similar size, and the last closed blocks.',
    query: {
      buckets: whole('maximum number of buckets', `an integer from 1 to ${view.buckets}`, {
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
    summary: 'All registered agents',
    text: 'In order of registration. `number` identifies an agent in snapshots and columns.',
    query: paged,
    answer: Roster,
    reasons: ['SCHEMA'],
  },
  agent_votes: {
    path: '/api/v1/agents/{id}/votes',
    id: 'listAgentVotes',
    tag: 'agents',
    summary: 'Counted votes of an agent, newest block first',
    text: `A page scans at most ${view.voteBlocks} blocks, so an empty page may have a
\`next_cursor\`.`,
    parameters: { agent_id: agentInPath },
    query: paged,
    answer: AgentVotes,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT'],
  },
  agent_memes: {
    path: '/api/v1/agents/{id}/memes',
    id: 'listAgentMemes',
    tag: 'agents',
    summary: 'Memes of an agent, newest first',
    parameters: { agent_id: agentInPath },
    query: paged,
    answer: Memes,
    reasons: [...made, 'UNKNOWN_AGENT'],
  },
  agent_decisions: {
    path: '/api/v1/agents/{id}/decisions',
    id: 'listAgentDecisions',
    tag: 'agents',
    summary: "Decision records of an agent's votes, newest first",
    text: 'Available for saved runs with `measure.decisions: true`. See docs/attribution.md.',
    parameters: { agent_id: agentInPath },
    query: { at: entryNumber('last entry of the votes; default: all votes'), ...paged },
    answer: AgentDecisions,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'NO_DECISIONS', 'LOG_DAMAGED', 'BEING_MADE'],
  },
  agent_neighbours: {
    path: '/api/v1/agents/{id}/neighbours',
    id: 'listAgentNeighbours',
    tag: 'agents',
    summary: 'Neighbours of an agent in the social graph',
    text: `For agents of a scenario, in scenario order. Partitions, and links and agents that
interventions removed, are as of the entry's time.`,
    parameters: { agent_id: agentInPath },
    query: { at: entryNumber('entry as of which to read; default: the last'), ...paged },
    answer: AgentNeighbours,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'UNKNOWN_ENTRY', 'UNKNOWN_SCENARIO', 'BEING_MADE'],
  },
  memes: {
    path: '/api/v1/memes',
    id: 'listMemes',
    tag: 'social',
    summary: 'All memes, newest first',
    text: 'An empty page may have a `next_cursor`.',
    query: paged,
    answer: Memes,
    reasons: made,
  },
  log: {
    path: '/api/v1/log',
    id: 'getLog',
    tag: 'network',
    summary: 'The log as JSON Lines',
    text: `The format of \`folkmoot log\`. The complete log suffices to recompute the network. A
response ends before it reaches ${view.logBytes} bytes, but has at least one line.`,
    query: {
      from: entryNumber('first entry; default: 0'),
      limit: rows({ default: defaultPageRows }, 'maximum number of lines'),
    },
    content: { 'application/x-ndjson': Type.String() },
    reasons: ['SCHEMA', 'UNKNOWN_ENTRY', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  entry: {
    path: '/api/v1/entries/{entry}',
    id: 'getEntry',
    tag: 'network',
    summary: 'A log entry and its events',
    text: 'Omits the file of a meme.',
    parameters: { entry: entryNumber('entry number') },
    answer: EntryDetail,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  scenario: {
    path: '/api/v1/scenario',
    id: 'getScenario',
    tag: 'network',
    summary: 'Scenario of the network, if known',
    text: `\`graph\` is null if the server does not know the social graph. \`edges\` is null if the
graph has more than ${view.graphEdges} links; then read
\`/api/v1/agents/{id}/neighbours\` for each agent.`,
    answer: Scenario,
    reasons: ['UNKNOWN_SCENARIO'],
  },
} as const satisfies Readonly<Record<string, Declared>>;
