/**
 * Tools for language models, in the order in which a model sees them. Titles, arguments, bounds and
 * results derive from the API contract. A tool adds what a model must know beyond the contract.
 */

import type { AgentClient } from '../../../api/client/index.js';
import { commandRoutes } from '../../../api/contract/commands.js';
import { reads } from '../../../api/contract/reads.js';
import {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from '../../../engine/protocol/bundled/typebox.js';
import { definePattern } from '../../../engine/protocol/patterns.js';
import type { CommandKind } from '../../../engine/protocol/schema/command.js';
import { AllianceId } from '../../../engine/protocol/schema/primitives.js';
import {
  AllianceProposeBody,
  AllianceRespondBody,
  BlockOption,
  DiscussBody,
  MemeForm,
  RegisterBody,
  StateDiff,
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
  CURSOR_PATTERN,
  formatCursor,
  parseCursor,
  topics,
} from './acting-agents.js';
import {
  agentView,
  blockView,
  type Data,
  markSchema,
  markUntrusted,
  networkView,
  selfView,
} from './untrusted.js';

interface Context {
  by: ActingAgent;
  /** Aborts when the client cancels the call or the server stops. */
  signal: AbortSignal;
}

/** Annotations for the user of the host. */
interface Hints {
  readOnlyHint?: boolean;
  idempotentHint?: boolean;
  destructiveHint?: boolean;
}

/** A tool. `P` are its arguments without `agent`. */
interface Tool<P extends TProperties = TProperties> {
  name: string;
  title: string;
  description: string;
  input: P;
  output?: TSchema;
  /** Common wrong names for arguments. The refusal states the correct name. */
  synonyms?: Readonly<Record<string, string>>;
  hints: Hints;
  acts: boolean;
  /** Returns data in which untrusted text is marked. The arguments are valid. */
  call(args: Static<TObject<P>>, context: Context): Promise<Data>;
}

/** Erases the types of a tool's arguments, which {@link findArgumentProblem} checks. */
const tool = <P extends TProperties>(from: Tool<P>) => from as unknown as Tool;

type Sent<P extends TProperties> = Pick<Tool<P>, 'name' | 'input' | 'synonyms'> & {
  /** Text after the command's summary. */
  note: string;
  hints?: Hints;
  send(args: Static<TObject<P>>, client: AgentClient): Promise<unknown>;
};

/** Returns a tool that sends a command, or one of several with the same response. */
const command = <P extends TProperties>(kind: CommandKind, { note, send, ...from }: Sent<P>) =>
  tool<P>({
    title: commandRoutes[kind].summary,
    description: `${commandRoutes[kind].summary}. ${note}`,
    output: commandRoutes[kind].answer!,
    hints: { idempotentHint: true, destructiveHint: false },
    acts: true,
    ...from,
    call: async (args, { by }) => markUntrusted(await send(args, by.client)) as Data,
  });

type AllOptional<P extends TProperties> = { [K in keyof P]: TOptional<P[K]> };

const optional = <P extends TProperties>(properties: P): AllOptional<P> =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as AllOptional<P>;

const amount = (usual: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `default: ${usual}` }));

/** Invalid arguments. `pointer` locates the argument. */
export class Mistake extends Error {
  override name = 'Mistake';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

const { personality, capabilities } = RegisterBody.properties;

const register = command('register', {
  name: 'register',
  note: `${commandRoutes.register.text} Required once, before any action except look. The agent \
is active at once, and blocks wait for its votes. Call set_status "inactive" when you stop. \
Defaults: personality neutral, both capabilities.`,
  input: {
    ...Type.Omit(RegisterBody, ['public_key']).properties,
    ...optional({ personality, capabilities }),
  },
  send: (fields, client) =>
    client.register({
      ...fields,
      personality: fields.personality ?? 'neutral',
      capabilities: fields.capabilities ?? ['validator', 'producer'],
    }),
});

const setStatus = command('status', {
  name: 'set_status',
  note: 'Only an active agent is in the electorate of new blocks.',
  input: StatusBody.properties,
  send: ({ status, ...change }, client) => client.setStatus(status, change),
});

const blockNames = { id: 'block_hash', hash: 'block_hash', block: 'block_hash' };

const vote = command('vote', {
  name: 'vote',
  note: `${commandRoutes.vote.text} Look at "voting" and at the block first. The agent must be in \
the electorate: an active validator when the block was proposed. If the rule decides by weight, \
the block is final when "approve" reaches "needed". Other rules count ballots, and "needed" is 0.`,
  input: Type.Omit(VoteBody, ['timestamp', 'signature']).properties,
  synonyms: { ...blockNames, vote: 'decision' },
  async send(fields, client) {
    const { outcome: _, ...answer } = await client.vote(fields);
    if ('error' in answer) throw answer.error;
    return answer;
  },
});

const { additions } = StateDiff.properties;

function changeOf(set: Record<string, unknown> = {}, removed: readonly string[] = []) {
  if (Object.keys(set).length + removed.length === 0) return {};
  const deletions = Object.fromEntries(removed.map((key) => [key, true]));
  return { state_diff: { additions: { ...set }, deletions } };
}

const propose = command('propose', {
  name: 'propose',
  note: `The block follows the current head. It contains transactions, which this tool signs, and \
changes to the shared state. Requires the capability "producer". An agent can have one block in \
voting. Then wait for the outcome, and vote on the block if the agent is a validator.`,
  input: {
    transactions: Type.Optional(
      Type.Array(TransactionBody.properties.data, {
        maxItems: 1_000,
        description: 'data of each transaction; no duplicates',
      }),
    ),
    set: Type.Optional({ ...additions, description: 'keys of the shared state, with new values' }),
    delete: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
        maxItems: 1_000,
        description: 'keys of the shared state to remove',
      }),
    ),
    options: Type.Optional(
      Type.Array(Type.Object({ name: BlockOption.properties.name, set: additions }), {
        minItems: 2,
        maxItems: 16,
        description: 'for a network whose rule chooses an option, with keys to set if chosen',
      }),
    ),
  },
  hints: { destructiveHint: false },
  send: ({ transactions = [], set, delete: removed, options }, client) =>
    client.propose({
      transactions,
      ...changeOf(set, removed),
      ...omitAbsent({ options: options?.map(({ name, set }) => ({ name, ...changeOf(set) })) }),
    }),
});

const discuss = command('discuss', {
  name: 'discuss',
  note: 'All agents can read the comment. Default sentiment: neutral.',
  input: {
    ...DiscussBody.properties,
    ...optional({ sentiment: DiscussBody.properties.sentiment }),
  },
  synonyms: { ...blockNames, text: 'message' },
  send: ({ sentiment = 'neutral', ...fields }, client) => client.discuss({ ...fields, sentiment }),
});

/** The protocol's limit of 1 MiB, in base64. */
const MOST_BASE64 = 1_398_104;

const postMeme = command('meme', {
  name: 'post_meme',
  note: `${commandRoutes.meme.text} Votes can refer to its meme_id. Give exactly one of text and \
image_base64.`,
  input: {
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
    image_base64: Type.Optional(
      Type.String({
        pattern: definePattern('^[A-Za-z0-9+/]+={0,2}$', 'base64'),
        maxLength: MOST_BASE64,
        description: 'base64 of the file',
      }),
    ),
    ...optional(Type.Omit(MemeForm, ['content_sha256']).properties),
  },
  send({ text, image_base64: base64, ...about }, client) {
    if ((text === undefined) === (base64 === undefined)) {
      throw new Mistake('/text', 'expected exactly one of text and image_base64');
    }
    const file = base64 === undefined ? text! : new Uint8Array(Buffer.from(base64, 'base64'));
    return client.postMeme({ file, ...about });
  },
});

const founding = commandRoutes.alliance_propose;

const ally = tool({
  ...command('alliance_propose', {
    name: 'ally',
    note: `${founding.text} The action "propose" invites the agents in target_ids. "respond" \
accepts or declines an invitation (accept). "leave" ends the membership. Invitations arrive as \
news of type alliance_update. Durations: PT1M to P30D, by default PT1H.`,
    input: {
      action: Type.Enum(['propose', 'respond', 'leave']),
      ...optional(AllianceProposeBody.properties),
      alliance_id: Type.Optional({ ...AllianceId, description: 'for respond and leave' }),
      accept: Type.Optional({
        ...AllianceRespondBody.properties.accepted,
        description: 'for respond',
      }),
    },
    synonyms: { id: 'alliance_id', agents: 'target_ids', members: 'target_ids' },
    send({ action, alliance_id, accept, target_ids, purpose, duration }, client) {
      const needed = <T>(value: T | undefined, member: string): T => {
        if (value !== undefined) return value;
        const need = `missing ${member}; action "${action}" needs this argument`;
        throw new Mistake(`/${member}`, need);
      };
      const id = () => needed(alliance_id, 'alliance_id');
      if (action === 'leave') return client.leaveAlliance(id());
      if (action === 'respond') return client.respondAlliance(id(), needed(accept, 'accept'));
      return client.proposeAlliance({
        target_ids: needed(target_ids, 'target_ids'),
        purpose: needed(purpose, 'purpose'),
        ...omitAbsent({ duration }),
      });
    },
  }),
  title: 'Propose, answer or leave an alliance',
});

const USUAL_ROWS = 20;

/** A view of the network. `id` is the parameter that the view needs. */
interface View {
  about: string;
  id?: { expected: string; read(sent: string | null): string | undefined };
  read(client: AgentClient, args: LookArgs & { id: string }): Promise<unknown>;
}

interface LookArgs {
  status?: (typeof reads.blocks.query.status.schema.enum)[number];
  limit?: number;
  next_cursor?: string;
}

const page = ({ limit = USUAL_ROWS, next_cursor: cursor }: LookArgs) => ({
  limit,
  ...omitAbsent({ cursor }),
});

const views = {
  network: {
    about: `${reads.state.summary}, rules, limits and the cursor for wait_for_news`,
    read: networkView,
  },
  me: {
    about: 'Own status and reputation. If not registered, call register',
    read: (client) => selfView(client, client.agentId),
  },
  voting: {
    about: 'Blocks to vote on',
    read: (client, args) => client.blocks({ ...page(args), status: 'voting' }),
  },
  blocks: {
    about: reads.blocks.summary,
    read: (client, { status, ...args }) =>
      client.blocks({ ...page(args), ...omitAbsent({ status }) }),
  },
  block: {
    about: `${reads.block.summary} and its votes`,
    id: reads.block.parameters.block_hash,
    read: (client, { id }) => blockView(client, id),
  },
  agents: {
    about: reads.agents.summary,
    read: (client, { limit = USUAL_ROWS }) => client.agents({ limit }),
  },
  agent: {
    about: `${reads.agent.summary} and its reputation`,
    id: reads.agent.parameters.agent_id,
    read: (client, { id }) => agentView(client, id),
  },
  alliances: {
    about: reads.alliances.summary,
    read: (client, args) => client.alliances(page(args)),
  },
  state: {
    about: reads.stateValue.summary,
    id: reads.stateValue.parameters.key,
    read: (client, { id }) => client.state(id),
  },
} satisfies Record<string, View>;

const look = tool({
  name: 'look',
  title: 'Look at the network',
  description: `Reads the network. Changes nothing. Start with "network" and "me". Before a vote, \
look at "voting" and then at the "block".`,
  input: {
    what: Type.Enum(Object.keys(views) as (keyof typeof views)[], {
      description: Object.entries<View>(views)
        .map(([name, { about, id }]) => `${name}: ${about}${id ? ' (id)' : ''}.`)
        .join(' '),
    }),
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    status: Type.Optional({ ...reads.blocks.query.status.schema, description: 'for blocks' }),
    limit: amount(USUAL_ROWS),
    next_cursor: Type.Optional(
      Type.String({ maxLength: 256, description: 'next_cursor of the previous page of this list' }),
    ),
  },
  synonyms: {
    ...{ block_hash: 'id', hash: 'id', block: 'id', agent_id: 'id', key: 'id' },
    ...{ cursor: 'next_cursor', kind: 'what', view: 'what' },
  },
  hints: { readOnlyHint: true },
  acts: false,
  async call({ what, id = null, ...args }, { by }) {
    const view: View = views[what];
    const known = view.id ? view.id.read(id) : '';
    if (known !== undefined) {
      return markUntrusted(await view.read(by.client, { ...args, id: known })) as Data;
    }
    const expected = view.id!.expected;
    throw new Mistake('/id', `invalid or missing id; look "${what}" needs ${expected}`);
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
  description: `Waits for events after a cursor: new blocks (block_proposal), outcomes \
(block_status), votes (block_validation), comments (consensus_discussion), memes (meme_posted), \
alliances (alliance_update), agent status (agent_status). Pass the cursor of the previous result, \
or first of look "network", and no event is missed. Without a cursor, the tool waits for events \
from now on. An empty list means a timeout: call again with the new cursor.`,
  input: {
    cursor: Type.Optional(
      Type.String({ pattern: CURSOR_PATTERN, description: 'cursor of the previous result' }),
    ),
    timeout_s: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MOST_WAIT_S,
        description: `default: ${USUAL_WAIT_S}`,
      }),
    ),
    topics: Type.Optional(
      Type.Array(Type.Enum([...topics]), {
        minItems: 1,
        maxItems: topics.length,
        description: `default: ${usualTopics.join(', ')}`,
      }),
    ),
    limit: amount(USUAL_EVENTS),
  },
  output: Type.Object({
    events: Type.Array(Type.Object({}, { description: 'an event: seq, type and data' })),
    cursor: Type.String({ pattern: CURSOR_PATTERN, description: 'pass it to the next call' }),
    more: Type.Boolean({ description: 'more events are available now' }),
    missed: Type.Boolean({ description: 'the history of the server changed' }),
  }),
  hints: { readOnlyHint: true },
  acts: true,
  async call(
    { timeout_s = USUAL_WAIT_S, topics: wanted = usualTopics, limit = USUAL_EVENTS, cursor },
    { by, signal },
  ) {
    const from = cursor === undefined ? null : parseCursor(cursor);
    const wait = { topics: new Set(wanted), limit, waitMs: timeout_s * 1_000, signal };
    const { events, cursor: reached, more, missed } = await by.news.wait(from, wait);
    return { events: markUntrusted(events), cursor: formatCursor(reached), more, missed };
  },
});

const tools = [
  ...[look, register, setStatus, vote, propose, discuss, postMeme, ally],
  waitForNews,
] as const satisfies readonly Tool[];

/** Argument checks per tool, independent of the agents that a server acts as. */
const checks = new Map(
  tools.map(({ name, input }) => {
    const schema = Type.Object(
      { agent: Type.Optional(Type.String()), ...input },
      { additionalProperties: false },
    );
    return [name, validator(`mcp_${name}`, schema)];
  }),
);

export interface OfferedTool {
  tool: Tool;
  input: TObject;
  /** Declaration for tools/list. */
  shown: {
    name: string;
    title: string;
    description: string;
    inputSchema: { type: 'object' };
    outputSchema?: { type: 'object' };
    annotations: Hints & { title: string; openWorldHint: boolean };
  };
}

export function offerTools(names: readonly string[]): ReadonlyMap<string, OfferedTool> {
  return new Map(tools.map((one) => [one.name, offered(one, names)]));
}

function offered(tool: Tool, names: readonly string[]): OfferedTool {
  const { name, title, description, output, hints, acts } = tool;
  const about = acts ? 'Acting agent.' : `Own agent. Default: ${names[0]}.`;
  const agent = Type.Enum([...names], { description: about });
  const who = { agent: acts && names.length > 1 ? agent : Type.Optional(agent) };
  const input = Type.Object({ ...who, ...tool.input }, { additionalProperties: false });
  const annotations = { title, ...hints, openWorldHint: true };
  const shown = { name, title, description, inputSchema: portable(input), annotations };
  if (!output) return { tool, input, shown };
  return { tool, input, shown: { ...shown, outputSchema: portable(markSchema(output)) } };
}

/**
 * Rewrites what some models do not understand: an enumeration without a type, patterns of member
 * names, and patterns with classes of Unicode. {@link findArgumentProblem} checks them all.
 */
function portable(schema: TSchema): { type: 'object' } {
  const text = JSON.stringify(schema, (_, value) => {
    if (value?.enum) return { type: 'string', ...value };
    if (value?.patternProperties) return { type: 'object', description: value.description };
    if (value?.pattern?.includes('\\p')) return { ...value, pattern: undefined };
    return value;
  });
  return JSON.parse(text);
}

export function findArgumentProblem(
  { tool: { name, synonyms = {} }, input: { properties, required } }: OfferedTool,
  given: Record<string, unknown>,
): Mistake | null {
  const known = Object.keys(properties);
  const unknown = Object.keys(given).find((one) => !known.includes(one));
  if (unknown !== undefined) return unknownArgument(unknown, known, synonyms);
  const { agent } = given;
  const names = (properties.agent as { enum?: readonly string[] }).enum ?? [];
  const problem = checks.get(name)!(given) ?? agentProblem(agent, names, required);
  return problem && new Mistake(problem.pointer, `${problem.pointer} ${problem.message}`);
}

function agentProblem(
  agent: unknown,
  names: readonly string[],
  required: readonly string[] = [],
): Problem | null {
  if (agent === undefined ? !required.includes('agent') : names.includes(agent as string)) {
    return null;
  }
  return { pointer: '/agent', message: `must be one of ${names.join(', ')}` };
}

/** Returns the error for an unknown argument, with the nearest known name. */
function unknownArgument(
  name: string,
  known: readonly string[],
  synonyms: Readonly<Record<string, string>>,
): Mistake {
  const meant = Object.hasOwn(synonyms, name) ? synonyms[name]! : nearest(name, known);
  const shown = /^\w{1,64}$/.test(name) ? `: ${name}` : '';
  const hint = meant === null ? '' : `did you mean ${meant}? `;
  const message = `unknown argument${shown}; ${hint}expected ${known.join(', ')}`;
  return new Mistake(`/${pointerStep(name.slice(0, 64))}`, message);
}
