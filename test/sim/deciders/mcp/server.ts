/** A decider as an MCP server, with the official SDK over streamable HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CallToolResult, createMcpHandler, Server } from '@modelcontextprotocol/server';
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
  tools: string[];
  before: Before;
  /** Number of clients that have connected. */
  begun: number;
  close(): Promise<void>;
}

export const said = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
});

export const votes: Tool = (question) =>
  said(bySoundness(question, undefined as never, undefined as never));

export type Revision = '2026-07-28' | '2025-11-25';

/** Starts a server; closes it at the end of the test. */
export async function mcpDecider(
  tool: Tool = votes,
  revision: Revision = '2026-07-28',
): Promise<McpDecider> {
  function serverOf(): Server {
    const server = new Server({ name: 'minds', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: decider.tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler('tools/call', ({ params }) => {
      const question = params.arguments as unknown as Posted;
      decider.asked.push(question);
      return decider.tool(question);
    });
    return server;
  }
  const handler = createMcpHandler(serverOf, { legacy: 'stateless' });
  const first = revision === '2026-07-28' ? 'server/discover' : 'initialize';
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const message = body === '' ? {} : JSON.parse(body);
    if (message.method === first) decider.begun += 1;
    if (decider.before(request, response, message)) return;
    if (revision === '2025-11-25' && message.method === 'server/discover') {
      return void response.writeHead(404).end();
    }
    const headers = Object.entries(request.headers) as [string, string][];
    const asked = new Request(decider.url, { method: request.method!, headers, body });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
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
