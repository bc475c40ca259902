/** A decider as an MCP server, with the official SDK over streamable HTTP. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';
import { bySoundness, type Posted } from '../fixture.js';

/** Result of the tool for a question. */
export type Tool = (question: Posted) => CallToolResult | Promise<CallToolResult>;

/** Intercepts a request before the SDK; returns false to pass it on. */
export type Before = (
  request: IncomingMessage,
  response: ServerResponse,
  message: { method?: string; id?: number },
) => boolean;

export interface McpDecider {
  url: string;
  asked: Posted[];
  tool: Tool;
  /** Names of the listed tools. */
  tools: string[];
  before: Before;
  sessions: Map<string, Server>;
  /** Number of sessions started. */
  begun: number;
  close(): Promise<void>;
}

export const said = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
});

export const votes: Tool = (question) =>
  said(bySoundness(question, undefined as never, undefined as never));

/** Starts a server; closes it at the end of the test. @param json true to answer without events. */
export async function mcpDecider(tool: Tool = votes, json = false): Promise<McpDecider> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  async function begun(): Promise<StreamableHTTPServerTransport> {
    const server = serverOf();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: json,
      onsessioninitialized(id) {
        decider.begun += 1;
        transports.set(id, transport);
        decider.sessions.set(id, server);
      },
    });
    server.onclose = () => void decider.sessions.delete(transport.sessionId ?? '');
    await server.connect(transport as Transport);
    return transport;
  }
  function serverOf(): Server {
    const server = new Server({ name: 'minds', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: decider.tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
      const question = params.arguments as unknown as Posted;
      decider.asked.push(question);
      return decider.tool(question);
    });
    return server;
  }
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const message = text === '' ? {} : JSON.parse(text);
    if (decider.before(request, response, message)) return;
    const id = request.headers['mcp-session-id'];
    const known = id === undefined ? await begun() : transports.get(String(id));
    if (known && (id === undefined || decider.sessions.has(String(id)))) {
      await known.handleRequest(request, response, message);
    } else response.writeHead(404).end();
  }
  const http = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  onTestFinished(close);
  const decider: McpDecider = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    asked: [],
    tool,
    tools: ['decide'],
    before: () => false,
    sessions: new Map(),
    begun: 0,
    close,
  };
  return decider;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
