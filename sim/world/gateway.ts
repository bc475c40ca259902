/**
 * The way from a live world to its network: requests go out by it, and events come back. One
 * gateway leads to a network in this process, the other one to a server.
 */

import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  AgentClient,
  type AgentKeys,
  ApiError,
  type Meta,
  NetworkClient,
  UnreachableError,
} from '../../api/client/index.js';
import { admit } from '../../engine/admit/admit.js';
import { checkFreshness } from '../../engine/admit/credentials.js';
import type { Outcome } from '../../engine/core/state.js';
import { type Clock, systemClock } from '../../engine/node/clock.js';
import type { Network } from '../../engine/node/network.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Event } from '../../engine/protocol/schema/event.js';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';

/** `lost`: nobody answered, so the request may have been done or not. */
export type Answer = Outcome | { result: 'lost' };

export interface Gateway {
  readonly networkId: string;
  /** How the network stood when the gateway was opened: its head, and its last log entry. */
  readonly head: string;
  readonly seq: number;
  /** The network's time, milliseconds since 1970. */
  now(): number;
  /** `from` is the sender's ordinal. A refusal is an answer; it rejects only for what is a bug. */
  submit(from: number, request: SignedRequest): Promise<Answer>;
  /**
   * What happened since the gateway was opened: in order, each event once.
   * @throws {RemoteError} when the network is gone.
   */
  events(): AsyncIterable<Event>;
  /** The transactions of somebody's block; null when it cannot be read. */
  transactionsOf(block: string): Promise<readonly { data: string }[] | null>;
  close(): void;
}

/** A server cannot be used, or is not there any more. */
export class RemoteError extends Error {
  override name = 'RemoteError';
}

/** To a network in this process: as in a simulation, without HTTP and its limits. */
export class DirectGateway implements Gateway {
  readonly networkId: string;
  readonly head: string;
  readonly seq: number;
  readonly #network: Network;
  readonly #since: number;

  constructor(network: Network) {
    const { seq, event_seq } = network.read.position;
    this.#network = network;
    this.networkId = network.genesis.network_id;
    this.head = network.read.networkState().head_hash;
    this.seq = seq;
    this.#since = event_seq;
  }

  /** It never goes back, and stands still while the network is held. */
  now(): number {
    return this.#network.time.now;
  }

  async submit(_from: number, request: SignedRequest): Promise<Outcome> {
    const network = this.#network;
    const admitted = admit(request, this.networkId);
    if ('refusal' in admitted) return { result: 'refused', ...admitted };
    const stale = checkFreshness(admitted.signedAt, this.now());
    if (stale) return { result: 'refused', refusal: stale };
    network.fireDeadlines();
    const look = network.precheck(admitted);
    if (!look) return network.submit(await network.verifyAdmitted(admitted));
    // It rests on what may not be durable yet.
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

  /** The network is its owner's. */
  close(): void {}
}

/*
 * The gateway to a server: requests by HTTP, a bounded number at a time, and events through the one
 * connection of an observer, the first agent that is registered.
 */

/** Connections that are kept, and requests that wait for one; beyond, they are given up. */
const CONNECTIONS = 32;
const WAITING = 16_384;
/** How long one answer may take, and how long a server may be gone. */
const ANSWER_MS = 5_000;
const PATIENCE_MS = 5_000;
/** How often the server is looked at, whether there is anything to send or not. */
const WATCH_MS = 500;
/** Under these every event is found. */
const topics = ['blocks', 'consensus', 'network', 'social', 'outcomes'];

interface RemoteGatewayOptions {
  url: string;
  /** Of an agent, by its ordinal. */
  keysOf(agent: number): AgentKeys;
}

export class RemoteGateway implements Gateway {
  /** Reads of the same server. */
  readonly client: NetworkClient;
  readonly meta: Meta;
  readonly head: string;
  readonly #options: RemoteGatewayOptions;
  readonly #clock: Clock;
  /** The server's time less this machine's. */
  readonly #aheadMs: number;
  readonly #slots = pLimit(CONNECTIONS);
  readonly #closing = new AbortController();
  #gone: RemoteError | null = null;
  /** Settled by the first agent that is registered, or by the end. */
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

  /** @throws {RemoteError} when nobody answers there, or no folkmoot server does. */
  static async open(options: RemoteGatewayOptions): Promise<RemoteGateway> {
    const client = new NetworkClient({ url: options.url, timeoutMs: ANSWER_MS });
    try {
      return new RemoteGateway(options, client, await find(client));
    } catch (cause) {
      throw new RemoteError(`${options.url} cannot be used: ${(cause as Error).message}`, {
        cause,
      });
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
    const onGap = () => this.#lose('its history is another one now: agents must begin anew');
    const options = { since: { epoch, seq }, signal, onGap };
    try {
      if (observer) yield* observer.events(topics, options);
    } catch (cause) {
      this.#lose(`it ended the connection of the observer: ${(cause as Error).message}`);
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

  #lose(why: string): void {
    this.#gone ??= new RemoteError(`the network at ${this.#options.url} is gone: ${why}`);
    this.close();
  }

  /** Notices that the server is gone also while nobody sends or says anything. */
  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    let answeredAt = this.#clock.now();
    while (!signal.aborted) {
      try {
        const { epoch } = await this.client.meta();
        if (epoch !== this.meta.epoch) this.#lose('another network is served there now');
        answeredAt = this.#clock.now();
      } catch (error) {
        const silentMs = this.#clock.now() - answeredAt;
        if (silentMs >= PATIENCE_MS) this.#lose(`for ${silentMs} ms, ${(error as Error).message}`);
      }
      await pause(WATCH_MS, undefined, { signal }).catch(() => {});
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
  // The server looked at its clock somewhere in between.
  const middle = Math.trunc((before + clock.now()) / 2);
  return { meta, head: head_hash, clock, aheadMs: Date.parse(server_time) - middle };
}

/** A refusal as the engine gives it; one that is none of folkmoot's has no reason. */
function refusalOf({ code, status, reason, message, details }: ApiError): Refusal {
  return { code, status, reason: reason ?? 'INTERNAL', message, details };
}
