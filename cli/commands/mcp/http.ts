/**
 * `folkmoot mcp` over streamable HTTP, without sessions. The SDK serves each request by the
 * revision that it names. Each request must first pass a check of its head.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { AllowedHosts } from '../../../api/http/entry-checks.js';
import { createListenFailure } from '../../../api/transport/transport.js';
import { Strangers } from '../../../cluster/peer/server.js';
import { listenError, type StopSignal, UsageError } from '../../output/exit.js';
import { printJson, writeStderr } from '../../output/output.js';
import { type McpService, MOST_MESSAGE_BYTES, reportFault } from './server.js';

const MOST_CONNECTIONS = 2_048;
/** Maximum number of connections without the token. */
const MOST_STRANGERS = 1_024;
/** Maximum number of subscriptions, which never receive a notification because no list changes. */
const MOST_SUBSCRIPTIONS = 16;
/** Timeouts for a request head and for a whole request, and the interval between checks. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;
/** Time for the last responses to reach their clients. */
const GRACE_MS = 2_000;

interface HttpOptions {
  host: string;
  port: number;
  hosts: readonly string[];
}

/** Serves until a signal arrives. @throws {UsageError} @throws {Failure} */
export async function serveHttp(
  service: McpService,
  options: HttpOptions,
  stopping: StopSignal,
): Promise<void> {
  const { token, own } = tokenOf(process.env.FOLKMOOT_MCP_TOKEN);
  const door = doorOf(token, options.hosts);
  const handler = createMcpHandler(() => service.createServer(), {
    maxSubscriptions: MOST_SUBSCRIPTIONS,
    onerror: (error) => reportFault(error.message),
  });
  const answering = new Set<Promise<void>>();
  const timeouts = { headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS };
  const server = createServer(
    { ...timeouts, connectionsCheckingInterval: CHECK_MS },
    (request, response) => {
      const turned = door.turnsAway(request);
      if (turned) return turnAway(response, turned);
      strangers.isKnown(request.socket);
      const answered = answerRequest(request, response, handler).catch((error) => {
        // An error after the client has disconnected is expected.
        if (!response.destroyed) reportFault(error);
        turnAway(response, { status: 500, message: 'internal error; see the log of folkmoot mcp' });
      });
      answering.add(answered);
      answered.then(() => answering.delete(answered));
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  const strangers = new Strangers(server, { most: MOST_STRANGERS, ms: HEAD_MS });
  const url = await listening(server, options);
  printJson({ event: 'listening', url, ...(own ? {} : { token }) });
  const { urls, names } = service.agents;
  writeStderr(`folkmoot mcp: serving ${urls.join(', ')} at ${url} as ${names.join(', ')}`);
  await stopping.requested;
  server.close();
  await service.end();
  await handler.close();
  await Promise.race([Promise.all(answering), sleep(GRACE_MS, null, { ref: false })]);
  server.closeAllConnections();
}

/** Passes a request to the SDK. A client that disconnects cancels its request. */
async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  handler: McpHttpHandler,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const body = await bodyOf(request);
  if (body === null) {
    request.resume();
    return turnAway(response, { status: 413, message: 'body too large (limit 2 MiB)' });
  }
  const headers = Object.entries(request.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const url = `http://${request.headers.host}${PATH}`;
  const { signal } = gone;
  const answer = await handler.fetch(new Request(url, { method: 'POST', headers, body, signal }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
}

/** Returns null for a body over the limit. */
async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | null> {
  if (Number(request.headers['content-length']) > MOST_MESSAGE_BYTES) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_MESSAGE_BYTES) return null;
  }
  return Buffer.concat(chunks);
}

interface TurnedAway {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

/** Sends a JSON-RPC error and closes the connection. */
function turnAway(response: ServerResponse, { status, message, headers }: TurnedAway): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, {
    'Content-Type': 'application/json',
    Connection: 'close',
    ...headers,
  });
  const error = { code: -32_000, message };
  response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
}

function tokenOf(given: string | undefined): { token: string; own: boolean } {
  if (given === undefined) return { token: randomBytes(32).toString('base64url'), own: false };
  if (/^[\x21-\x7e]{32,512}$/.test(given)) return { token: given, own: true };
  const expected = '32 to 512 printable characters without spaces';
  throw new UsageError('INVALID_OPTION', { option: 'FOLKMOOT_MCP_TOKEN', expected });
}

function doorOf(token: string, names: readonly string[]): Door {
  try {
    return new Door({ token, names });
  } catch (error) {
    const problem = (error as Error).message;
    const value = names.join(',');
    throw new UsageError('INVALID_ARGUMENT', { option: '--hosts', value, problem });
  }
}

async function listening(
  server: ReturnType<typeof createServer>,
  { host, port }: HttpOptions,
): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason = createListenFailure({ host, port }, error).message;
    throw listenError('CANNOT_SERVE', { reason });
  }
  const { address, family, port: taken } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${PATH}`;
}

/*
 * Checks on the request head: Host (against DNS rebinding), Origin (against web pages), path, token
 * and method.
 */

const PATH = '/mcp';

class Door {
  readonly #token: Buffer;
  readonly #names: AllowedHosts;

  /** @throws for an invalid host name. */
  constructor({ token, names }: { token: string; names: readonly string[] }) {
    this.#token = hashed(token);
    this.#names = new AllowedHosts(names);
  }

  /** Returns the refusal, or null for an admitted request. */
  turnsAway({ headers, method = '', url = '' }: IncomingMessage): TurnedAway | null {
    const { host, origin, authorization } = headers;
    if (!this.#names.has(host)) {
      return { status: 421, message: 'unknown Host header; allow it with --hosts' };
    }
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      return { status: 403, message: 'origin not allowed' };
    }
    if (url.split('?')[0] !== PATH) return { status: 404, message: `not found; use ${PATH}` };
    if (!this.#has(authorization)) {
      const message = 'missing or invalid token; send the header Authorization: Bearer TOKEN';
      return { status: 401, message, headers: { 'WWW-Authenticate': 'Bearer' } };
    }
    if (method === 'POST') return null;
    return { status: 405, message: 'method not allowed; use POST', headers: { Allow: 'POST' } };
  }

  /** Compares hashes in constant time. */
  #has(authorization = ''): boolean {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && timingSafeEqual(hashed(token), this.#token);
  }
}

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest();
