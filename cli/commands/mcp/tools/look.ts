/** The tool that looks: at the network, its blocks, agents and alliances. */
import type { BlockPage, PageQuery } from '../../../../api/client/index.js';
import { BlockStatus, type Static, type TObject, Type } from '../../../../engine/internal.js';
import { given } from '../../../options/client.js';
import { marked, sentence } from '../untrusted.js';
import { agentView, blockView, type Data, networkView, selfView } from '../views.js';
import { oneOf, rows } from './fields.js';
import { type Context, Mistake, type Said, type Tool, tool } from './tool.js';

const USUAL_ROWS = 20;

const input = {
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

type Args = Static<TObject<typeof input>>;

const look = tool({
  name: 'look',
  title: 'Look at the network',
  description:
    'Looks at the network without changing anything. Begin with "network" and "me"; before ' +
    'a vote, look at "voting" and then at the "block".',
  input,
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
  call: (args, context) => views[args.what](args, context),
});

type View = (args: Args, context: Context) => Promise<Said>;

const views: Record<Args['what'], View> = {
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
    const data = marked(await by.client.agents({ limit })) as Data;
    return { said: 'The active validators and producers.', data };
  },
  async agent(args, { by }) {
    const data = await agentView(by.client, idOf(args, /^agent_[0-9a-f]{32}$/, 'agent_...'));
    return { said: sentence`${data.id} is ${data.status}.`, data };
  },
  async alliances(args, { by }) {
    const page = await by.client.alliances(pageOf(args));
    const said = sentence`Alliances: ${page.alliances.length}.`;
    return { said, data: marked(page) as Data };
  },
  async state(args, { by }) {
    const data = marked(await by.client.state(idOf(args, /^[\x21-\x7e]{1,128}$/, 'a key'))) as Data;
    return { said: sentence`It was written by block ${data.block_hash}.`, data };
  },
};

async function listed({ status, ...args }: Args, { by }: Context): Promise<Said> {
  const page: BlockPage = await by.client.blocks({ ...pageOf(args), ...given({ status }) });
  const said = sentence`Blocks: ${page.blocks.length}.`;
  return { said, data: marked(page) as Data };
}

function pageOf({ limit = USUAL_ROWS, next_cursor: cursor }: Omit<Args, 'status'>): PageQuery {
  return { limit, ...given({ cursor }) };
}

function idOf({ what, id }: Args, pattern: RegExp, expected: string): string {
  if (id !== undefined && pattern.test(id)) return id;
  throw new Mistake('/id', `to look at ${what}, id must be ${expected}`);
}

export const lookTools: readonly Tool[] = [look];
