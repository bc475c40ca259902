/** The reads, as the documents describe them. */
import {
  AgentId,
  BlockStatus,
  eventTopics,
  Hash,
  limits,
  type Reason,
  Type,
} from '../../../engine/internal.js';
import { type ReadName, readAnswers } from '../../contract/answers.js';
import { serverBounds } from '../../contract/limit-table.js';
import type { Operation, Parameter } from './operation.js';

const { defaultPageRows } = serverBounds;

const rows = (otherwise?: number): Parameter => ({
  name: 'limit',
  text: 'rows at the most',
  schema: Type.Integer({
    minimum: 1,
    maximum: limits.pageRows,
    ...(otherwise === undefined ? {} : { default: otherwise }),
  }),
});

const cursor: Parameter = {
  name: 'cursor',
  text: 'the `next_cursor` of the page before',
  schema: Type.String(),
};
const agentPath: Parameter = { name: 'agent_id', text: 'the agent', schema: AgentId };
const blockPath: Parameter = { name: 'block_hash', text: 'the block', schema: Hash };
const at: Parameter = {
  name: 'at',
  text: `the entry after which it is read, where the server has the past (folkmoot explore);
default: the last. It counts as four reads.`,
  schema: Type.Integer({ minimum: 0 }),
  extension: true,
};
/** Of a read with `at`. */
const ofThePast: readonly Reason[] = [
  'SCHEMA',
  'UNKNOWN_ENTRY',
  'NO_HISTORY',
  'LOG_DAMAGED',
  'ARCHIVE_DAMAGED',
  'BEING_MADE',
  'QUEUE_FULL',
];
const topicNames = [...new Set(Object.values(eventTopics).flat())];

const described: Record<ReadName, Omit<Operation, 'answer'>> = {
  state: {
    id: 'getNetworkState',
    tag: 'network',
    summary: 'State of the network',
    reasons: [],
  },
  agents: {
    id: 'listAgents',
    tag: 'network',
    summary: 'All active agents',
    text: 'Ascending by id. An agent with both capabilities stands in both lists.',
    query: [{ ...rows(), text: 'entries of each list at the most; default all', extension: true }],
    reasons: ['SCHEMA'],
  },
  reputation: {
    id: 'getReputation',
    tag: 'social',
    summary: "An agent's reputation",
    text: 'Scores from 0 to 100.',
    path: [agentPath],
    reasons: ['UNKNOWN_AGENT'],
  },
  agent: {
    id: 'getAgent',
    tag: 'agents',
    summary: 'An agent',
    extension: true,
    path: [agentPath],
    reasons: ['UNKNOWN_AGENT'],
  },
  blocks: {
    id: 'listBlocks',
    tag: 'network',
    summary: 'Blocks, newest first',
    extension: true,
    query: [
      { name: 'status', text: 'only blocks of this status', schema: BlockStatus },
      rows(defaultPageRows),
      cursor,
    ],
    reasons: ['SCHEMA'],
  },
  block: {
    id: 'getBlock',
    tag: 'network',
    summary: 'A block with its signed proposal',
    extension: true,
    path: [blockPath],
    reasons: ['UNKNOWN_BLOCK', 'ARCHIVE_DAMAGED'],
  },
  votes: {
    id: 'listVotes',
    tag: 'network',
    summary: 'The signed votes on a block',
    text: 'With the electorate they are a quorum certificate that anyone can check.',
    extension: true,
    path: [blockPath],
    query: [rows(limits.pageRows), cursor],
    reasons: ['UNKNOWN_BLOCK', 'SCHEMA', 'ARCHIVE_DAMAGED'],
  },
  transactions: {
    id: 'getTransaction',
    tag: 'network',
    summary: 'A final transaction',
    text: 'Everybody who signed it, and the block of each.',
    extension: true,
    path: [{ name: 'hash', text: 'sha256 of its data', schema: Hash }],
    query: [rows(limits.pageRows), cursor],
    reasons: ['UNKNOWN_TX'],
  },
  stateValue: {
    id: 'getStateValue',
    tag: 'network',
    summary: 'A value of the state that blocks have made',
    extension: true,
    path: [{ name: 'key', text: 'its key, percent-encoded', schema: Type.String() }],
    reasons: ['UNKNOWN_KEY_NAME'],
  },
  alliances: {
    id: 'listAlliances',
    tag: 'social',
    summary: 'Alliances as they stand',
    extension: true,
    query: [rows(defaultPageRows), cursor],
    reasons: ['SCHEMA'],
  },
  events: {
    id: 'listEvents',
    tag: 'network',
    summary: 'Events that were published',
    text: 'The same events as on the WebSocket, for whoever asks instead of listening.',
    extension: true,
    query: [
      {
        name: 'after',
        text: 'the `seq` of the last event known, or a `next_cursor`',
        schema: Type.Integer({ minimum: 0, default: 0 }),
      },
      {
        name: 'topics',
        text: 'only events of these topics, separated by commas; default all',
        schema: Type.Array(Type.Enum(topicNames)),
      },
      rows(defaultPageRows),
    ],
    reasons: ['SCHEMA', 'ARCHIVE_DAMAGED'],
  },
};

export const readOperations = Object.fromEntries(
  Object.entries(described).map(([name, operation]) => [
    name,
    withAnswer(name as ReadName, operation),
  ]),
) as Record<ReadName, Operation>;

/** All reads count against their address, and may be of an earlier entry. */
function withAnswer(name: ReadName, operation: Omit<Operation, 'answer'>): Operation {
  const reasons = [...new Set([...operation.reasons, ...ofThePast, 'QUOTA_USED' as const])];
  const query = [...(operation.query ?? []), at];
  return { ...operation, query, answer: readAnswers[name], reasons };
}
