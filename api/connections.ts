/** All WebSocket connections: who has how many, heartbeats, and what the debug endpoint shows. */
import { randomBytes } from 'node:crypto';
import { formatInstant, type Network } from '../engine/index.js';
import { socketLimits } from './channels.js';
import type { ConnectionRecord, SessionHost } from './connection-record.js';
import { Feed } from './feed.js';
import { Session } from './session.js';
import type { Socket, SocketHandlers } from './transport.js';

export class Connections implements SessionHost {
  readonly network: Network;
  readonly feed: Feed;
  readonly now: () => number;
  /** Subscriptions that went on where an earlier connection ended. */
  resumed = 0;
  readonly #records = new Map<string, ConnectionRecord>();
  /** Open connections by agent. */
  readonly #open = new Map<string, number>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(network: Network, now: () => number) {
    this.network = network;
    this.now = now;
    this.feed = new Feed(network);
    this.#heartbeat = setInterval(() => this.#beat(), socketLimits.heartbeatMs);
    this.#heartbeat.unref();
  }

  open(socket: Socket): SocketHandlers {
    const record: ConnectionRecord = {
      id: `conn_${randomBytes(16).toString('hex')}`,
      connectedAt: this.now(),
      agentId: null,
      publicKey: null,
      authenticatedAt: null,
      session: null,
      closed: null,
      last: null,
    };
    const session = new Session(this, record, socket);
    record.session = session;
    this.#records.set(record.id, record);
    return session;
  }

  /** How many open connections an agent has. */
  countOf(agentId: string): number {
    return this.#open.get(agentId) ?? 0;
  }

  authenticated(agentId: string): void {
    this.#open.set(agentId, this.countOf(agentId) + 1);
  }

  get openCount(): number {
    return [...this.#records.values()].filter(({ closed }) => !closed).length;
  }

  ended(record: ConnectionRecord, code: number, reason: string): void {
    if (!record.closed && record.agentId) {
      const left = this.countOf(record.agentId) - 1;
      if (left > 0) this.#open.set(record.agentId, left);
      else this.#open.delete(record.agentId);
    }
    record.closed ??= { code, reason, at: this.now() };
    record.last = record.session?.figures() ?? null;
    record.session = null;
  }

  /** What the owner of a connection sees of it; null for everybody else. */
  show(id: string, publicKey: string) {
    const record = this.#records.get(id);
    if (!record || record.publicKey !== publicKey) return null;
    const figures = record.session?.figures() ?? record.last;
    const { closed } = record;
    return {
      connection_id: record.id,
      agent_id: record.agentId,
      state: closed ? 'closed' : 'open',
      connected_at: formatInstant(record.connectedAt),
      authenticated_at: formatInstant(record.authenticatedAt ?? record.connectedAt),
      ...figures,
      closed: closed && { ...closed, at: formatInstant(closed.at) },
    };
  }

  /** Ends all connections with 1001. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const { session } of this.#records.values()) session?.end('stopping');
    this.feed.close();
  }

  #beat(): void {
    const forgotten = this.now() - socketLimits.rememberMs;
    for (const [id, { session, closed }] of this.#records) {
      if (closed && closed.at < forgotten) this.#records.delete(id);
      session?.beat();
    }
  }
}
