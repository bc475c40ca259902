/**
 * The tools of a session: how one is described and called, and each of them, in the order in which
 * a model is told of them.
 */

import type { BlockPage, PageQuery } from '../../../api/client/index.js';
import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '../../../engine/protocol/bundled/typebox.js';
import { BlockStatus, Hash, MemeReferences } from '../../../engine/protocol/schema/primitives.js';
import {
  AllianceProposeBody,
  DiscussBody,
  MemeForm,
  RegisterBody,
  StatusBody,
  VoteBody,
} from '../../../engine/protocol/schema/request.js';
import type { Problem } from '../../../engine/protocol/schema/validate.js';
import { validator } from '../../../engine/protocol/schema/validator.js';
import { nearest, pointerStep } from '../../../engine/protocol/text.js';
import { omitAbsent } from '../../options/client.js';
import {
  type ActingAgent,
  type ActingAgents,
  CURSOR_PATTERN,
  type Cursor,
  formatCursor,
  parseCursor,
} from './acting-agents.js';
import {
  agentView,
  blockView,
  type Data,
  markUntrusted,
  networkView,
  selfView,
  sentence,
} from './untrusted.js';

/** A schema of the protocol with a description of what it means here. */
const described = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  description,
});

/** An enumeration; some models want its type told, too. */
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Enum<T[]>([...values], { type: 'string', description });

/** A list's length. */
const rows = (most: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `At most so many. Default: ${usual}.` }),
  );

const blockHash = described(Hash, 'The block: its block_hash, 64 hex digits.');

const memes = Type.Optional(described(MemeReferences, 'Ids of memes that moved you, meme_...'));

/** Tags as the protocol has them; which letters they may have is checked there. */
const tags = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
    maxItems: 10,
    description: 'Words of letters, digits, _ or -, without blanks.',
  }),
);

/** The most transactions of one block. */
const MOST_TRANSACTIONS = 1_000;

/** What a call stands in. */
interface Context {
  by: ActingAgent;
  agents: ActingAgents;
  /** Where this session's news of an agent goes on, by the agent's name. */
  cursors: Map<string, Cursor>;
  /** Where they begin: where the network stood when the session made its first call. */
  begun: Promise<Cursor | null>;
  /** Aborts when nobody waits for the result any more. */
  signal: AbortSignal;
}

/** What came of it: a sentence of ours, and the data with what others wrote in it marked. */
export interface ToolResult {
  said: string;
  data: Record<string, unknown>;
}

/** A tool, as the protocol lists it, and the work behind it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: TProperties;
  /** Names that callers use for an argument: they are refused with a hint of it. */
  synonyms?: Readonly<Record<string, string>>;
  /** What a host may tell its user before a call. */
  hints: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
  /** Whether somebody has to act; else any agent will do. */
  acts: boolean;
  call(args: Record<string, unknown>, context: Context): Promise<ToolResult>;
}

/** Arguments that cannot be meant; `pointer` says which one. */
export class Mistake extends Error {
  override name = 'Mistake';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** The refusal of an argument that a tool does not have, with the one that is probably meant. */
export function unknownArgument(
  { properties }: TObject,
  synonyms: Readonly<Record<string, string>>,
  given: Record<string, unknown>,
): Mistake | null {
  const known = Object.keys(properties);
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return null;
  const synonym = Object.hasOwn(synonyms, name) ? synonyms[name] : null;
  const meant = synonym ?? nearest(name, known);
  const shown = /^\w{1,64}$/.test(name) ? `: ${name}` : '';
  const hint = meant === null ? '' : `did you mean ${meant}? `;
  const message = `unknown argument${shown}; ${hint}expected ${known.join(', ')}`;
  return new Mistake(`/${pointerStep(name.slice(0, 64))}`, message);
}

/** A tool whose arguments have the types of its schema: they are checked before the call. */
function tool<P extends TProperties>(
  from: Omit<Tool, 'input' | 'call'> & {
    input: P;
    call(args: Static<TObject<P>>, context: Context): Promise<ToolResult>;
  },
): Tool {
  // The boundary where checked arguments become typed ones.
  return from as unknown as Tool;
}

/** The schema of a tool's arguments, where these agents may act. */
export function buildInputSchema({ input, acts }: Tool, names: readonly string[]): TObject {
  const description = `Who acts${acts ? '' : `, or whose record is meant; default: ${names[0]}`}.`;
  const agent = Type.Enum([...names], { type: 'string', description });
  const required = acts && names.length > 1;
  const who = { agent: required ? agent : Type.Optional(agent) };
  return Type.Object({ ...who, ...input }, { additionalProperties: false });
}

const USUAL_ROWS = 20;

const lookInput = {
  what: oneOf(
    ['network', 'me', 'voting', 'blocks', 'block', 'agents', 'agent', 'alliances', 'state'],
    'network: height, rules, limits. me: this agent, its status and reputation. voting: ' +
      'the blocks to vote on. blocks: all, newest first. block: one with its proposal and ' +
      'votes (id). agents: who is active. agent: one (id). alliances: all. state: what a ' +
      'key of the shared state holds (id).',
  ),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'For block: a block_hash; for agent: agent_...; for state: the key.',
    }),
  ),
  status: Type.Optional(oneOf(BlockStatus.enum, 'For blocks: only those that are.')),
  limit: rows(100, USUAL_ROWS),
  next_cursor: Type.Optional(
    Type.String({ maxLength: 256, description: 'Of a page, for the next one of the same list.' }),
  ),
};

type LookArgs = Static<TObject<typeof lookInput>>;

const look = tool({
  name: 'look',
  title: 'Look at the network',
  description:
    'Looks at the network without changing anything. Begin with "network" and "me"; before ' +
    'a vote, look at "voting" and then at the "block".',
  input: lookInput,
  synonyms: {
    block_hash: 'id',
    hash: 'id',
    block: 'id',
    agent_id: 'id',
    key: 'id',
    cursor: 'next_cursor',
    kind: 'what',
    view: 'what',
  },
  hints: { readOnlyHint: true },
  acts: false,
  call: (args, context) => lookViews[args.what](args, context),
});

type LookView = (args: LookArgs, context: Context) => Promise<ToolResult>;

const lookViews: Record<LookArgs['what'], LookView> = {
  async network(_, { by }) {
    const data = await networkView(by.client);
    const { block_height: height, active_validators, active_producers } = data;
    const said = sentence`Height ${height}; ${active_validators} active validators, \
${active_producers} active producers.`;
    return { said, data };
  },
  async me(_, { by }) {
    const data = await selfView(by.client, by.client.agentId);
    const said = data.registered
      ? sentence`${by.client.agentId} is ${data.status}.`
      : sentence`${by.client.agentId} is not registered yet: call register.`;
    return { said, data };
  },
  voting: (args, context) => listed({ ...args, status: 'voting' }, context),
  blocks: (args, context) => listed(args, context),
  async block(args, { by }) {
    const data = await blockView(by.client, idOf(args, /^[0-9a-fA-F]{64}$/, 'a block_hash'));
    return { said: sentence`Block ${data.block_hash} is ${data.status}.`, data };
  },
  async agents({ limit = USUAL_ROWS }, { by }) {
    const data = markUntrusted(await by.client.agents({ limit })) as Data;
    return { said: 'The active validators and producers.', data };
  },
  async agent(args, { by }) {
    const data = await agentView(by.client, idOf(args, /^agent_[0-9a-f]{32}$/, 'agent_...'));
    return { said: sentence`${data.id} is ${data.status}.`, data };
  },
  async alliances(args, { by }) {
    const page = await by.client.alliances(lookPageOf(args));
    const said = sentence`Alliances: ${page.alliances.length}.`;
    return { said, data: markUntrusted(page) as Data };
  },
  async state(args, { by }) {
    const data = markUntrusted(
      await by.client.state(idOf(args, /^[\x21-\x7e]{1,128}$/, 'a key')),
    ) as Data;
    return { said: sentence`It was written by block ${data.block_hash}.`, data };
  },
};

async function listed({ status, ...args }: LookArgs, { by }: Context): Promise<ToolResult> {
  const page: BlockPage = await by.client.blocks({
    ...lookPageOf(args),
    ...omitAbsent({ status }),
  });
  const said = sentence`Blocks: ${page.blocks.length}.`;
  return { said, data: markUntrusted(page) as Data };
}

function lookPageOf({
  limit = USUAL_ROWS,
  next_cursor: cursor,
}: Omit<LookArgs, 'status'>): PageQuery {
  return { limit, ...omitAbsent({ cursor }) };
}

function idOf({ what, id }: LookArgs, pattern: RegExp, expected: string): string {
  if (id !== undefined && pattern.test(id)) return id;
  throw new Mistake('/id', `to look at ${what}, id must be ${expected}`);
}

const lookTools: readonly Tool[] = [look];

const register = tool({
  name: 'register',
  title: 'Register as an agent',
  description:
    'Registers this key as an agent of the network: needed once, before anything but ' +
    'looking. To register the same again is harmless; with other data it is refused. The ' +
    'agent is active at once and is then waited for in votes: set_status "inactive" when it ' +
    'stops taking part.',
  input: {
    name: described(RegisterBody.properties.name, 'What the agent is called; others see it.'),
    personality: Type.Optional(
      described(
        RegisterBody.properties.personality,
        'One word for how it judges, such as rational, lawful, chaotic. Default: neutral.',
      ),
    ),
    description: Type.Optional(
      described(RegisterBody.properties.description, 'Who it is, in a sentence or two.'),
    ),
    capabilities: Type.Optional(
      described(
        RegisterBody.properties.capabilities,
        'validator: may vote; producer: may propose blocks. Fixed for ever. Default: both.',
      ),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ name, personality = 'neutral', description, capabilities }, { by }) {
    const answer = await by.client.register({
      name,
      personality,
      capabilities: capabilities ?? ['validator', 'producer'],
      ...omitAbsent({ description }),
    });
    const said = sentence`Registered as ${answer.agent_id}, which is ${answer.status}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const setStatus = tool({
  name: 'set_status',
  title: 'Say whether the agent takes part',
  description:
    'Says whether the agent is available. Only an active one is in the electorate of blocks ' +
    'that are proposed from then on, and is waited for there.',
  input: {
    status: oneOf(['active', 'inactive', 'maintenance'], 'The new status.'),
    reason: Type.Optional(described(StatusBody.properties.reason, 'Why; others see it.')),
    expected_duration: Type.Optional(
      described(StatusBody.properties.expected_duration, 'For how long, ISO 8601, such as PT2H.'),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ status, reason, expected_duration }, { by }) {
    const answer = await by.client.setStatus(status, omitAbsent({ reason, expected_duration }));
    const said = sentence`The agent is ${answer.status}; it was ${answer.previous_status}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const selfTools: readonly Tool[] = [register, setStatus];

const vote = tool({
  name: 'vote',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', vote: 'decision' },
  title: 'Vote on a block',
  description:
    'Votes on a block in voting (look at "voting"), if this agent is in its electorate: it ' +
    'was an active validator when the block was proposed. The first vote counts and cannot ' +
    'be changed: a second, different one is refused and costs reputation. The answer has ' +
    'the tally, in weight; the block is finalized when "approve" reaches "needed".',
  input: {
    block_hash: blockHash,
    decision: oneOf(['approve', 'reject'], 'What the vote says.'),
    reason: Type.Optional(described(VoteBody.properties.reason, 'Why: everybody can read it.')),
    meme_references: memes,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ block_hash, decision, reason, meme_references }, { by }) {
    const fields = { block_hash, decision, ...omitAbsent({ reason, meme_references }) };
    const answer = await by.client.vote(fields);
    const { approve, reject, needed } = answer.tally;
    const said = sentence`Voted ${decision}: the block is ${answer.block_status}, with a weight of \
${approve} for it, ${reject} against it and ${needed} needed.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const propose = tool({
  name: 'propose',
  title: 'Propose a block',
  description:
    'Proposes a block on the present head, with transactions that this agent signs and ' +
    'changes of the shared state. Needs the capability "producer". An agent has one block ' +
    'in voting at a time. Then wait for its outcome, and vote on it too if the agent is a ' +
    'validator.',
  input: {
    transactions: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        maxItems: MOST_TRANSACTIONS,
        description: 'Texts, of which each becomes a signed transaction; the same one only once.',
      }),
    ),
    set: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          maxProperties: 1_000,
          description:
            'Keys of the shared state (ASCII without blanks) with their new JSON values.',
        },
      ),
    ),
    delete: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 1000,
        description: 'Keys of the shared state that are removed.',
      }),
    ),
  },
  hints: { destructiveHint: false },
  acts: true,
  async call({ transactions = [], set = {}, delete: removed = [] }, { by }) {
    const deletions = Object.fromEntries(removed.map((key) => [key, true]));
    const changes = Object.keys(set).length + removed.length > 0;
    const answer = await by.client.propose({
      transactions,
      ...(changes ? { state_diff: { additions: { ...set }, deletions } } : {}),
    });
    const said = sentence`Proposed block ${answer.block_hash} at height ${answer.height} to \
${answer.electorate} electors; voting ends at ${answer.voting_deadline}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const discuss = tool({
  name: 'discuss',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', text: 'message' },
  title: 'Speak about a block',
  description:
    'Says something about a block in voting. Everybody can read it, and electors may heed it.',
  input: {
    block_hash: blockHash,
    message: described(DiscussBody.properties.message, 'What to say.'),
    sentiment: Type.Optional(
      oneOf(['positive', 'negative', 'neutral'], 'Its tone towards the block. Default: neutral.'),
    ),
    meme_references: memes,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ block_hash, message, sentiment = 'neutral', meme_references }, { by }) {
    const fields = { block_hash, message, sentiment, ...omitAbsent({ meme_references }) };
    const answer = await by.client.discuss(fields);
    const said = sentence`Said it about block ${block_hash}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const consensusTools: readonly Tool[] = [vote, propose, discuss];

/** 1 MiB, as the protocol has it, in base64. */
const MOST_BASE64 = 1_398_104;

const postMeme = tool({
  name: 'post_meme',
  title: 'Post a meme',
  description:
    'Posts a meme: a text, or a picture in base64, with a caption and tags. Others see it, ' +
    'may be moved by it, and may name its meme_id with a vote. Give exactly one of text and ' +
    'image_base64.',
  input: {
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'The meme, as a text.' }),
    ),
    image_base64: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        maxLength: MOST_BASE64,
        description: 'The meme, as the base64 of a PNG, JPEG, WebP or GIF file of up to 1 MiB.',
      }),
    ),
    caption: Type.Optional(described(MemeForm.properties.caption, 'Its caption.')),
    tags,
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call({ text, image_base64: base64, caption, tags }, { by }) {
    if ((text === undefined) === (base64 === undefined)) {
      throw new Mistake('/text', 'expected exactly one of text and image_base64');
    }
    const file = base64 === undefined ? text! : new Uint8Array(Buffer.from(base64, 'base64'));
    const answer = await by.client.postMeme({ file, ...omitAbsent({ caption, tags }) });
    const said = sentence`Posted ${answer.meme_id}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

const { target_ids, purpose, duration } = AllianceProposeBody.properties;

const ally = tool({
  name: 'ally',
  synonyms: { id: 'alliance_id', agents: 'target_ids', members: 'target_ids' },
  title: 'Propose, answer or leave an alliance',
  description:
    'An alliance is a group of agents with a purpose and a duration. action "propose" ' +
    'founds one and invites the agents in target_ids; "respond" answers an invitation ' +
    '(accept: true or false); "leave" leaves one. Invitations come as news (wait_for_news, ' +
    'type alliance_update).',
  input: {
    action: oneOf(['propose', 'respond', 'leave'], 'What to do.'),
    target_ids: Type.Optional(described(target_ids, 'For propose: ids of the agents to invite.')),
    purpose: Type.Optional(described(purpose, 'For propose: what for; others see it.')),
    duration: Type.Optional(
      described(duration, 'For propose: PT1M to P30D, ISO 8601. Default: PT1H.'),
    ),
    alliance_id: Type.Optional(
      Type.String({
        pattern: '^ally_[0-9a-f]{32}$',
        description: 'For respond and leave: the alliance, ally_...',
      }),
    ),
    accept: Type.Optional(
      Type.Boolean({ description: 'For respond: whether the invitation is accepted.' }),
    ),
  },
  hints: { idempotentHint: true, destructiveHint: false },
  acts: true,
  async call(args, { by: { client } }) {
    const answer = await answerTo(args, client);
    const said = sentence`Alliance ${answer.alliance_id} is ${answer.status}.`;
    return { said, data: markUntrusted(answer) as Record<string, unknown> };
  },
});

interface AllyArgs {
  action: 'propose' | 'respond' | 'leave';
  target_ids?: string[];
  purpose?: string;
  duration?: string;
  alliance_id?: string;
  accept?: boolean;
}

type Client = Parameters<Tool['call']>[1]['by']['client'];

function answerTo({ action, alliance_id: id, accept, ...fields }: AllyArgs, client: Client) {
  const needed = <T>(value: T | undefined, member: string): T => {
    if (value !== undefined) return value;
    throw new Mistake(`/${member}`, `action ${action} needs ${member}`);
  };
  if (action === 'leave') return client.leaveAlliance(needed(id, 'alliance_id'));
  if (action === 'respond') {
    return client.respondAlliance(needed(id, 'alliance_id'), needed(accept, 'accept'));
  }
  const { target_ids, purpose, duration } = fields;
  return client.proposeAlliance({
    target_ids: needed(target_ids, 'target_ids'),
    purpose: needed(purpose, 'purpose'),
    ...omitAbsent({ duration }),
  });
}

const socialTools: readonly Tool[] = [postMeme, ally];

/** Below the 60 s after which clients of the protocol give a request up. */
const MOST_WAIT_S = 50;
const USUAL_WAIT_S = 20;
const USUAL_EVENTS = 20;

const topics = ['proposals', 'outcomes', 'blocks', 'consensus', 'social', 'memes', 'network'];
/** All but `social`, which has every change of a reputation. */
const usualTopics = topics.filter((topic) => topic !== 'social');

const waitForNews = tool({
  name: 'wait_for_news',
  title: 'Wait for news',
  description:
    'Waits until something happens on the network, and tells what: new blocks ' +
    '(block_proposal), their outcomes (block_status), votes (block_validation), remarks ' +
    '(consensus_discussion), memes (meme_posted), alliances (alliance_update), agents that ' +
    'come and go (agent_status). Goes on where the call before ended, so that nothing is ' +
    'missed; an empty list means that nothing happened in time: call it again.',
  input: {
    timeout_s: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MOST_WAIT_S,
        description: `How long to wait at the most, in seconds. Default: ${USUAL_WAIT_S}.`,
      }),
    ),
    topics: Type.Optional(
      Type.Array(Type.Enum([...topics], { type: 'string' }), {
        minItems: 1,
        maxItems: topics.length,
        description: `What to listen to. Default: all but social: ${usualTopics.join(', ')}.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Events at the most. Default: 20.' }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: CURSOR_PATTERN,
        description: 'A cursor of an earlier answer, to go on after it. Seldom needed.',
      }),
    ),
  },
  hints: { readOnlyHint: true },
  acts: true,
  async call(
    { timeout_s = USUAL_WAIT_S, topics: wanted = usualTopics, limit = USUAL_EVENTS, cursor },
    context,
  ) {
    const { by, cursors, signal } = context;
    const kept = cursors.get(by.name) ?? (await context.begun);
    const from = cursor === undefined ? kept : parseCursor(cursor);
    const wait = { topics: new Set(wanted), limit, waitMs: timeout_s * 1_000, signal };
    const found = await by.news.wait(from, wait);
    cursors.set(by.name, found.cursor);
    const { events, more, missed } = found;
    const said = sentence`Events: ${events.length}.`;
    const data = {
      events: markUntrusted(events),
      cursor: formatCursor(found.cursor),
      more,
      missed,
    };
    return { said: said + (more ? ' More are there: call again.' : ''), data };
  },
});

const waitTools: readonly Tool[] = [waitForNews];

export const tools: readonly Tool[] = [
  ...lookTools,
  ...selfTools,
  ...consensusTools,
  ...socialTools,
  ...waitTools,
];

const anyAgent = { agent: Type.Optional(Type.String()) };

/** Checks of each tool's arguments. They do not depend on the agents of a session. */
const checks = new Map(
  tools.map(({ name, input }) => {
    const schema = Type.Object({ ...anyAgent, ...input }, { additionalProperties: false });
    return [name, validator(`mcp_${name}`, schema)];
  }),
);

/** The first problem of a tool's arguments, or null. `schema` is that of the session's agents. */
export function argumentProblem(
  { name }: Tool,
  { properties, required }: TObject,
  given: Record<string, unknown>,
): Problem | null {
  const { agent } = given;
  const names = (properties.agent as { enum?: readonly string[] }).enum ?? [];
  if (agent === undefined && required?.includes('agent')) {
    return { pointer: '/agent', message: 'is missing; add it' };
  }
  const problem = checks.get(name)!(given);
  if (problem || agent === undefined || names.includes(agent as string)) return problem;
  const allowed = names.map((one) => JSON.stringify(one)).join(', ');
  return {
    pointer: '/agent',
    message: `must be equal to one of the allowed values: ${allowed}`,
  };
}
