/**
 * Agents that a model can control, one per key, with the events that each agent receives. The keys
 * do not leave this module.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AgentClient,
  type Event,
  type EventStream,
  type Position,
  UnreachableError,
} from '../../../api/client/index.js';
import { definePattern } from '../../../engine/protocol/patterns.js';
import { eventTopics } from '../../../engine/protocol/schema/event.js';
import { readKeys } from '../../options/client.js';
import { UsageError } from '../../output/exit.js';

export interface ActingAgent {
  /** Name of the key. The model selects the agent by this name. */
  name: string;
  client: AgentClient;
  news: EventInbox;
}

/** Request members, per call, that the server does not know. */
export const unknownNames = new AsyncLocalStorage<string[]>();

/** Limit on agents. A model cannot distinguish more than this. */
const MOST_AGENTS = 32;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;

export class ActingAgents {
  readonly urls: readonly string[];
  readonly #agents: ReadonlyMap<string, ActingAgent>;

  private constructor(urls: readonly string[], agents: ReadonlyMap<string, ActingAgent>) {
    this.urls = urls;
    this.#agents = agents;
  }

  /**
   * Reads the key files.
   *
   * @throws {UsageError} for an unreadable key, or a duplicate key or name.
   */
  static async read(urls: readonly string[], given: readonly string[]): Promise<ActingAgents> {
    if (given.length > MOST_AGENTS) {
      throw new UsageError('TOO_MANY_KEYS', { count: given.length, limit: MOST_AGENTS });
    }
    const agents = new Map<string, ActingAgent>();
    const ids = new Set<string>();
    for (const [name, file] of given.map(splitNamed)) {
      const onUnknown = (found: readonly string[]) => unknownNames.getStore()?.push(...found);
      const client = new AgentClient({ url: urls, keys: await readKeys(file), onUnknown });
      if (agents.has(name)) throw new UsageError('DUPLICATE_KEY_NAME', { name, file });
      if (ids.has(client.agentId)) throw new UsageError('DUPLICATE_KEY', { file });
      ids.add(client.agentId);
      agents.set(name, { name, client, news: new EventInbox(client) });
    }
    return new ActingAgents(urls, agents);
  }

  get names(): readonly string[] {
    return [...this.#agents.keys()];
  }

  /** Returns the agent of this name, or the first agent. */
  get(name?: string): ActingAgent | undefined {
    return name === undefined ? [...this.#agents.values()][0] : this.#agents.get(name);
  }

  async close(): Promise<void> {
    for (const { news } of this.#agents.values()) await news.close();
  }
}

/**
 * Parses `NAME=FILE`. Without a name, uses the file name up to the first dot. @throws {UsageError}
 */
function splitNamed(text: string): [name: string, file: string] {
  const [, given, rest] = /^([A-Za-z0-9_-]+)=(.+)$/s.exec(text) ?? [];
  const file = rest ?? text;
  const name = given ?? basename(file).split('.')[0]!;
  if (NAME.test(name)) return [name, file];
  const expected = 'NAME=FILE, with a name of 1 to 32 letters, digits, _ or -';
  throw new UsageError('INVALID_VALUE', { option: '--key', value: text, expected });
}

/*
 * Events for one agent. The first wait opens one subscription, which persists across reconnects and
 * is read with cursors. Every wait ends by its timeout.
 */

interface FoundNews {
  events: Event[];
  /** Position after the events. */
  cursor: Cursor;
  /** True if more events are available now. */
  more: boolean;
  /** True if the server's history does not contain the cursor, so that events may be lost. */
  missed: boolean;
}

interface NewsWait extends EventOptions {
  waitMs: number;
  signal: AbortSignal;
}

const topics = ['blocks', 'proposals', 'outcomes', 'consensus', 'social', 'memes', 'network'];
/**
 * Time to collect further events after the first event, because events from one commit arrive
 * together.
 */
const GATHER_MS = 25;
/** Minimum timeout for the first subscription, even for a wait of 0. */
const SUBSCRIBED_MS = 5_000;

const within = (ms: number, { signal }: NewsWait) =>
  AbortSignal.any([signal, AbortSignal.timeout(ms)]);

export class EventInbox {
  readonly #client: AgentClient;
  #stream: EventStream | null = null;
  #inbox: Inbox | null = null;
  #failure: unknown = null;
  #woken = new AbortController();

  /** Sends no request. */
  constructor(client: AgentClient) {
    this.#client = client;
  }

  /**
   * Returns the events after a cursor, or after the current position, as soon as there is one.
   *
   * @throws {ApiError} if the agent is not registered, {@link UnreachableError} if the connection
   * times out, {@link StreamError} if the server ends the subscription.
   */
  async wait(given: Cursor | null, wait: NewsWait): Promise<FoundNews> {
    const held = await this.#begun(within(Math.max(wait.waitMs, SUBSCRIBED_MS), wait));
    const late = within(wait.waitMs, wait);
    const from = given ?? held.last;
    if (held.reachesBackTo(from) === false) {
      const past = await this.#past(from, wait);
      if (past.events.length > 0) return { ...past, missed: false };
    }
    while (held.hasNothing(from, wait.topics) && !late.aborted) await this.#arrival(late);
    await sleep(late.aborted ? 0 : GATHER_MS);
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

  /** Subscribes. Fails at once if the agent is not registered. */
  async #begun(late: AbortSignal): Promise<Inbox> {
    if (!this.#stream) {
      await this.#client.agent(this.#client.agentId);
      this.#begin();
    }
    const stream = this.#stream!;
    const aborted = new Promise<null>((resolve) => {
      late.addEventListener('abort', () => resolve(null), { once: true });
    });
    const position = late.aborted ? null : await Promise.race([stream.opened, aborted]);
    if (position === null)
      throw new UnreachableError(`subscription timed out: ${this.#client.url}`);
    this.#inbox ??= new Inbox(position);
    return this.#inbox;
  }

  #begin(): void {
    if (this.#stream) return;
    this.#failure = null;
    this.#inbox = null;
    const stream = this.#client.events(topics, {
      onGap: (_, to) => {
        this.#inbox?.restart(to);
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
    this.#inbox ??= new Inbox(position);
    for await (const event of stream) {
      const { epoch } = stream.position!;
      if (epoch !== this.#inbox.last.epoch) this.#inbox.restart({ epoch, seq: event.seq - 1 });
      this.#inbox.add(event);
      this.#wake();
    }
  }

  #wake(): void {
    this.#woken.abort();
    this.#woken = new AbortController();
  }

  /** Resolves at the next event or at the timeout. */
  async #arrival(late: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([late, this.#woken.signal]);
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    if (this.#failure) throw this.#failure;
  }

  /** Reads older events page by page, and skips pages without a wanted event. */
  async #past(
    place: Cursor,
    { topics: wanted, limit, signal }: NewsWait,
  ): Promise<Omit<FoundNews, 'missed'>> {
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

const MOST_EVENTS = 5_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

interface EventOptions {
  topics: ReadonlySet<string>;
  limit: number;
}

/**
 * Returns true for a wanted event. Excludes network_metrics, because these events follow every
 * block and can be read at any time.
 */
const isNews = ({ type }: Event, topics: ReadonlySet<string>): boolean =>
  type !== 'network_metrics' && eventTopics[type].some((topic) => topics.has(topic));

class Inbox {
  #events: { event: Event; characters: number }[] = [];
  #characters = 0;
  /** Position after which the inbox holds every event. */
  #from: Cursor;
  #last: Cursor;

  constructor(from: Cursor) {
    this.#from = from;
    this.#last = from;
  }

  get from(): Cursor {
    return this.#from;
  }

  get last(): Cursor {
    return this.#last;
  }

  add(event: Event): void {
    const characters = JSON.stringify(event).length;
    this.#events.push({ event, characters });
    this.#characters += characters;
    this.#last = { ...this.#last, seq: event.seq };
    while (this.#events.length > MOST_EVENTS || this.#characters > MOST_CHARACTERS) this.#drop();
  }

  /** Starts over after a change of the history. */
  restart(from: Cursor): void {
    this.#events = [];
    this.#characters = 0;
    this.#from = from;
    this.#last = from;
  }

  /** Returns true if all events after a cursor are held, or null for a different history. */
  reachesBackTo({ epoch, seq }: Cursor): boolean | null {
    if (epoch !== this.#from.epoch || seq > this.#last.seq) return null;
    return seq >= this.#from.seq;
  }

  /** Returns true if no requested event follows the cursor. */
  hasNothing(from: Cursor, topics: ReadonlySet<string>): boolean {
    if (this.reachesBackTo(from) === null) return false;
    return this.after(from, { topics, limit: 1 }).events.length === 0;
  }

  /** Returns the next wanted events after a cursor, and the cursor that follows these events. */
  after({ seq }: Cursor, { topics, limit }: EventOptions): { events: Event[]; cursor: Cursor } {
    const later = this.#events.filter(({ event }) => event.seq > seq && isNews(event, topics));
    const events = later.slice(0, limit).map(({ event }) => event);
    const reached = later.length > limit ? events.at(-1)!.seq : this.#last.seq;
    return { events, cursor: { ...this.#last, seq: reached } };
  }

  #drop(): void {
    const first = this.#events.shift()!;
    this.#characters -= first.characters;
    this.#from = { ...this.#from, seq: first.event.seq };
  }
}

/** Epoch and sequence number of the last event read. */
export type Cursor = Position;

const CURSOR_TEXT = /^([\w-]{1,64}):(\d{1,15})$/;
export const CURSOR_PATTERN = definePattern(
  CURSOR_TEXT.source,
  'the cursor of an earlier answer, unchanged',
);

export const formatCursor = ({ epoch, seq }: Cursor): string => `${epoch}:${seq}`;

/** Parses a cursor that matches the pattern. */
export function parseCursor(text: string): Cursor {
  const [, epoch = '', seq = '0'] = CURSOR_TEXT.exec(text) ?? [];
  return { epoch, seq: Number(seq) };
}
