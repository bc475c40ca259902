/** Routes for commands, which are requests that change the network. */
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { limits } from '../../engine/protocol/limits.js';
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { AgentId, AllianceId, Signature } from '../../engine/protocol/schema/primitives.js';
import {
  AllianceLeaveBody,
  AllianceProposeBody,
  AllianceRespondBody,
  DiscussBody,
  MemeForm,
  ProposalBody,
  RegisterBody,
  StatusBody,
  VoteBody,
} from '../../engine/protocol/schema/request.js';
import { answers } from '../../engine/protocol/schema/view.js';
import { serverBounds } from './limit-table.js';
import { type Declared, inPath } from './route.js';

const { small, propose, meme } = serverBounds.body;

const alliance = { alliance_id: inPath('alliance id', AllianceId) };

const Form = Type.Object({
  meme_file: Type.Unsafe<string>({ type: 'string', contentMediaType: 'application/octet-stream' }),
  caption: Type.Optional(MemeForm.properties.caption),
  tags: Type.Optional(MemeForm.properties.tags),
  signature: Signature,
});

/** `carriage` defines a command's method and path. */
type Command = Omit<Declared, 'method' | 'path'>;

export const commandRoutes: Readonly<Record<CommandKind, Command>> = {
  register: {
    id: 'registerAgent',
    tag: 'agents',
    summary: 'Register an agent',
    text: 'The signature proves possession of the key. Sending the same data again is idempotent.',
    body: RegisterBody,
    bodyBytes: small,
    answer: answers.register,
    created: true,
    reasons: ['AGENT_EXISTS'],
  },
  status: {
    id: 'updateAgentStatus',
    tag: 'agents',
    summary: "Update an agent's availability",
    text: 'The agent in the path signs. X-Timestamp must be later than that of its last update.',
    parameters: { agent_id: inPath('agent id of the signer', AgentId) },
    body: StatusBody,
    bodyBytes: small,
    answer: answers.status,
    reasons: ['UNKNOWN_AGENT', 'NOT_OWNER', 'REPLAYED'],
  },
  vote: {
    id: 'submitVote',
    tag: 'consensus',
    summary: 'Vote on a block proposal',
    text: 'Repeating a decision is idempotent. A different one is refused and lowers reputation.',
    body: VoteBody,
    bodyBytes: small,
    answer: answers.vote,
    created: true,
    reasons: [
      'UNKNOWN_BLOCK',
      'NOT_VALIDATOR',
      'NOT_IN_ELECTORATE',
      'ALREADY_VOTED',
      'VOTING_CLOSED',
      'NOT_ACTIVE',
      'UNKNOWN_MEME',
    ],
  },
  propose: {
    id: 'proposeBlock',
    tag: 'consensus',
    summary: 'Propose a block',
    text: `The parent must be the head. If the parent is still in voting, the server waits for it.
At most ${limits.openBlocks} blocks are in voting, one per producer.`,
    body: ProposalBody,
    bodyBytes: propose,
    answer: answers.propose,
    created: true,
    reasons: [
      'HASH_MISMATCH',
      'NOT_PRODUCER',
      'NOT_ACTIVE',
      'STALE_PARENT',
      'OPEN_BLOCK',
      'TOO_MANY_OPEN',
      'BLOCKS_USED',
      'NO_VALIDATORS',
      'DUPLICATE_TX',
    ],
  },
  meme: {
    id: 'postMeme',
    tag: 'social',
    summary: 'Post a meme',
    text: `PNG, JPEG, WebP, GIF or plain text, detected from the bytes. At most
${limits.memeFileBytes} bytes per file and ${limits.memeQuotaBytes} bytes per agent in total.`,
    body: Form,
    bodyBytes: meme,
    answer: answers.meme,
    created: true,
    reasons: ['NOT_ACTIVE', 'QUOTA'],
  },
  discuss: {
    id: 'discussBlock',
    tag: 'consensus',
    summary: 'Comment on a block in voting',
    extension: true,
    body: DiscussBody,
    bodyBytes: small,
    answer: answers.discuss,
    created: true,
    reasons: ['UNKNOWN_BLOCK', 'VOTING_CLOSED', 'NOT_ACTIVE', 'UNKNOWN_MEME'],
  },
  alliance_propose: {
    id: 'proposeAlliance',
    tag: 'social',
    summary: 'Propose an alliance',
    text: `Expires if no agent accepts within ${limits.allianceInvitationMs / 1000} seconds.`,
    extension: true,
    body: AllianceProposeBody,
    bodyBytes: small,
    answer: answers.alliance_propose,
    created: true,
    reasons: ['UNKNOWN_TARGET', 'NOT_ACTIVE', 'TOO_MANY_ALLIANCES'],
  },
  alliance_respond: {
    id: 'respondToAlliance',
    tag: 'social',
    summary: 'Accept or decline an invitation',
    extension: true,
    parameters: alliance,
    body: AllianceRespondBody,
    bodyBytes: small,
    answer: answers.alliance_respond,
    reasons: [
      'UNKNOWN_ALLIANCE',
      'ALREADY_ANSWERED',
      'NOT_INVITED',
      'ALLIANCE_CLOSED',
      'NOT_ACTIVE',
      'TOO_MANY_ALLIANCES',
    ],
  },
  alliance_leave: {
    id: 'leaveAlliance',
    tag: 'social',
    summary: 'Leave an alliance',
    text: 'The body is optional. Without a body, omit Content-Type.',
    extension: true,
    parameters: alliance,
    body: AllianceLeaveBody,
    bodyBytes: small,
    answer: answers.alliance_leave,
    reasons: ['UNKNOWN_ALLIANCE', 'NOT_MEMBER', 'NOT_FORMED', 'ALLIANCE_CLOSED', 'NOT_ACTIVE'],
  },
};
