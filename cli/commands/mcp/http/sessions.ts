/** Sessions of hosts that come over HTTP: so many, each by its id, until it is idle for long. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ActingAgents } from '../acting.js';
import { tellFault } from '../results.js';
import { type Offered, offered, type Session, session } from '../session.js';
import type { TurnedAway } from './door.js';

/** The largest picture in base64, and what is around it. */
const MOST_BODY_BYTES = 2 * 1024 * 1024;
const MOST_SESSIONS = 32;
/** One that is not used for as long is closed; its host begins another. */
const IDLE_MS = 30 * 60_000;

interface Open {
  session: Session;
  /** Whether another session has its place, which it frees no more when it ends. */
  replaced: boolean;
  transport: StreamableHTTPServerTransport;
  /** Responses that are not finished: a host that listens is not idle. */
  responses: number;
  usedMs: number;
}

export class Sessions {
  readonly #agents: ActingAgents;
  readonly #offers: ReadonlyMap<string, Offered>;
  readonly #open = new Map<string, Open>();
  /** Sessions that are open or begin: each is counted before anything is awaited. */
  #places = 0;
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
    if (response.destroyed) {
      // The client left meanwhile.
      if (id === undefined) await open.session.end();
      return null;
    }
    open.responses += 1;
    response.once('close', () => {
      open.responses -= 1;
      open.usedMs = performance.now();
      // A client that left before its session began leaves nothing behind.
      if (open.transport.sessionId === undefined) open.session.end().catch(tellFault);
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

  /** A new one, once it is initialized; null where there are too many that are in use. */
  async #begun(): Promise<Open | null> {
    const oldest = this.#places < MOST_SESSIONS ? null : this.#oldest();
    if (oldest === undefined) return null;
    if (oldest === null) this.#places += 1;
    else await this.#replace(oldest);
    const opened = session(this.#agents, this.#offers);
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
    // The boundary where optional members of its declaration meet exact ones of ours.
    await opened.server.connect(transport as Transport);
    return open;
  }

  /** The session that no client has used for longest; undefined where all are in use. */
  #oldest(): Open | undefined {
    const idle = [...this.#open.values()].filter(({ responses }) => responses === 0);
    return idle.sort((a, b) => a.usedMs - b.usedMs)[0];
  }

  /** Ends a session whose place another one takes: from this call on no other can. */
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
