/**
 * `folkmoot mcp` over streamable HTTP. Each request must pass a check of its head before a session
 * handles it.
 */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { AllowedHosts } from '../../../api/http/entry-checks.js';
import { createListenFailure } from '../../../api/transport/transport.js';
import { Strangers } from '../../../cluster/peer/server.js';
import { listenError, type StopSignal, UsageError } from '../../output/exit.js';
import { printJson, writeStderr } from '../../output/output.js';
import type { ActingAgents } from './acting-agents.js';
import {
  compileTools,
  createSession,
  type OfferedTool,
  reportFault,
  type Session,
} from './session.js';

const MOST_CONNECTIONS = 256;
/** Maximum number of connections without the token. */
const MOST_STRANGERS = 128;
/** Timeouts for a request head and for a whole request, and the interval between checks. */
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;

interface HttpOptions {
  host: string;
  port: number;
  hosts: readonly string[];
}

/** Serves until a signal arrives. @throws {UsageError} @throws {Failure} */
export async function serveHttp(
  agents: ActingAgents,
  options: HttpOptions,
  stopping: StopSignal,
): Promise<void> {
  const { token, own } = tokenOf(process.env.FOLKMOOT_MCP_TOKEN);
  const door = doorOf(token, options.hosts);
  const sessions = new Sessions(agents);
  const server = createServer(
    {
      headersTimeout: HEAD_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => {
      const turned = door.turnsAway(request);
      if (turned) return turnAway(response, turned);
      strangers.isKnown(request.socket);
      answerRequest(request, response, sessions).catch((error) => {
        reportFault(error);
        turnAway(response, { status: 500, message: 'internal error; see the log of folkmoot mcp' });
      });
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  const strangers = new Strangers(server, { most: MOST_STRANGERS, ms: HEAD_MS });
  const url = await listening(server, options);
  printJson({ event: 'listening', url, ...(own ? {} : { token }) });
  writeStderr(
    `folkmoot mcp: serving ${agents.urls.join(', ')} at ${url} as ${agents.names.join(', ')}`,
  );
  await stopping.requested;
  server.close();
  await sessions.close();
  server.closeAllConnections();
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: Sessions,
): Promise<void> {
  const turned = await sessions.handle(request, response);
  if (turned) turnAway(response, turned);
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

/** Limit in bytes, enough for the largest image in base64 and its envelope. */
const MOST_BODY_BYTES = 2 * 1024 * 1024;
const MOST_SESSIONS = 32;
/** Idle time after which a session is closed. */
const IDLE_MS = 30 * 60_000;

interface Open {
  session: Session;
  /**
   * True if a new session took this session's place, so that ending this session frees no place.
   */
  replaced: boolean;
  transport: StreamableHTTPServerTransport;
  /** Number of unfinished responses. A session with an unfinished response is in use. */
  responses: number;
  usedMs: number;
}

export class Sessions {
  readonly #agents: ActingAgents;
  readonly #offers: ReadonlyMap<string, OfferedTool>;
  readonly #open = new Map<string, Open>();
  /** Number of open and opening sessions, counted before the first await. */
  #places = 0;
  readonly #sweep: NodeJS.Timeout;

  constructor(agents: ActingAgents) {
    this.#agents = agents;
    this.#offers = compileTools(agents);
    this.#sweep = setInterval(() => this.#closeIdle(IDLE_MS), IDLE_MS / 10);
    this.#sweep.unref();
  }

  /** Passes a request to its session, or returns the refusal. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<TurnedAway | null> {
    const id = request.headers['mcp-session-id'];
    const open = id === undefined ? await this.#begun() : this.#open.get(String(id));
    if (open === undefined) return { status: 404, message: 'unknown session; start a new one' };
    if (open === null) {
      const message = `too many sessions in use (limit ${MOST_SESSIONS}); retry later`;
      return { status: 503, message, headers: { 'Retry-After': '60' } };
    }
    if (response.destroyed) {
      // The client has disconnected meanwhile.
      if (id === undefined) await open.session.end();
      return null;
    }
    open.responses += 1;
    response.once('close', () => {
      open.responses -= 1;
      open.usedMs = performance.now();
      // The client disconnected before the session was initialized.
      if (open.transport.sessionId === undefined) open.session.end().catch(reportFault);
    });
    try {
      await open.transport.handleRequest(request, response);
    } finally {
      if (open.transport.sessionId === undefined) await open.session.end();
    }
    return null;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([...this.#open.values()].map(({ session }) => session.end()));
  }

  /** Opens a session. Returns null if all places are in use. */
  async #begun(): Promise<Open | null> {
    const oldest = this.#places < MOST_SESSIONS ? null : this.#oldest();
    if (oldest === undefined) return null;
    if (oldest === null) this.#places += 1;
    else await this.#replace(oldest);
    const opened = createSession(this.#agents, this.#offers);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MOST_BODY_BYTES,
      onsessioninitialized: (id) => {
        if (!closed) this.#open.set(id, open);
      },
    });
    const [responses, usedMs] = [0, performance.now()];
    const open: Open = { session: opened, replaced: false, transport, responses, usedMs };
    let closed = false;
    opened.server.onclose = () => {
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
      if (!closed && !open.replaced) this.#places -= 1;
      closed = true;
    };
    // The SDK declares optional members without exactOptionalPropertyTypes.
    await opened.server.connect(transport as Transport);
    return open;
  }

  /** Returns the session that has been idle longest, or undefined if all sessions are in use. */
  #oldest(): Open | undefined {
    const idle = [...this.#open.values()].filter(({ responses }) => responses === 0);
    return idle.sort((a, b) => a.usedMs - b.usedMs)[0];
  }

  /** Ends an idle session so that a new session can take its place. */
  async #replace(open: Open): Promise<void> {
    open.replaced = true;
    this.#open.delete(open.transport.sessionId!);
    await open.session.end();
  }

  #closeIdle(ms: number): void {
    const before = performance.now() - ms;
    for (const { session, responses, usedMs } of this.#open.values()) {
      if (responses === 0 && usedMs < before) session.end().catch(() => {});
    }
  }
}

/*
 * Checks on the request head: Host (against DNS rebinding), Origin (against web pages), path, token
 * and method.
 */

const PATH = '/mcp';
const methods = ['GET', 'POST', 'DELETE'];

interface TurnedAway {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

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
    if (methods.includes(method)) return null;
    const Allow = methods.join(', ');
    return { status: 405, message: `method not allowed; use ${Allow}`, headers: { Allow } };
  }

  /** Compares hashes in constant time. */
  #has(authorization = ''): boolean {
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && timingSafeEqual(hashed(token), this.#token);
  }
}

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest();
