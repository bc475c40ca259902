/** Gateways from a live world to its network, in this process or on a server. */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  AgentClient,
  type AgentKeys,
  ApiError,
  type Meta,
  NetworkClient,
  UnreachableError,
} from '../../api/client/index.js';
import { topics } from '../../api/contract/channels.js';
import { admit } from '../../engine/admit/admit.js';
import { refuseTimestamp } from '../../engine/admit/credentials.js';
import type { Outcome } from '../../engine/core/state.js';
import { type Clock, systemClock } from '../../engine/node/clock.js';
import type { Network } from '../../engine/node/network.js';
import {
  Failure,
  type FormattedMessage,
  type MessageTable,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';

/** `lost` means that no response arrived, so the outcome is unknown. */
export type Answer = Outcome | { result: 'lost' };

export interface Gateway {
  readonly networkId: string;
  /** Genesis, if the network runs in this process. */
  readonly genesis?: Genesis;
  /** Head and last log entry at the time the gateway was opened. */
  readonly head: string;
  readonly seq: number;
  /** Network's Unix time in milliseconds. */
  now(): number;
  /** Submits a request from the agent `from`. A refusal is an answer. Rejects only on a bug. */
  submit(from: number, request: SignedRequest): Promise<Answer>;
  /**
   * Yields events since the gateway was opened, in order and each once.
   * @throws {RemoteError} if the network is gone.
   */
  events(): AsyncIterable<Event>;
  /** Reads a block's transactions; null if they cannot be read. */
  transactionsOf(block: string): Promise<readonly { data: string }[] | null>;
  close(): void;
}

const remoteMessages = {
  UNUSABLE: 'cannot use {url}: {detail}; check that a folkmoot server runs there',
  RESTARTED: 'the network at {url} has a new history; restart the run',
  REPLACED: 'a different network runs at {url}; restart the run',
  DISCONNECTED: '{url} closed the connection of the observer: {detail}',
  UNRESPONSIVE: 'no response from {url} for {ms} ms: {detail}',
  END_UNREADABLE: 'cannot read the final state from {url}: {detail}',
} as const satisfies MessageTable;

type RemoteCode = keyof typeof remoteMessages;

/** Thrown when a server is not usable, or was lost during a run. */
export class RemoteError extends Failure {
  override name = 'RemoteError';
  /** Message key, such as `UNUSABLE`. */
  readonly code: string;

  /** @internal */
  constructor(code: RemoteCode, message: FormattedMessage, options?: ErrorOptions) {
    super('server', code, message, options);
    this.code = code;
  }
}

export function remoteError<K extends RemoteCode>(
  code: K,
  values: MessageValues<(typeof remoteMessages)[K]>,
  options?: ErrorOptions,
): RemoteError {
  return new RemoteError(code, withFix(remoteMessages[code], values), options);
}

/** Gateway to a network in this process, without HTTP and its limits. */
export class DirectGateway implements Gateway {
  readonly networkId: string;
  readonly genesis: Genesis;
  readonly head: string;
  readonly seq: number;
  readonly #network: Network;
  readonly #since: number;

  constructor(network: Network) {
    const { seq, event_seq } = network.read.position;
    this.#network = network;
    this.genesis = network.genesis;
    this.networkId = network.genesis.network_id;
    this.head = network.read.networkState().head_hash;
    this.seq = seq;
    this.#since = event_seq;
  }

  /** Returns monotonic time. Time stops while the network is paused. */
  now(): number {
    return this.#network.time.now;
  }

  async submit(_from: number, request: SignedRequest): Promise<Outcome> {
    const network = this.#network;
    const admitted = admit(request, this.networkId);
    if ('refusal' in admitted) return { result: 'refused', ...admitted };
    const stale = refuseTimestamp(admitted.signedAt, this.now());
    if (stale) return { result: 'refused', refusal: stale };
    network.fireDeadlines();
    const look = network.precheck(admitted);
    if (!look) return network.submit(await network.verifyAdmitted(admitted));
    // The outcome may depend on entries that are not durable yet.
    await network.durable;
    return look;
  }

  events(): AsyncIterable<Event> {
    return this.#network.follow(this.#since);
  }

  async transactionsOf(block: string): Promise<readonly { data: string }[] | null> {
    const record = this.#network.read.record('blocks', block);
    if (!record) return null;
    const { body } = this.#network.read.signed(record.context.entry);
    return body.transactions as { data: string }[];
  }

  /** Does nothing, because the owner closes the network. */
  close(): void {}
}

/*
 * Gateway to a server. Requests use HTTP with limited concurrency. Events arrive through a single
 * connection, that of the observer, which is the first registered agent.
 */

/** Number of concurrent connections, and the limit on queued requests. */
const CONNECTIONS = 32;
const WAITING = 16_384;
/** Request timeout. `PATIENCE_MS` is the time after which a server counts as gone. */
const ANSWER_MS = 5_000;
const PATIENCE_MS = 5_000;
/** Interval of health checks. */
const WATCH_MS = 500;

interface RemoteGatewayOptions {
  url: string;
  keysOf(agent: number): AgentKeys;
}

export class RemoteGateway implements Gateway {
  /** Client for reads. */
  readonly client: NetworkClient;
  readonly meta: Meta;
  readonly head: string;
  readonly #options: RemoteGatewayOptions;
  readonly #clock: Clock;
  /** Server time minus local time. */
  readonly #aheadMs: number;
  readonly #slots = pLimit(CONNECTIONS);
  readonly #closing = new AbortController();
  #gone: RemoteError | null = null;
  /** Resolves to the client of the first registered agent, or to null on close. */
  readonly #observer: Promise<AgentClient | null>;
  #observe: (observer: AgentClient | null) => void = () => {};

  private constructor(options: RemoteGatewayOptions, client: NetworkClient, found: Found) {
    this.client = client;
    this.meta = found.meta;
    this.head = found.head;
    this.#options = options;
    this.#clock = found.clock;
    this.#aheadMs = found.aheadMs;
    this.#observer = new Promise((resolve) => {
      this.#observe = resolve;
    });
    this.#watch();
  }

  /** @throws {RemoteError} if no folkmoot server responds at the URL. */
  static async open(options: RemoteGatewayOptions): Promise<RemoteGateway> {
    const client = new NetworkClient({ url: options.url, timeoutMs: ANSWER_MS });
    try {
      return new RemoteGateway(options, client, await find(client));
    } catch (cause) {
      const detail = (cause as Error).message;
      throw remoteError('UNUSABLE', { url: options.url, detail }, { cause });
    }
  }

  get url(): string {
    return this.client.url;
  }

  get networkId(): string {
    return this.meta.network_id;
  }

  get seq(): number {
    return this.meta.seq;
  }

  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  async submit(from: number, request: SignedRequest): Promise<Answer> {
    if (this.#slots.pendingCount >= WAITING) {
      const refusal = refuse('QUEUE_OF_SERVER_FULL', { limit: WAITING });
      return { result: 'refused', refusal };
    }
    const answer = await this.#slots(() => this.#send(request));
    if (request.kind === 'register' && 'data' in answer) this.#introduce(from);
    return answer;
  }

  async *events(): AsyncGenerator<Event, void> {
    const { epoch, event_seq: seq } = this.meta;
    const { signal } = this.#closing;
    const observer = await this.#observer;
    const onGap = () => this.#lose(remoteError('RESTARTED', { url: this.url }));
    const options = { since: { epoch, seq }, signal, onGap };
    try {
      if (observer) yield* observer.events([...topics], options);
    } catch (cause) {
      // Another network at this address refuses the observer's key, maybe before `#watch` notices.
      await this.#assertEpoch().catch(() => {});
      const detail = (cause as Error).message;
      this.#lose(remoteError('DISCONNECTED', { url: this.url, detail }, { cause }));
    }
    if (this.#gone) throw this.#gone;
  }

  async transactionsOf(block: string): Promise<readonly { data: string }[] | null> {
    try {
      return (await this.client.block(block)).proposal.transactions;
    } catch {
      return null;
    }
  }

  close(): void {
    this.#closing.abort();
    this.#observe(null);
  }

  async #send(request: SignedRequest): Promise<Answer> {
    try {
      const data = await this.client.send(request);
      return { result: data.duplicate ? 'duplicate' : 'accepted', data };
    } catch (error) {
      if (error instanceof ApiError) return { result: 'refused', refusal: refusalOf(error) };
      if (error instanceof UnreachableError) return { result: 'lost' };
      throw error;
    }
  }

  #introduce(agent: number): void {
    const { url, keysOf } = this.#options;
    this.#observe(new AgentClient({ url, keys: keysOf(agent), timeoutMs: ANSWER_MS }));
  }

  #lose(error: RemoteError): void {
    this.#gone ??= error;
    this.close();
  }

  async #assertEpoch(): Promise<void> {
    const { epoch } = await this.client.meta();
    if (epoch !== this.meta.epoch) this.#lose(remoteError('REPLACED', { url: this.url }));
  }

  /** Detects a lost server even if no requests are sent. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    let answeredAt = this.#clock.now();
    while (!signal.aborted) {
      try {
        await this.#assertEpoch();
        answeredAt = this.#clock.now();
      } catch (error) {
        const silentMs = this.#clock.now() - answeredAt;
        if (silentMs >= PATIENCE_MS) {
          const detail = (error as Error).message;
          this.#lose(remoteError('UNRESPONSIVE', { url: this.url, ms: silentMs, detail }));
        }
      }
      await sleep(WATCH_MS, undefined, { signal }).catch(() => {});
    }
  }
}

interface Found {
  meta: Meta;
  head: string;
  clock: Clock;
  aheadMs: number;
}

async function find(client: NetworkClient): Promise<Found> {
  const clock = systemClock();
  const meta = await client.meta();
  const before = clock.now();
  const { head_hash, server_time } = await client.networkState();
  // The server read its clock between the two local readings.
  const middle = Math.trunc((before + clock.now()) / 2);
  return { meta, head: head_hash, clock, aheadMs: Date.parse(server_time) - middle };
}

/** Converts an API error to a refusal. An error without a folkmoot reason gets a general reason. */
function refusalOf({ code, status, reason, message, details }: ApiError): Refusal {
  return { code, status, reason: reason ?? 'INTERNAL', message, details };
}
