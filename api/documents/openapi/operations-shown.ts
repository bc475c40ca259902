/** What a page that looks at the network is given, as the documents describe it. */
import { AgentId, limits, type Reason, Type } from '../../../engine/internal.js';
import { serverBounds } from '../../contract/limit-table.js';
import type { ShownName } from '../../contract/routes.js';
import { AgentDecisions, AgentNeighbours } from '../../contract/run.js';
import {
  AgentVotes,
  EntryShown,
  Memes,
  Overview,
  Picture,
  Roster,
  Scenario,
  ViewProgress,
} from '../../contract/shown.js';
import type { Operation, Parameter } from './operation.js';

const { defaultPageRows, view } = serverBounds;

const entryNumber = (name: string, text: string): Parameter => ({
  name,
  text,
  schema: Type.Integer({ minimum: 0 }),
});
const agentPath: Parameter = { name: 'agent_id', text: 'the agent', schema: AgentId };
const paged: Parameter[] = [
  {
    name: 'limit',
    text: 'rows at the most',
    schema: Type.Integer({ minimum: 1, maximum: limits.pageRows, default: defaultPageRows }),
  },
  { name: 'cursor', text: 'the `next_cursor` of the page before', schema: Type.String() },
];
/** Made of the log when somebody asks. */
const made: Reason[] = ['SCHEMA', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED', 'BEING_MADE'];

const described: Record<ShownName, Omit<Operation, 'extension'>> = {
  view: {
    id: 'getPicture',
    tag: 'network',
    summary: 'The network after an entry',
    text: `All that a page draws. Agents, blocks, memes and alliances go by numbers, from 0 in the
order in which they came. Of what is over, the last few are in it.`,
    query: [entryNumber('at', 'the entry; default: the last')],
    answer: Picture,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  view_progress: {
    id: 'getPictureProgress',
    tag: 'network',
    summary: 'How much of the log pictures can be made of',
    text: `Goes on with it whenever somebody asks: who asks until \`made\` is true is not refused
with \`BEING_MADE\` then.`,
    answer: ViewProgress,
    reasons: ['LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  columns: {
    id: 'getColumns',
    tag: 'network',
    summary: 'What happened in some entries, column by column',
    text: `One span as bytes, by which a picture goes on: docs/protocol.md says how to read it. Its
own \`to\` says how far it goes, ${view.columnRows} rows at the most.`,
    query: [
      entryNumber('from', 'the first entry'),
      entryNumber('to', 'the last entry; default: the last of the log'),
    ],
    content: { 'application/octet-stream': null },
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  overview: {
    id: 'getOverview',
    tag: 'network',
    summary: 'The whole log at a glance',
    text: 'Events and outcomes in pieces of about one size, and the last blocks that left voting.',
    query: [
      {
        name: 'buckets',
        text: 'pieces at the most',
        schema: Type.Integer({
          minimum: 1,
          maximum: view.buckets,
          default: view.defaultBuckets,
        }),
      },
    ],
    answer: Overview,
    reasons: made,
  },
  roster: {
    id: 'listRoster',
    tag: 'agents',
    summary: 'All registered agents, whatever their status',
    text: 'In order of registration: `number` is what pictures and columns call an agent.',
    query: paged,
    answer: Roster,
    reasons: ['SCHEMA'],
  },
  agent_votes: {
    id: 'listAgentVotes',
    tag: 'agents',
    summary: "An agent's votes that counted, newest block first",
    text: `A page looks through ${view.voteBlocks} blocks at the most, so it may be empty and still
have a next one.`,
    path: [agentPath],
    query: paged,
    answer: AgentVotes,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT'],
  },
  agent_memes: {
    id: 'listAgentMemes',
    tag: 'agents',
    summary: "An agent's memes, newest first",
    path: [agentPath],
    query: paged,
    answer: Memes,
    reasons: [...made, 'UNKNOWN_AGENT'],
  },
  agent_decisions: {
    id: 'listAgentDecisions',
    tag: 'agents',
    summary: "What an agent's votes rested on, newest first",
    text: 'Of a kept run with `measure.decisions: true`: docs/attribution.md says how to read it.',
    path: [agentPath],
    query: [entryNumber('at', 'votes up to this entry; default: all'), ...paged],
    answer: AgentDecisions,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'NO_DECISIONS', 'LOG_DAMAGED', 'BEING_MADE'],
  },
  agent_neighbours: {
    id: 'listAgentNeighbours',
    tag: 'agents',
    summary: 'Whom an agent hears, and who hears it',
    text: `Of an agent of a scenario, in the order of the scenario. Partitions, and links and agents
that interventions cut off, are as they were at the time of the entry.`,
    path: [agentPath],
    query: [entryNumber('at', 'the entry; default: the last'), ...paged],
    answer: AgentNeighbours,
    reasons: ['SCHEMA', 'UNKNOWN_AGENT', 'UNKNOWN_ENTRY', 'UNKNOWN_SCENARIO', 'BEING_MADE'],
  },
  memes: {
    id: 'listMemes',
    tag: 'social',
    summary: 'All memes, newest first',
    text: 'A page may be empty and still have a next one.',
    query: paged,
    answer: Memes,
    reasons: made,
  },
  log: {
    id: 'getLog',
    tag: 'network',
    summary: 'The log, a JSON object a line',
    text: `As \`folkmoot log\` prints it: who has all of it recomputes the network. It ends before
it has ${view.logBytes} bytes; one line there is always.`,
    query: [
      entryNumber('from', 'the first entry; default: 0'),
      { ...paged[0]!, text: 'lines at the most' },
    ],
    content: { 'application/x-ndjson': Type.String() },
    reasons: ['SCHEMA', 'UNKNOWN_ENTRY', 'LOG_DAMAGED', 'ARCHIVE_DAMAGED'],
  },
  entry: {
    id: 'getEntry',
    tag: 'network',
    summary: 'One entry of the log, and what came of it',
    text: 'The file of a meme is left out.',
    path: [entryNumber('entry', 'its number')],
    answer: EntryShown,
    reasons: [...made, 'UNKNOWN_ENTRY'],
  },
  scenario: {
    id: 'getScenario',
    tag: 'network',
    summary: 'The scenario of its agents, where it is known',
    text: `\`graph\` is null where nobody knows who hears whom; its \`edges\` are where it has more
than ${view.graphEdges} links: \`/api/v1/agents/{id}/neighbours\` tells them agent by agent.`,
    answer: Scenario,
    reasons: ['UNKNOWN_SCENARIO'],
  },
};

export const shownOperations = Object.fromEntries(
  Object.entries(described).map(([name, operation]) => [name, counted(operation)]),
) as Record<ShownName, Operation>;

/** All count as reads, and none is of the interface as it was given. */
function counted(operation: Omit<Operation, 'extension'>): Operation {
  return { ...operation, extension: true, reasons: [...operation.reasons, 'QUOTA_USED'] };
}
