/**
 * What happens on a network, as one agent hears of it: one subscription, begun when somebody first
 * asks, kept across drops, and read by cursors. A wait ends in time, whatever happens.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AgentClient,
  type Event,
  type EventStream,
  UnreachableError,
} from '../../../../api/client/index.js';
import type { Cursor } from './cursor.js';
import { Held, isNews, type Wanted } from './held.js';

/** What a wait found. */
export interface Found {
  events: Event[];
  /** To go on after them. */
  cursor: Cursor;
  /** Whether more is there already. */
  more: boolean;
  /** The server's history is another one than the cursor's: what lies between is not known. */
  missed: boolean;
}

export interface Wait extends Wanted {
  waitMs: number;
  signal: AbortSignal;
}

const topics = ['blocks', 'proposals', 'outcomes', 'consensus', 'social', 'memes', 'network'];
/** What one commit brings arrives together: so long is listened on after the first. */
const GATHER_MS = 25;
/** The first subscription may take as long, even for one who would not wait. */
const SUBSCRIBED_MS = 5_000;

const within = (ms: number, { signal }: Wait) => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

export class News {
  readonly #client: AgentClient;
  #stream: EventStream | null = null;
  #held: Held | null = null;
  #failure: unknown = null;
  #woken = new AbortController();

  /** Asks nothing of anybody yet. */
  constructor(client: AgentClient) {
    this.#client = client;
  }

  /**
   * The events after a place, or from now on, as soon as there is one.
   *
   * @throws {ApiError} when the agent is not registered, {@link UnreachableError} when nobody
   * answers in time, {@link StreamError} when the server ends the subscription.
   */
  async wait(given: Cursor | null, wait: Wait): Promise<Found> {
    const held = await this.#begun(within(Math.max(wait.waitMs, SUBSCRIBED_MS), wait));
    const late = within(wait.waitMs, wait);
    const from = given ?? held.last;
    if (held.reachesBackTo(from) === false) {
      const past = await this.#past(from, wait);
      if (past.events.length > 0) return { ...past, missed: false };
    }
    while (held.hasNothing(from, wait.topics) && !late.aborted) await this.#arrival(late);
    await pause(late.aborted ? 0 : GATHER_MS);
    const missed = held.reachesBackTo(from) === null;
    const { events, cursor } = held.after(missed ? held.from : from, wait);
    return { events, cursor, more: cursor.seq < held.last.seq, missed };
  }

  /** Ends the subscription. */
  async close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = null;
    await stream?.return();
  }

  /** Subscribed: an agent that the server does not know is told so at once. */
  async #begun(late: AbortSignal): Promise<Held> {
    if (!this.#stream) {
      await this.#client.agent(this.#client.agentId);
      this.#begin();
    }
    const stream = this.#stream!;
    const aborted = new Promise<null>((resolve) => {
      late.addEventListener('abort', () => resolve(null), { once: true });
    });
    const position = late.aborted ? null : await Promise.race([stream.opened, aborted]);
    if (position === null) throw new UnreachableError(`no subscription at ${this.#client.url} yet`);
    this.#held ??= new Held(position);
    return this.#held;
  }

  #begin(): void {
    if (this.#stream) return;
    this.#failure = null;
    this.#held = null;
    const stream = this.#client.events(topics, {
      onGap: (_, to) => {
        this.#held?.restart(to);
        this.#wake();
      },
    });
    this.#stream = stream;
    this.#follow(stream).catch((error) => {
      this.#failure = error;
      if (this.#stream === stream) this.#stream = null;
      this.#wake();
    });
  }

  async #follow(stream: EventStream): Promise<void> {
    const position = await stream.opened;
    this.#held ??= new Held(position);
    for await (const event of stream) {
      const { epoch } = stream.position!;
      if (epoch !== this.#held.last.epoch) this.#held.restart({ epoch, seq: event.seq - 1 });
      this.#held.add(event);
      this.#wake();
    }
  }

  #wake(): void {
    this.#woken.abort();
    this.#woken = new AbortController();
  }

  /** Until anything came, or it is late. */
  async #arrival(late: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([late, this.#woken.signal]);
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    if (this.#failure) throw this.#failure;
  }

  /** What is not held any more comes by pages; those of which nothing is wanted are passed over. */
  async #past(
    place: Cursor,
    { topics: wanted, limit, signal }: Wait,
  ): Promise<Omit<Found, 'missed'>> {
    let { seq } = place;
    while (!signal.aborted) {
      const page = await this.#client.eventPage({ after: seq, topics: [...wanted], limit: 100 });
      const found = page.events.filter((event) => isNews(event, wanted));
      const events = found.slice(0, limit);
      const ended = page.next_cursor === null;
      seq =
        found.length > limit
          ? events.at(-1)!.seq
          : ended
            ? page.last_seq
            : Number(page.next_cursor);
      const more = found.length > limit || !ended;
      if (events.length > 0 || ended) return { events, cursor: { epoch: page.epoch, seq }, more };
    }
    return { events: [], cursor: { ...place, seq }, more: true };
  }
}
