/**
 * Agents that a model can control, one per key, with the events that each agent can wait for. The
 * keys do not leave this module.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortAfter } from '../../../api/client/http.js';
import {
  AgentClient,
  type Event,
  type EventStream,
  type Position,
  UnreachableError,
} from '../../../api/client/index.js';
import { topics as allTopics } from '../../../api/contract/channels.js';
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

  /** Reads the key files. @throws {UsageError} for unreadable keys, or duplicate keys or names. */
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

/** Parses `NAME=FILE`. Default name: the file name up to the first dot. @throws {UsageError} */
function splitNamed(text: string): [name: string, file: string] {
  const [, given, rest] = /^([A-Za-z0-9_-]+)=(.+)$/s.exec(text) ?? [];
  const file = rest ?? text;
  const name = given ?? basename(file).split('.')[0]!;
  if (NAME.test(name)) return [name, file];
  const expected = 'NAME=FILE, with a name of 1 to 32 letters, digits, _ or -';
  throw new UsageError('INVALID_VALUE', { option: '--key', value: text, expected });
}

/*
 * Waits for events of one agent. A wait starts at a cursor that the caller holds. Nothing here
 * depends on earlier waits, so any process that holds the key can continue them. The one
 * subscription per agent only wakes waits, which then read the events by pages.
 */

/** Position of the last event read: the epoch of the server's history, and a sequence number. */
export type Cursor = Position;

interface FoundNews {
  events: Event[];
  /** Position after the events. */
  cursor: Cursor;
  /** True if more events are available now. */
  more: boolean;
  /** True if the server's history does not contain the cursor, so that events may be lost. */
  missed: boolean;
}

interface NewsWait {
  topics: ReadonlySet<string>;
  limit: number;
  waitMs: number;
  signal: AbortSignal;
}

export const topics: readonly string[] = [...allTopics];
/** Time to collect further events after the first one, as events of a commit arrive together. */
const GATHER_MS = 25;
/** Minimum timeout for the first subscription, even for a wait of 0. */
const SUBSCRIBED_MS = 5_000;
const PAGE = 100;

/** Excludes network_metrics, because these events follow every block and can be read any time. */
const topicsOf = ({ type }: Event): readonly string[] =>
  type === 'network_metrics' ? [] : eventTopics[type];

interface Subscription {
  stream: EventStream;
  /** Emits the topics of each event. */
  arrivals: EventEmitter;
  /** Rejects when the subscription has failed. */
  ended: Promise<void>;
}

export class EventInbox {
  #subscription: Promise<Subscription> | null = null;

  /** Sends no request. */
  constructor(private readonly client: AgentClient) {}

  /**
   * Returns the events after a cursor, or after the current position, as soon as there is one.
   *
   * @throws {ApiError} if the agent is not registered, {@link UnreachableError} if the connection
   * times out, {@link StreamError} if the server ends the subscription.
   */
  async wait(given: Cursor | null, wait: NewsWait): Promise<FoundNews> {
    const { topics: wanted, waitMs, signal } = wait;
    const { arrivals, ended } = await this.#subscribed(Math.max(waitMs, SUBSCRIBED_MS), signal);
    const late = abortAfter(waitMs, signal);
    let from = given ?? (await this.#position());
    for (;;) {
      const woken = new AbortController();
      const either = { signal: AbortSignal.any([late, woken.signal]) };
      const arrived = [...wanted].map((topic) => once(arrivals, topic, either).catch(() => {}));
      try {
        const found = await this.#read(from, wait).catch((error) => {
          // A restarting server does not end the wait.
          if (late.aborted || !(error instanceof UnreachableError)) throw error;
          return null;
        });
        if (found && (found.events.length > 0 || found.missed || late.aborted)) return found;
        from = found?.cursor ?? from;
        await Promise.race([...arrived, ended]);
        if (found && late.aborted) return found;
        await sleep(late.aborted ? 0 : GATHER_MS);
      } finally {
        woken.abort();
      }
    }
  }

  /** Ends the subscription. */
  async close(): Promise<void> {
    const held = await this.#subscription?.catch(() => null);
    await held?.stream.return();
  }

  async #position(): Promise<Cursor> {
    const { epoch, event_seq: seq } = await this.client.meta();
    return { epoch, seq };
  }

  /** Subscribes once. Fails at once if the agent is not registered. */
  async #subscribed(ms: number, signal: AbortSignal): Promise<Subscription> {
    this.#subscription ??= this.#subscribe().catch((error) => {
      this.#subscription = null;
      throw error;
    });
    const late = abortAfter(ms, signal);
    const aborted = once(late, 'abort').then(() => null);
    const held = late.aborted ? null : await Promise.race([this.#subscription, aborted]);
    if (held) return held;
    throw new UnreachableError(`subscription timed out: ${this.client.url}`);
  }

  async #subscribe(): Promise<Subscription> {
    await this.client.agent(this.client.agentId);
    const arrivals = new EventEmitter().setMaxListeners(0);
    const wake = (topic: string) => arrivals.emit(topic);
    const stream = this.client.events(topics, { onGap: () => topics.forEach(wake) });
    await stream.opened;
    const follow = async () => {
      for await (const event of stream) topicsOf(event).forEach(wake);
    };
    const ended = follow();
    ended.catch(() => {
      this.#subscription = null;
    });
    return { stream, arrivals, ended };
  }

  /** Reads events page by page, and skips pages without a wanted event. */
  async #read(from: Cursor, { topics: wanted, limit, signal }: NewsWait): Promise<FoundNews> {
    const fetched = (after: number) =>
      this.client.eventPage({ after, topics: [...wanted], limit: PAGE });
    let page = await fetched(from.seq);
    const missed = page.epoch !== from.epoch || page.last_seq < from.seq;
    if (missed) page = await fetched(0);
    for (;;) {
      const found = page.events.filter((event) => topicsOf(event).length > 0);
      const events = found.slice(0, limit);
      const { epoch, next_cursor: next, last_seq } = page;
      const isCut = found.length > limit;
      const seq = isCut ? events.at(-1)!.seq : next === null ? last_seq : Number(next);
      if (events.length > 0 || next === null || signal.aborted) {
        return { events, cursor: { epoch, seq }, more: isCut || next !== null, missed };
      }
      page = await fetched(seq);
    }
  }
}

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
