/** All WebSocket connections: limits per agent and address, heartbeats, and debug records. */
import { randomBytes } from 'node:crypto';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { socketLimits } from '../contract/channels.js';
import type { Socket, SocketHandlers } from '../transport/transport.js';
import { Feed } from './feed.js';
import { type ConnectionRecord, Session, type SessionHost, UsedAuths } from './session.js';
import type { Watchers } from './watch.js';

export interface ConnectionsOptions {
  network: ServedNetwork;
  /** Null if watching is disabled. */
  watchers: Watchers | null;
  /** False to allow any number of messages, and of connections per agent. */
  limited: boolean;
  now: () => number;
  steady: () => number;
}

export class Connections implements SessionHost {
  readonly network: ServedNetwork;
  readonly feed: Feed;
  readonly watchers: Watchers | null;
  readonly limited: boolean;
  readonly now: () => number;
  readonly steady: () => number;
  /** Number of subscriptions that resumed an earlier connection. */
  resumed = 0;
  readonly #records = new Map<string, ConnectionRecord>();
  readonly usedAuths = new UsedAuths();
  /** Open connections by agent, oldest first. */
  readonly #open = new Map<string, Set<ConnectionRecord>>();
  readonly #unauthenticated = new Map<string, number>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor({ network, watchers, limited, now, steady }: ConnectionsOptions) {
    this.network = network;
    this.watchers = watchers;
    this.limited = limited;
    this.now = now;
    this.steady = steady;
    this.feed = new Feed(network);
    this.#heartbeat = setInterval(() => this.#beat(), socketLimits.heartbeatMs);
    this.#heartbeat.unref();
  }

  unauthenticated(address: string): number {
    return this.#unauthenticated.get(address) ?? 0;
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
      waitingFor: socket.addressKey,
    };
    this.#unauthenticated.set(socket.addressKey, this.unauthenticated(socket.addressKey) + 1);
    const session = new Session(this, record, socket);
    record.session = session;
    this.#records.set(record.id, record);
    return session;
  }

  authenticated(record: ConnectionRecord): void {
    this.#noLongerWaiting(record);
    const id = record.agentId!;
    const open = this.#open.get(id) ?? new Set();
    this.#open.set(id, open.add(record));
    const [oldest] = open;
    if (this.limited && open.size > socketLimits.connectionsPerAgent) oldest?.session?.replace();
  }

  watches(record: ConnectionRecord): void {
    this.#noLongerWaiting(record);
  }

  /** Stops counting a connection as unauthenticated. */
  #noLongerWaiting(record: ConnectionRecord): void {
    if (record.waitingFor === null) return;
    const left = this.unauthenticated(record.waitingFor) - 1;
    if (left > 0) this.#unauthenticated.set(record.waitingFor, left);
    else this.#unauthenticated.delete(record.waitingFor);
    record.waitingFor = null;
  }

  get openCount(): number {
    return [...this.#records.values()].filter(({ closed }) => !closed).length;
  }

  ended(record: ConnectionRecord, code: number, reason: string): void {
    this.#noLongerWaiting(record);
    if (record.agentId) {
      const open = this.#open.get(record.agentId);
      open?.delete(record);
      if (open?.size === 0) this.#open.delete(record.agentId);
    }
    record.closed ??= { code, reason, at: this.now() };
    record.last = record.session?.figures() ?? null;
    record.session = null;
    // An unauthenticated connection has no owner who could read the record.
    if (record.publicKey === null) this.#records.delete(record.id);
  }

  /** Returns the debug record for the owner's key, or null for other keys. */
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

  /** Closes all connections with 1001. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const { session } of this.#records.values()) session?.end('stopping');
    this.feed.close();
    this.watchers?.close();
  }

  #beat(): void {
    this.usedAuths.forget(this.now());
    const forgotten = this.now() - socketLimits.rememberMs;
    for (const [id, { session, closed }] of this.#records) {
      if (closed && closed.at < forgotten) this.#records.delete(id);
      session?.beat();
    }
  }
}
