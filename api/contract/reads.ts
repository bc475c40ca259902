/** Reads of committed network state, current or as of an earlier entry. */
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import { eventData } from '../../engine/protocol/schema/event.js';
import {
  AgentId,
  BlockStatus,
  Count,
  Hash,
  nullable,
  PublicKey,
} from '../../engine/protocol/schema/primitives.js';
import type { Reason } from '../../engine/protocol/schema/reason.js';
import { records } from '../../engine/protocol/schema/record.js';
import { ProposalBody, VoteBody } from '../../engine/protocol/schema/request.js';
import {
  AgentList,
  AgentView,
  BlockView,
  NetworkState,
  ReputationView,
} from '../../engine/protocol/schema/view.js';
import { Epoch, PublishedEvent } from './answers.js';
import { topics } from './channels.js';
import { serverBounds } from './limit-table.js';
import {
  agentInPath,
  cursor,
  type Declared,
  hashInPath,
  keyInPath,
  type Parameter,
  rows,
  textCursor,
  whole,
} from './route.js';

const { defaultPageRows } = serverBounds;

const Text = Type.String();
/** Cursor of the next page; null on the last page. */
const next_cursor = nullable(Text);

const statuses: readonly string[] = BlockStatus.enum;

const statusAsked: Parameter<typeof BlockStatus, BlockStatus | null> = {
  text: 'only blocks with this status',
  schema: BlockStatus,
  expected: `one of ${statuses.join(', ')}`,
  read: (sent) =>
    sent === null || statuses.includes(sent) ? (sent as BlockStatus | null) : undefined,
};

const topicsAsked = {
  text: 'comma-separated topics to include; default: all',
  schema: Type.Array(Type.Enum([...topics])),
  expected: `a comma-separated list of ${[...topics].join(', ')}`,
  read(sent: string | null): readonly string[] | undefined {
    const asked = sent?.split(',') ?? [...topics];
    return asked.every((topic) => topics.has(topic)) ? asked : undefined;
  },
};

/** Each read also takes `at` (see below). */
export const reads = {
  state: {
    path: '/api/v1/network/state',
    id: 'getNetworkState',
    tag: 'network',
    summary: 'State of the network',
    answer: NetworkState,
    reasons: [],
  },
  agents: {
    path: '/api/v1/network/agents',
    id: 'listAgents',
    tag: 'network',
    summary: 'All active agents',
    text: 'Ascending by id. An agent with both capabilities is in both lists.',
    query: {
      limit: {
        ...rows({}, 'maximum number of entries in each list; default: all'),
        extension: true,
      },
    },
    answer: AgentList,
    reasons: ['SCHEMA'],
  },
  reputation: {
    path: '/api/v1/social/reputation/{id}',
    id: 'getReputation',
    tag: 'social',
    summary: "An agent's reputation",
    text: 'Scores from 0 to 100.',
    parameters: { agent_id: agentInPath },
    answer: ReputationView,
    reasons: ['UNKNOWN_AGENT'],
  },
  agent: {
    path: '/api/v1/agents/{id}',
    id: 'getAgent',
    tag: 'agents',
    summary: 'An agent',
    extension: true,
    parameters: { agent_id: agentInPath },
    answer: AgentView,
    reasons: ['UNKNOWN_AGENT'],
  },
  blocks: {
    path: '/api/v1/blocks',
    id: 'listBlocks',
    tag: 'network',
    summary: 'Blocks, newest first',
    extension: true,
    query: { status: statusAsked, limit: rows({ default: defaultPageRows }), cursor },
    answer: Type.Object({ blocks: Type.Array(BlockView), next_cursor }),
    reasons: ['SCHEMA'],
  },
  block: {
    path: '/api/v1/blocks/{hash}',
    id: 'getBlock',
    tag: 'network',
    summary: 'A block with its signed proposal',
    extension: true,
    parameters: { block_hash: hashInPath('block hash') },
    answer: Type.Object({
      ...BlockView.properties,
      entry: Type.Integer({ description: 'log entry of the proposal' }),
      proposal: ProposalBody,
      public_key: PublicKey,
    }),
    reasons: ['UNKNOWN_BLOCK', 'ARCHIVE_DAMAGED'],
  },
  votes: {
    path: '/api/v1/blocks/{hash}/votes',
    id: 'listVotes',
    tag: 'network',
    summary: 'The signed votes on a block',
    text: 'With the electorate they form a quorum certificate, which clients can verify.',
    extension: true,
    parameters: { block_hash: hashInPath('block hash') },
    query: { limit: rows({ default: limits.pageRows }), cursor },
    answer: Type.Object({
      block_hash: Hash,
      electorate: Type.Array(
        Type.Object({ agent_id: AgentId, public_key: PublicKey, weight: Count }),
      ),
      votes: Type.Array(Type.Object({ public_key: PublicKey, vote: VoteBody })),
      next_cursor,
    }),
    reasons: ['UNKNOWN_BLOCK', 'SCHEMA', 'ARCHIVE_DAMAGED'],
  },
  transactions: {
    path: '/api/v1/transactions/{hash}',
    id: 'getTransaction',
    tag: 'network',
    summary: 'A finalized transaction',
    text: 'All signers of the transaction, with the block of each signature.',
    extension: true,
    parameters: { hash: hashInPath('SHA-256 of the transaction data') },
    query: {
      limit: rows({ default: limits.pageRows }),
      cursor: textCursor(/^[0-9a-f]{64}$/),
    },
    answer: Type.Object({
      hash: Hash,
      status: Type.Literal('finalized'),
      signers: Type.Array(Type.Object({ signer: PublicKey, ...records.transactions.properties })),
      next_cursor,
    }),
    reasons: ['UNKNOWN_TX'],
  },
  stateValue: {
    path: '/api/v1/state/{key}',
    id: 'getStateValue',
    tag: 'network',
    summary: 'A state value that blocks wrote',
    extension: true,
    parameters: { key: keyInPath },
    answer: Type.Object({ key: Text, ...records.state.properties }),
    reasons: ['UNKNOWN_KEY_NAME'],
  },
  alliances: {
    path: '/api/v1/social/alliances',
    id: 'listAlliances',
    tag: 'social',
    summary: 'Current alliances',
    extension: true,
    query: {
      limit: rows({ default: defaultPageRows }),
      cursor: textCursor(/^ally_[0-9a-f]{32}$/),
    },
    answer: Type.Object({ alliances: Type.Array(eventData.alliance_update), next_cursor }),
    reasons: ['SCHEMA'],
  },
  events: {
    path: '/api/v1/events',
    id: 'listEvents',
    tag: 'network',
    summary: 'Published events',
    text: 'The same events as on the WebSocket, for clients that poll.',
    extension: true,
    query: {
      after: whole('`seq` of the last known event, or a `next_cursor`', 'an event number', {
        default: 0,
      }),
      topics: topicsAsked,
      limit: rows({ default: defaultPageRows }),
    },
    answer: Type.Object({
      events: Type.Array(PublishedEvent),
      epoch: Epoch,
      last_seq: Count,
      next_cursor,
    }),
    reasons: ['SCHEMA', 'ARCHIVE_DAMAGED'],
  },
} as const satisfies Readonly<Record<string, Declared>>;

/** Log entry at which to read. */
export const at = {
  ...whole(
    `log entry as of which to read; default: the last entry. Requires a server with history
(folkmoot explore). Counts as four reads.`,
    'an entry number',
  ),
  extension: true as const,
};

/** Refusal reasons for a read with `at`. */
export const ofThePast: readonly Reason[] = [
  'SCHEMA',
  'UNKNOWN_ENTRY',
  'NO_HISTORY',
  'LOG_DAMAGED',
  'ARCHIVE_DAMAGED',
  'BEING_MADE',
  'QUEUE_FULL',
];
