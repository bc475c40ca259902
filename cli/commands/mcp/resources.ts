/** Resources: the network, each block and each agent, as JSON to be read. */
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { NetworkClient } from '../../../api/client/index.js';
import type { ActingAgents } from './acting.js';
import { failed, tellFault } from './results.js';
import { agentView, blockView, type Data, networkView } from './views.js';

const mimeType = 'application/json';
const marks = 'What others wrote in it is marked as untrusted.';

interface Template {
  pattern: RegExp;
  uriTemplate: string;
  name: string;
  description: string;
  read(client: NetworkClient, id: string): Promise<Data>;
}

const templates: readonly Template[] = [
  {
    pattern: /^folkmoot:\/\/block\/([0-9a-fA-F]{64})$/,
    uriTemplate: 'folkmoot://block/{block_hash}',
    name: 'block',
    description: `A block: its status, proposal and votes. ${marks}`,
    read: blockView,
  },
  {
    pattern: /^folkmoot:\/\/agent\/(agent_[0-9a-f]{32})$/,
    uriTemplate: 'folkmoot://agent/{agent_id}',
    name: 'agent',
    description: `An agent: who it is, its status and reputation. ${marks}`,
    read: agentView,
  },
];

const network = {
  uri: 'folkmoot://network',
  name: 'network',
  description: 'The network: its height and head, who is active, its rules and limits.',
  mimeType,
};

/** Has a session answer for them. */
export function addResources(server: Server, agents: ActingAgents): void {
  const { client } = agents.get()!;
  const own = agents.names.map((name) => ({
    uri: `folkmoot://agent/${agents.get(name)!.client.agentId}`,
    name,
    description: `An agent that you act as. ${marks}`,
    mimeType,
  }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [network, ...own] }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: templates.map(({ uriTemplate, name, description }) => {
      return { uriTemplate, name, description, mimeType };
    }),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const text = JSON.stringify(await read(client, uri));
    return { contents: [{ uri, mimeType, text }] };
  });
}

/** A resource that is not there. */
const NOT_FOUND = -32_002;

async function read(client: NetworkClient, uri: string): Promise<Data> {
  const views = templates.flatMap(({ pattern, read }) => {
    const id = pattern.exec(uri)?.[1];
    return id === undefined ? [] : [() => read(client, id)];
  });
  const view = uri === network.uri ? () => networkView(client) : views[0];
  if (!view) {
    const known = [network.uri, ...templates.map(({ uriTemplate }) => uriTemplate)].join(', ');
    throw new McpError(NOT_FOUND, `there is no such resource; expected ${known}`);
  }
  try {
    return await view();
  } catch (error) {
    throw new McpError(NOT_FOUND, reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  try {
    const [first] = failed(error).content;
    if (first?.type === 'text') return first.text;
  } catch {
    tellFault(error);
  }
  return `a fault of folkmoot mcp: its log says more (${ErrorCode.InternalError})`;
}
