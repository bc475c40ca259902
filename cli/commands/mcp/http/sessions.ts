/** Sessions of hosts that come over HTTP: so many, each by its id, until it is idle for long. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ActingAgents } from '../acting.js';
import { type Offered, offered, type Session, session } from '../session.js';
import type { TurnedAway } from './door.js';

/** The largest picture in base64, and what is around it. */
const MOST_BODY_BYTES = 2 * 1024 * 1024;
const MOST_SESSIONS = 32;
/** One that is not used for as long is closed; its host begins another. */
const IDLE_MS = 30 * 60_000;

interface Open {
  session: Session;
  transport: StreamableHTTPServerTransport;
  /** Responses that are not finished: a host that listens is not idle. */
  responses: number;
  usedMs: number;
}

export class Sessions {
  readonly #agents: ActingAgents;
  readonly #offers: ReadonlyMap<string, Offered>;
  readonly #open = new Map<string, Open>();
  readonly #sweep: NodeJS.Timeout;

  constructor(agents: ActingAgents) {
    this.#agents = agents;
    this.#offers = offered(agents);
    this.#sweep = setInterval(() => this.#closeIdle(IDLE_MS), IDLE_MS / 10);
    this.#sweep.unref();
  }

  /** Hands a request to its session; says why when it has none. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<TurnedAway | null> {
    const id = request.headers['mcp-session-id'];
    const open = id === undefined ? await this.#begun() : this.#open.get(String(id));
    if (open === undefined) return { status: 404, message: 'no such session: begin another' };
    if (open === null) {
      const message = `${MOST_SESSIONS} sessions are in use; expected one of them to end`;
      return { status: 503, message, headers: { 'Retry-After': '60' } };
    }
    open.responses += 1;
    response.once('close', () => {
      open.responses -= 1;
      open.usedMs = performance.now();
    });
    await open.transport.handleRequest(request, response);
    // What began no session after all leaves nothing behind.
    if (open.transport.sessionId === undefined) await open.session.end();
    return null;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([...this.#open.values()].map(({ session }) => session.end()));
  }

  /** A new one, once it is initialized; null where there are too many that are in use. */
  async #begun(): Promise<Open | null> {
    if (this.#open.size >= MOST_SESSIONS && !(await this.#closeOldest())) return null;
    const opened = session(this.#agents, this.#offers);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MOST_BODY_BYTES,
      onsessioninitialized: (id) => void this.#open.set(id, open),
    });
    const open: Open = { session: opened, transport, responses: 0, usedMs: performance.now() };
    opened.server.onclose = () => {
      if (transport.sessionId !== undefined) this.#open.delete(transport.sessionId);
    };
    // The boundary where optional members of its declaration meet exact ones of ours.
    await opened.server.connect(transport as Transport);
    return open;
  }

  /** Room for another: the one that nobody has used for longest. */
  async #closeOldest(): Promise<boolean> {
    const idle = [...this.#open.values()].filter(({ responses }) => responses === 0);
    const oldest = idle.sort((a, b) => a.usedMs - b.usedMs)[0];
    await oldest?.session.end();
    return oldest !== undefined;
  }

  #closeIdle(ms: number): void {
    const before = performance.now() - ms;
    for (const { session, responses, usedMs } of this.#open.values()) {
      if (responses === 0 && usedMs < before) session.end().catch(() => {});
    }
  }
}
