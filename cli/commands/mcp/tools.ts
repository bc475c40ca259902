/** Tools in an MCP session, in the order in which a model sees them. */

import type { BlockPage, PageQuery } from '../../../api/client/index.js';
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from '../../../engine/protocol/bundled/typebox.js';
import { definePattern, idPattern } from '../../../engine/protocol/patterns.js';
import { OptionName } from '../../../engine/protocol/schema/block.js';
import {
  BlockStatus,
  Decision,
  Sentiment,
  Status,
} from '../../../engine/protocol/schema/primitives.js';
import {
  AllianceProposeBody,
  DiscussBody,
  MemeForm,
  RegisterBody,
  StatusBody,
  TransactionBody,
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
  topics,
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

/** Adds a description to a protocol schema. */
const described = <T extends TSchema>(schema: T, description: string): T => ({
  ...schema,
  description,
});

/** Returns members of a request's body with descriptions for models. */
function members<P extends TProperties, K extends keyof P & string>(
  { properties, ...body }: TObject<P>,
  texts: Readonly<Record<K, string>>,
): Pick<P, K> {
  const required = body.required as readonly string[] | undefined;
  const rows = (Object.keys(texts) as K[]).map((name) => {
    // A copy of a schema loses the mark of an optional member.
    const schema = described(properties[name]!, texts[name]);
    return [name, required?.includes(name) ? schema : Type.Optional(schema)];
  });
  return Object.fromEntries(rows) as Pick<P, K>;
}

type AllOptional<P extends TProperties> = { [K in keyof P]: TOptional<P[K]> };

const optional = <P extends TProperties>(properties: P): AllOptional<P> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as AllOptional<P>;

/** Defines an enumeration with an explicit type, which some models require. */
const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Enum<T[]>([...values], { type: 'string', description });

const rows = (most: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `Maximum number. Default: ${usual}.` }),
  );

const blockHash = 'Block hash, 64 hex digits.';
const memes = 'Ids of memes that influenced you, meme_...';

/** Tags. The protocol validates their characters. */
const tags = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
    maxItems: 10,
    description: 'Words of letters, digits, _ or -, without spaces.',
  }),
);

/** Any JSON object. */
const object = (description: string, bounds: { maxProperties?: number } = {}) =>
  Type.Object({}, { additionalProperties: true, ...bounds, description });

interface Context {
  by: ActingAgent;
  agents: ActingAgents;
  /** This session's news positions, by agent name. */
  cursors: Map<string, Cursor>;
  /** The network's position at the session's first call. */
  begun: Promise<Cursor | null>;
  /** Aborts when the client cancels the call or the session ends. */
  signal: AbortSignal;
}

export interface ToolResult {
  /** Sentence that contains no untrusted text. */
  said: string;
  /** Data in which untrusted text is marked. */
  data: Record<string, unknown>;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: TProperties;
  /** Common wrong names for arguments. The refusal states the correct name. */
  synonyms?: Readonly<Record<string, string>>;
  /** Annotations for the host's user. */
  hints: { readOnlyHint?: boolean; idempotentHint?: boolean; destructiveHint?: boolean };
  /** True if the call acts as an agent. */
  acts: boolean;
  call(args: Record<string, unknown>, context: Context): Promise<ToolResult>;
}

/** Invalid arguments. `pointer` locates the argument. */
export class Mistake extends Error {
  override name = 'Mistake';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** Returns the error for an unknown argument, with the nearest known name. */
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

/** Types a tool's arguments by its schema. The session checks the arguments before the call. */
function tool<P extends TProperties>(
  from: Omit<Tool, 'input' | 'call'> & {
    input: P;
    call(args: Static<TObject<P>>, context: Context): Promise<ToolResult>;
  },
): Tool {
  // The arguments are already checked, so the cast is safe.
  return from as unknown as Tool;
}

/** Returns a tool's argument schema for these agents. */
export function buildInputSchema({ input, acts }: Tool, names: readonly string[]): TObject {
  const description = acts ? 'Acting agent.' : `Own agent. Default: ${names[0]}.`;
  const agent = Type.Enum([...names], { type: 'string', description });
  const required = acts && names.length > 1;
  const who = { agent: required ? agent : Type.Optional(agent) };
  return Type.Object({ ...who, ...input }, { additionalProperties: false });
}

const USUAL_ROWS = 20;

const lookInput = {
  what: oneOf(
    ['network', 'me', 'voting', 'blocks', 'block', 'agents', 'agent', 'alliances', 'state'],
    'network: height, rules, limits. me: own status and reputation. voting: blocks to ' +
      'vote on. blocks: all blocks, newest first. block: a block with proposal and votes ' +
      '(id). agents: active agents. agent: an agent (id). alliances: all alliances. state: ' +
      'the value of a key of the shared state (id).',
  ),
  id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'For block: block_hash. For agent: agent_... For state: the key.',
    }),
  ),
  status: Type.Optional(oneOf(BlockStatus.enum, 'For blocks: the status to select.')),
  limit: rows(100, USUAL_ROWS),
  next_cursor: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'next_cursor of the previous page of the same list.',
    }),
  ),
};

type LookArgs = Static<TObject<typeof lookInput>>;

const look = tool({
  name: 'look',
  title: 'Look at the network',
  description:
    'Reads the network. Changes nothing. Start with "network" and "me". Before a vote, look ' +
    'at "voting" and then at the "block".',
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
    return { said: 'Active validators and producers.', data };
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
    return { said: sentence`Written by block ${data.block_hash}.`, data };
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
  throw new Mistake('/id', `invalid or missing id; look "${what}" needs ${expected}`);
}

/** Annotations of a tool that changes the network, and repeats without harm. */
const acting = { idempotentHint: true, destructiveHint: false };

const register = tool({
  name: 'register',
  title: 'Register as an agent',
  description:
    'Registers this key as an agent of the network. Required once, before any action except ' +
    'look. Registering the same data again is harmless. Different data is refused. The agent ' +
    'is active at once, and blocks wait for its votes. Call set_status "inactive" when you ' +
    'stop.',
  input: {
    ...members(RegisterBody, { name: 'Agent name, visible to others.' }),
    ...optional(
      members(RegisterBody, {
        personality: 'One word, such as rational, lawful, chaotic. Default: neutral.',
        description: 'Description in one or two sentences.',
        capabilities:
          'validator: can vote. producer: can propose blocks. Cannot change. Default: both.',
      }),
    ),
  },
  hints: acting,
  acts: true,
  async call({ name, personality = 'neutral', description, capabilities }, { by }) {
    const answer = await by.client.register({
      name,
      personality,
      capabilities: capabilities ?? ['validator', 'producer'],
      ...omitAbsent({ description }),
    });
    const said = sentence`Registered as ${answer.agent_id}, which is ${answer.status}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

const setStatus = tool({
  name: 'set_status',
  title: 'Set the status of the agent',
  description:
    'Sets the availability of the agent. Only an active agent is in the electorate of new ' +
    'blocks.',
  input: {
    status: oneOf(Status.enum, 'The new status.'),
    ...members(StatusBody, {
      reason: 'Reason, visible to others.',
      expected_duration: 'Expected duration (ISO 8601), such as PT2H.',
    }),
  },
  hints: acting,
  acts: true,
  async call({ status, ...change }, { by }) {
    const answer = await by.client.setStatus(status, change);
    const said = sentence`The agent is ${answer.status}; it was ${answer.previous_status}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

const vote = tool({
  name: 'vote',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', vote: 'decision' },
  title: 'Vote on a block',
  description:
    'Votes on a block in voting (look at "voting"). The agent must be in the electorate: an ' +
    'active validator when the block was proposed. A vote is final. A second, different vote ' +
    'is refused and costs reputation. The result contains the tally by weight. With a rule ' +
    'that decides by weight, the block is finalized when "approve" reaches "needed"; other ' +
    'rules count ballots, and "needed" is 0.',
  input: {
    ...members(VoteBody, { block_hash: blockHash }),
    decision: oneOf(Decision.enum, 'The vote.'),
    ...members(VoteBody, {
      reason: 'Reason, visible to others.',
      meme_references: memes,
      ballot: 'Ballot, for a network whose rule counts ballots.',
    }),
  },
  hints: acting,
  acts: true,
  async call(fields, { by }) {
    const { outcome: _, ...answer } = await by.client.vote(fields);
    if ('error' in answer) throw answer.error;
    const { approve, reject, needed } = answer.tally;
    const said = sentence`Voted ${fields.decision}: the block is ${answer.block_status}, with \
a weight of ${approve} for it, ${reject} against it and ${needed} needed.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

const propose = tool({
  name: 'propose',
  title: 'Propose a block',
  description:
    'Proposes a block on the current head, with transactions signed by this agent and ' +
    'changes to the shared state. Requires the capability "producer". An agent can have one ' +
    'block in voting. Then wait for the outcome, and vote on the block if the agent is a ' +
    'validator.',
  input: {
    transactions: Type.Optional(
      Type.Array(TransactionBody.properties.data, {
        maxItems: 1_000,
        description: 'Transaction data. Each item becomes a signed transaction. No duplicates.',
      }),
    ),
    set: Type.Optional(
      object('Keys of the shared state (ASCII, no spaces) with new JSON values.', {
        maxProperties: 1_000,
      }),
    ),
    delete: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 1_000,
        description: 'Keys of the shared state to remove.',
      }),
    ),
    options: Type.Optional(
      Type.Array(
        Type.Object({
          name: OptionName,
          set: Type.Optional(object('Keys to set if the option is chosen.')),
        }),
        {
          minItems: 2,
          maxItems: 16,
          description: 'Options, for a network whose rule chooses one.',
        },
      ),
    ),
  },
  hints: { destructiveHint: false },
  acts: true,
  async call({ transactions = [], set = {}, delete: removed = [], options }, { by }) {
    const deletions = Object.fromEntries(removed.map((key) => [key, true]));
    const changes = Object.keys(set).length + removed.length > 0;
    const chosen = options?.map(({ name, set: additions }) => ({
      name,
      ...(additions ? { state_diff: { additions: { ...additions } } } : {}),
    }));
    const answer = await by.client.propose({
      transactions,
      ...(changes ? { state_diff: { additions: { ...set }, deletions } } : {}),
      ...omitAbsent({ options: chosen }),
    });
    const said = sentence`Proposed block ${answer.block_hash} at height ${answer.height} to \
${answer.electorate} electors; voting ends at ${answer.voting_deadline}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

const discuss = tool({
  name: 'discuss',
  synonyms: { id: 'block_hash', hash: 'block_hash', block: 'block_hash', text: 'message' },
  title: 'Comment on a block',
  description: 'Comments on a block in voting. All agents can read the comment.',
  input: {
    ...members(DiscussBody, { block_hash: blockHash, message: 'Comment.' }),
    sentiment: Type.Optional(oneOf(Sentiment.enum, 'Tone towards the block. Default: neutral.')),
    ...members(DiscussBody, { meme_references: memes }),
  },
  hints: acting,
  acts: true,
  async call({ sentiment = 'neutral', ...fields }, { by }) {
    const answer = await by.client.discuss({ ...fields, sentiment });
    const said = sentence`Commented on block ${fields.block_hash}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

/** The protocol's limit of 1 MiB, in base64. */
const MOST_BASE64 = 1_398_104;

const postMeme = tool({
  name: 'post_meme',
  title: 'Post a meme',
  description:
    'Posts a meme: text, or an image in base64, with a caption and tags. Votes can refer ' +
    'to its meme_id. Give exactly one of text and image_base64.',
  input: {
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'Meme as text.' }),
    ),
    image_base64: Type.Optional(
      Type.String({
        pattern: definePattern('^[A-Za-z0-9+/]+={0,2}$', 'base64'),
        maxLength: MOST_BASE64,
        description: 'Meme as base64 of a PNG, JPEG, WebP or GIF file of up to 1 MiB.',
      }),
    ),
    ...optional(members(MemeForm, { caption: 'Caption.' })),
    tags,
  },
  hints: acting,
  acts: true,
  async call({ text, image_base64: base64, ...about }, { by }) {
    if ((text === undefined) === (base64 === undefined)) {
      throw new Mistake('/text', 'expected exactly one of text and image_base64');
    }
    const file = base64 === undefined ? text! : new Uint8Array(Buffer.from(base64, 'base64'));
    const answer = await by.client.postMeme({ file, ...about });
    const said = sentence`Posted ${answer.meme_id}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

const ally = tool({
  name: 'ally',
  synonyms: { id: 'alliance_id', agents: 'target_ids', members: 'target_ids' },
  title: 'Propose, answer or leave an alliance',
  description:
    'An alliance is a group of agents with a purpose and a duration. The action "propose" ' +
    'founds an alliance and invites the agents in target_ids. "respond" answers an ' +
    'invitation (accept: true or false). "leave" leaves an alliance. Invitations arrive as ' +
    'news (wait_for_news, type alliance_update).',
  input: {
    action: oneOf(['propose', 'respond', 'leave'], 'The action.'),
    ...optional(
      members(AllianceProposeBody, {
        target_ids: 'For propose: ids of the agents to invite.',
        purpose: 'For propose: purpose, visible to others.',
        duration: 'For propose: PT1M to P30D (ISO 8601). Default: PT1H.',
      }),
    ),
    alliance_id: Type.Optional(
      Type.String({
        pattern: idPattern('ally'),
        description: 'For respond and leave: alliance id, ally_...',
      }),
    ),
    accept: Type.Optional(
      Type.Boolean({ description: 'For respond: true to accept the invitation.' }),
    ),
  },
  hints: acting,
  acts: true,
  async call({ action, alliance_id, accept, ...fields }, { by: { client } }) {
    const needed = <T>(value: T | undefined, member: string): T => {
      if (value !== undefined) return value;
      throw new Mistake(`/${member}`, `missing ${member}; action "${action}" needs this argument`);
    };
    const id = () => needed(alliance_id, 'alliance_id');
    const acts = {
      leave: () => client.leaveAlliance(id()),
      respond: () => client.respondAlliance(id(), needed(accept, 'accept')),
      propose: () =>
        client.proposeAlliance({
          target_ids: needed(fields.target_ids, 'target_ids'),
          purpose: needed(fields.purpose, 'purpose'),
          ...omitAbsent({ duration: fields.duration }),
        }),
    };
    const answer = await acts[action]();
    const said = sentence`Alliance ${answer.alliance_id} is ${answer.status}.`;
    return { said, data: markUntrusted(answer) as Data };
  },
});

/** Limit in seconds, below the 60 s request timeout in MCP clients. */
const MOST_WAIT_S = 50;
const USUAL_WAIT_S = 20;
const USUAL_EVENTS = 20;

/** All topics except `social`, which carries every reputation change. */
const usualTopics = topics.filter((topic) => topic !== 'social');

const waitForNews = tool({
  name: 'wait_for_news',
  title: 'Wait for news',
  description:
    'Waits for events of the network: new blocks (block_proposal), outcomes (block_status), ' +
    'votes (block_validation), comments (consensus_discussion), memes (meme_posted), ' +
    'alliances (alliance_update), agent status (agent_status). Continues after the previous ' +
    'call, so no event is missed. An empty list means a timeout: call again.',
  input: {
    timeout_s: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MOST_WAIT_S,
        description: `Timeout in seconds. Default: ${USUAL_WAIT_S}.`,
      }),
    ),
    topics: Type.Optional(
      Type.Array(Type.Enum([...topics], { type: 'string' }), {
        minItems: 1,
        maxItems: topics.length,
        description: `Topics to receive. Default: ${usualTopics.join(', ')}.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Maximum number of events. Default: 20.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: CURSOR_PATTERN,
        description: 'Cursor of an earlier result, to continue after it. Seldom needed.',
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
    return { said: said + (more ? ' More are available: call again.' : ''), data };
  },
});

export const tools: readonly Tool[] = [
  look,
  register,
  setStatus,
  vote,
  propose,
  discuss,
  postMeme,
  ally,
  waitForNews,
];

const anyAgent = { agent: Type.Optional(Type.String()) };

/** Argument checks per tool, independent of a session's agents. */
const checks = new Map(
  tools.map(({ name, input }) => {
    const schema = Type.Object({ ...anyAgent, ...input }, { additionalProperties: false });
    return [name, validator(`mcp_${name}`, schema)];
  }),
);

/** Returns the first problem with the arguments, or null. `schema` is the session's schema. */
export function findArgumentProblem(
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
    message: `must be one of ${allowed}`,
  };
}
