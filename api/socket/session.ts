/** A WebSocket connection: authentication, client messages, subscriptions, limits, and close. */

import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { parseJson } from '../../engine/protocol/json.js';
import { limits as bounds } from '../../engine/protocol/limits.js';
import { formatInstant } from '../../engine/protocol/schema/primitives.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { agentId, authInput } from '../../engine/protocol/signing.js';
import { excerpt } from '../../engine/protocol/text.js';
import { parseInstant } from '../../engine/protocol/time.js';
import { findSignatureProblem, verifySignature } from '../checks/request-checks.js';
import { unknownPointers } from '../checks/unknown-members.js';
import {
  type ClientMessage,
  clientMessages,
  closeCodes,
  topics as knownTopics,
  socketLimits,
} from '../contract/channels.js';
import type { Socket, SocketHandlers } from '../transport/transport.js';
import {
  countTraffic,
  createSubscriber,
  type Feed,
  getSessionFigures,
  type SessionFigures,
  type Subscriber,
  type Traffic,
} from './feed.js';
import { beginWatching, type Watcher, type Watchers } from './watch.js';

export class Session implements SocketHandlers {
  readonly #host: SessionHost;
  readonly #record: ConnectionRecord;
  readonly #socket: Socket;
  readonly #subscriber: Subscriber;
  #watcher: Watcher | null = null;
  #authTimer: NodeJS.Timeout | null;
  /** Messages queued while a signature is verified or events are counted; otherwise null. */
  #waiting: (string | null)[] | null = null;
  #subscribedOnce = false;
  #unknown: { unknown?: readonly string[] } = {};
  #closed = false;
  #unansweredPings = 0;
  #warnings = 0;
  readonly #received = new MessageRate();
  readonly #controls = new MessageRate();
  readonly #malformed = new MessageRate();
  readonly #traffic: Traffic = { messagesIn: 0, messagesOut: 0, bytesOut: 0 };

  constructor(host: SessionHost, record: ConnectionRecord, socket: Socket) {
    this.#host = host;
    this.#record = record;
    // A dropped message closes the connection, so that the client misses no event.
    this.#socket = countTraffic(socket, this.#traffic, () => this.end('slow'));
    this.#subscriber = createSubscriber(this.#socket, this.#traffic, (why) => this.end(why));
    this.#authTimer = setTimeout(() => this.#authTimedOut(), socketLimits.authMs);
    this.#authTimer.unref();
  }

  figures(): SessionFigures {
    this.#host.feed.settle(this.#subscriber);
    return getSessionFigures(this.#subscriber, this.#closed);
  }

  message(text: string | null): void {
    if (this.#closed) return;
    this.#traffic.messagesIn += 1;
    if (!this.#withinRate() || this.#tooLarge(text)) return;
    if (this.#waiting) this.#wait(this.#waiting, text);
    else this.#take(text);
  }

  /** Checks the size before queueing, so that queued messages are small. */
  #tooLarge(text: string | null): boolean {
    const { messageBytes, unauthenticatedBytes } = socketLimits;
    const most = this.#record.agentId ? messageBytes : unauthenticatedBytes;
    const bytes = text === null ? 0 : Buffer.byteLength(text);
    if (bytes <= most) return false;
    this.#error(refuse('MESSAGE_TOO_LARGE', { bytes, limit: most }));
    this.end('tooLarge');
    return true;
  }

  #wait(waiting: (string | null)[], text: string | null): void {
    const { waitingMessages, waitingBytes } = socketLimits;
    const bytes = waiting.reduce((sum, one) => sum + (one?.length ?? 0), text?.length ?? 0);
    if (waiting.length < waitingMessages && bytes <= waitingBytes) return void waiting.push(text);
    this.#error(refuse('MESSAGES_WAITING', { limit: waitingMessages, bytes: waitingBytes }));
    this.end('tooFast');
  }

  #take(text: string | null): void {
    if (text === null) return this.#bad(refuse('MESSAGE_BINARY'));
    const read = readClientMessage(text);
    // Messages are answered one at a time, so these pointers belong to the next acknowledgement.
    this.#unknown = shown(read.unknown);
    if ('refusal' in read) this.#bad(read.refusal);
    else this.#dispatch(read.message);
  }

  pong(): void {
    this.#unansweredPings = 0;
    this.pinged();
  }

  /** Counts control frames, which the transport answers. Too many frames count as a flood. */
  pinged(): void {
    if (this.#closed || !this.#host.limited) return;
    const { controlsPerMinute } = socketLimits;
    if (this.#controls.count(this.#host.steady()) > controlsPerMinute) this.end('tooFast');
  }

  drained(): void {
    if (!this.#closed) this.#host.feed.drained(this.#subscriber);
  }

  missed(): void {
    this.end('slow');
  }

  closed(code: number): void {
    this.#finish(code, 'closed by the client');
  }

  /** Sends a ping, or closes the connection after two unanswered pings. */
  beat(): void {
    if (this.#closed) return;
    if (this.#unansweredPings >= socketLimits.missedHeartbeats) return this.#close(1001, 'no pong');
    this.#unansweredPings += 1;
    this.#socket.ping();
  }

  replace(): void {
    const most = socketLimits.connectionsPerAgent;
    this.#error(refuse('CONNECTIONS_OF_AGENT', { limit: most }));
    this.end('tooMany');
  }

  end(why: keyof typeof closeCodes): void {
    const { code, meaning } = closeCodes[why];
    this.#close(code, meaning);
  }

  #dispatch(message: AnyClientMessage): void {
    if (message.type === 'watch') this.#watch(message);
    else if (this.#watcher && message.type !== 'ping') this.#error(refuse('CONNECTION_WATCHES'));
    else if (message.type === 'auth') this.#authInTurn(message);
    else if (!this.#record.agentId && !this.#watcher) {
      this.#error(refuse('AUTH_MISSING', { type: message.type }));
      this.end('unauthenticated');
    } else if (message.type === 'subscribe') this.#subscribe(message);
    else if (message.type === 'unsubscribe') this.#unsubscribe(message);
    else this.#reply('pong', { id: message.id, server_time: formatInstant(this.#host.now()) });
  }

  #watch(message: ClientMessage['watch']): void {
    if (this.#watcher) return this.#error(refuse('CONNECTION_WATCHES'));
    if (this.#record.agentId) return this.#error(refuse('CONNECTION_AUTHENTICATED'));
    const onEnd = () => this.end('damaged');
    const asked = { ...message, ...this.#unknown };
    const begun = beginWatching(this.#host.watchers, this.#socket, asked, onEnd);
    if ('refusal' in begun) {
      this.#error(begun.refusal, begun.refusal.details);
      return this.end(begun.end);
    }
    this.#watcher = begun;
    if (this.#authTimer) clearTimeout(this.#authTimer);
    this.#host.watches(this.#record);
  }

  /** Queues the messages that follow an `auth`, so that clients need not wait for `auth_ok`. */
  #authInTurn(message: ClientMessage['auth']): void {
    this.#waiting = [];
    this.#auth(message)
      .catch((error: unknown) => {
        if (this.#closed) return; // Queue full or network closing: the client retries.
        this.#error(refuse('AUTH_UNAVAILABLE', { problem: (error as Error).message }));
        this.#close(1013, 'try again later');
      })
      .finally(() => this.#resume());
  }

  #resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    while (waiting.length > 0 && !this.#closed) {
      this.#take(waiting.shift()!);
      // A second `auth` is being verified, so the remaining messages wait for it.
      if (this.#waiting) (this.#waiting as (string | null)[]).push(...waiting.splice(0));
    }
  }

  async #auth(message: ClientMessage['auth']): Promise<void> {
    if (this.#record.agentId) return this.#error(refuse('CONNECTION_AUTHENTICATED'));
    const answer = await authenticate(this.#host, message);
    if (this.#closed) return;
    if ('publicKey' in answer) return this.#authenticated(answer.publicKey);
    const { code, reason } = answer.refusal;
    const details = { server_time: formatInstant(this.#host.now()), kind: 'auth' };
    this.#error(answer.refusal, details);
    const never = code === 'INVALID_AGENT' || reason === 'READ_ONLY';
    this.end(never ? 'unknownAgent' : 'unauthenticated');
  }

  #authenticated(publicKey: string): void {
    const id = agentId(publicKey);
    if (this.#authTimer) clearTimeout(this.#authTimer);
    this.#record.agentId = id;
    this.#subscriber.agent = id;
    this.#host.authenticated(this.#record);
    this.#record.publicKey = publicKey;
    this.#record.authenticatedAt = this.#host.now();
    this.#reply('auth_ok', {
      connection_id: this.#record.id,
      agent_id: id,
      epoch: this.#host.network.epoch,
      last_seq: this.#host.feed.head,
      heartbeat_ms: socketLimits.heartbeatMs,
    });
  }

  #subscribe({ topics, since }: ClientMessage['subscribe']): void {
    if (!this.#known(topics)) return;
    if (since && this.#subscribedOnce) {
      return this.#error(refuse('SINCE_REPEATED'));
    }
    const { feed, network } = this.#host;
    const first = !this.#subscribedOnce;
    this.#subscribedOnce = true;
    feed.subscribe(this.#subscriber, topics);
    const { head, gap, from } = feed.positionOf(since);
    if (since !== undefined) this.#host.resumed += 1;
    const begin = (replay: number) => {
      if (this.#closed) return;
      const all = [...this.#subscriber.topics].sort();
      this.#reply('subscribed', { topics: all, epoch: network.epoch, last_seq: head, replay, gap });
      if (!first) return;
      this.#subscriber.cursor = from;
      this.#subscriber.catchingUp = from < head;
      feed.add(this.#subscriber);
    };
    if (from === head) return begin(0);
    // Events are counted in slices. Messages that arrive meanwhile are queued.
    this.#waiting = [];
    feed.count(this.#subscriber, { from, to: head, alive: () => !this.#closed }, (replay) => {
      begin(replay);
      this.#resume();
    });
  }

  #unsubscribe({ topics }: ClientMessage['unsubscribe']): void {
    if (!this.#known(topics)) return;
    this.#host.feed.unsubscribe(this.#subscriber, topics);
    this.#reply('unsubscribed', { topics: [...this.#subscriber.topics].sort() });
  }

  #known(topics: readonly string[]): boolean {
    const topic = topics.find((one) => !knownTopics.has(one));
    if (topic === undefined) return true;
    this.#error(refuse('TOPIC_UNKNOWN', { topic, topics: [...knownTopics].join(', ') }));
    return false;
  }

  #bad(refusal: Refusal): void {
    const { pointer } = refusal;
    const details = pointer === undefined ? {} : { pointer };
    this.#error(refusal, { ...details, ...this.#unknown });
    const recent = this.#malformed.count(this.#host.steady());
    if (recent >= socketLimits.malformed) this.end('malformed');
  }

  #withinRate(): boolean {
    if (!this.#host.limited) return true;
    const most = socketLimits.messagesPerMinute;
    if (this.#received.count(this.#host.steady()) <= most) return true;
    this.#warnings += 1;
    this.#error(refuse('MESSAGE_RATE', { limit: most }));
    if (this.#warnings >= socketLimits.warnings) this.end('tooFast');
    return false;
  }

  #authTimedOut(): void {
    if (this.#closed || this.#record.agentId || this.#watcher) return;
    this.#error(refuse('AUTH_TIMEOUT', { limit: socketLimits.authMs }));
    this.end('authTimeout');
  }

  #reply(type: string, data: object): void {
    this.#socket.send(JSON.stringify({ type, data: { ...data, ...this.#unknown } }));
  }

  #error({ code, reason, message }: Refusal, more: object = {}): void {
    const details = { reason, ...more };
    this.#socket.send(JSON.stringify({ type: 'error', error: { code, message, details } }));
  }

  #close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#finish(code, reason);
    this.#socket.close(code, reason);
  }

  #finish(code: number, reason: string): void {
    if (this.#closed) return;
    this.#host.ended(this.#record, code, reason);
    this.#closed = true;
    if (this.#authTimer) clearTimeout(this.#authTimer);
    this.#host.feed.remove(this.#subscriber);
    if (this.#watcher) this.#host.watchers?.remove(this.#watcher);
  }
}

const shown = (unknown: readonly string[] = []) => (unknown.length === 0 ? {} : { unknown });

/** @throws {Error} if the network is closing or too busy to verify. */
async function authenticate(
  { network, now, usedAuths }: { network: ServedNetwork; now: () => number; usedAuths: UsedAuths },
  { public_key, timestamp, signature }: ClientMessage['auth'],
): Promise<{ publicKey: string } | { refusal: Refusal }> {
  if (network.readOnly !== undefined) {
    return { refusal: refuse('NETWORK_READ_ONLY', { folder: network.folder ?? 'in memory' }) };
  }
  const publicKey = public_key.toLowerCase();
  const signed = { publicKey, timestamp, signature };
  // A registration through a different node may not be applied here yet.
  const late = network.barrier ? await network.barrier() : null;
  if (late) throw new Error(late.message);
  const refusal = findSignatureProblem(signed, network.knows, now());
  if (refusal) return { refusal };
  const input = authInput(public_key, timestamp);
  if (usedAuths.has(publicKey, input)) return { refusal: replayed(timestamp) };
  const valid = await verifySignature(network, signed, input);
  await network.durable; // The key's registration may not be durable yet.
  if (!valid) {
    return { refusal: refuse('AUTH_MISMATCH', { public_key, timestamp }) };
  }
  const first = usedAuths.use(publicKey, input, parseInstant(timestamp)!);
  return first ? { publicKey } : { refusal: replayed(timestamp) };
}

const replayed = (timestamp: string) => refuse('AUTH_REPLAYED', { timestamp });

export type { ClientMessage };

type MessageType = keyof ClientMessage;
type AnyClientMessage = ClientMessage[MessageType];

const problemOf = Object.fromEntries(
  Object.entries(clientMessages).map(([type, schema]) => [
    type,
    validator(`socket_${type}`, schema),
  ]),
) as Record<MessageType, ReturnType<typeof validator>>;

/** `unknown`: pointers to unknown members, which are ignored. */
type Read =
  | { message: AnyClientMessage; unknown: readonly string[] }
  | { refusal: Refusal; unknown?: readonly string[] };

function readClientMessage(text: string): Read {
  const parsed = parseJson(Buffer.from(text));
  if ('message' in parsed) {
    const { pointer, message: problem } = parsed;
    const where = pointer === '' ? '' : `${pointer} `;
    return { refusal: refuse('MESSAGE_NOT_JSON', { where, problem }, { pointer }) };
  }
  const type = (parsed.value as { type?: unknown } | null)?.type;
  if (typeof type !== 'string' || !Object.hasOwn(clientMessages, type)) {
    const types = Object.keys(clientMessages).join(', ');
    return { refusal: refuse('MESSAGE_TYPE_UNKNOWN', { type: excerpt(type), types }) };
  }
  const problem = problemOf[type as MessageType](parsed.value);
  const unknown = unknownPointers(clientMessages[type as MessageType], parsed.value);
  if (!problem) return { message: parsed.value as AnyClientMessage, unknown };
  const { pointer, message } = problem;
  const values = { type, where: pointer || 'body', problem: message };
  return { refusal: refuse('MESSAGE_INVALID', values, { pointer }), unknown };
}

/** Window for message rates. */
const WINDOW_MS = 60_000;

class MessageRate {
  #times: number[] = [];

  count(now: number): number {
    this.#times = this.#times.filter((at) => at > now - WINDOW_MS);
    this.#times.push(now);
    return this.#times.length;
  }
}

/** A connection's state, retained for a while after the connection closes. */
export interface ConnectionRecord {
  readonly id: string;
  readonly connectedAt: number;
  agentId: string | null;
  publicKey: string | null;
  authenticatedAt: number | null;
  session: Session | null;
  closed: { code: number; reason: string; at: number } | null;
  /** Address under which the connection counts while unauthenticated. */
  waitingFor: string | null;
  last: SessionFigures | null;
}

/** The part of the connections that a session uses. */
export interface SessionHost {
  readonly network: ServedNetwork;
  readonly feed: Feed;
  readonly now: () => number;
  /** Monotonic clock in milliseconds, for rates. */
  readonly steady: () => number;
  /** Null if watching is disabled. */
  readonly watchers: Watchers | null;
  /** False to allow any number of messages. */
  readonly limited: boolean;
  resumed: number;
  readonly usedAuths: UsedAuths;
  /** Records the agent. Replaces the agent's oldest connection if the agent has too many. */
  authenticated(record: ConnectionRecord): void;
  /** Marks the connection as watching, which ends the wait for `auth`. */
  watches(record: ConnectionRecord): void;
  ended(record: ConnectionRecord, code: number, reason: string): void;
}

/*
 * Accepted `auth` messages, kept as long as their timestamps are fresh. An attacker who captured an
 * `auth` message cannot use it to take the owner's place.
 */

/** Messages per agent. Only a flood reaches this limit. */
const MOST_OF_AGENT = 1_024;

export class UsedAuths {
  /** Signed texts with their expiry times, by key. */
  readonly #used = new Map<string, Map<string, number>>();

  has(publicKey: string, input: string): boolean {
    return this.#used.get(publicKey)?.has(input) ?? false;
  }

  /** Returns false if the message was used before, or if the agent has used too many. */
  use(publicKey: string, input: string, signedAt: number): boolean {
    const known = this.#used.get(publicKey) ?? new Map<string, number>();
    if (known.has(input) || known.size >= MOST_OF_AGENT) return false;
    this.#used.set(publicKey, known.set(input, signedAt + bounds.skewMs));
    return true;
  }

  forget(now: number): void {
    for (const [publicKey, known] of this.#used) {
      for (const [input, until] of known) if (until < now) known.delete(input);
      if (known.size === 0) this.#used.delete(publicKey);
    }
  }
}
