/** MCP hosts for tests: the official client, over standard input or HTTP, of either revision. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished } from 'vitest';
import { folkmoot } from '../../support/cli.js';
import { main } from '../../support/paths.js';

export type Data = Record<string, unknown>;

export interface Host {
  client: Client;
  /** Calls a tool and returns the result or the refusal. */
  call(name: string, args?: Data): Promise<{ said: string; isError: boolean; data: Data }>;
  /** Calls a tool, expects success, and returns the data. */
  done(name: string, args?: Data): Promise<Data>;
  close(): Promise<void>;
}

/** Writes a new key to a file of this name. */
export async function keyFile(folder: string, name: string): Promise<string> {
  const file = join(folder, `${name}.key.json`);
  const { code, stderr } = await folkmoot(['keygen', '--out', file]);
  expect([code, stderr]).toEqual([0, '']);
  return file;
}

export const secretOf = (file: string): string =>
  JSON.parse(readFileSync(file, 'utf8')).private_key as string;

const argsOf = (url: string, keys: readonly string[]) => [
  'mcp',
  '--url',
  url,
  ...keys.flatMap((file) => ['--key', file]),
];

export type Revision = '2026-07-28' | '2025-11-25';

async function connected(transport: Transport, revision: Revision): Promise<Host> {
  const mode = revision === '2025-11-25' ? ('legacy' as const) : { pin: revision };
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  const close = () => client.close();
  onTestFinished(close);
  // From here on, the client checks results against the schemas of the tools.
  await client.listTools();
  const call = async (name: string, args: Data = {}) => {
    const { content, isError, structuredContent } = await client.callTool({
      name,
      arguments: args,
    });
    const [first, second] = content as { type: string; text: string }[];
    // The text content equals the structured content.
    if (second) expect(JSON.parse(second.text)).toEqual(structuredContent);
    return { said: first!.text, isError: isError === true, data: structuredContent as Data };
  };
  const done = async (name: string, args: Data = {}) => {
    const { said, isError, data } = await call(name, args);
    expect(isError, said).toBe(false);
    return data;
  };
  return { client, call, done, close };
}

/** Starts the command and connects over standard input. */
export function overStdio(
  url: string,
  keys: readonly string[],
  revision: Revision = '2026-07-28',
): Promise<Host> {
  const args = [main, ...argsOf(url, keys)];
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
  return connected(transport, revision);
}

/** A command that listens on a free port. */
export interface Listening {
  url: string;
  token: string;
  stop(): Promise<number | null>;
}

export async function listening(
  url: string,
  keys: readonly string[],
  env: Record<string, string> = {},
): Promise<Listening> {
  const child = spawn(process.execPath, [main, ...argsOf(url, keys), '--http', '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ended)[0];
  };
  onTestFinished(async () => void (await stop()));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { ...(JSON.parse(line) as { url: string; token: string }), stop };
}

/** Connects to a listening command. */
export function overHttp(
  { url, token }: Pick<Listening, 'url' | 'token'>,
  revision: Revision = '2026-07-28',
): Promise<Host> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  return connected(new StreamableHTTPClientTransport(new URL(url), { requestInit }), revision);
}
