/**
 * The feed consists of a ring of events, each encoded once for all subscribers, and one cursor per
 * subscriber. Events come from the ring or, further back, from the store, so live and resumed
 * subscriptions share one mechanism. A live cursor that falls out of the ring belongs to a slow
 * consumer, which is disconnected so that it does not miss events.
 */
import type { PublishedEvent } from '../../engine/node/encode.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { eventTopics } from '../../engine/protocol/schema/event.js';
import { refuseDamagedArchive } from '../../engine/store/segment.js';
import type { Socket } from '../transport/transport.js';

/** Number of events in memory for caught-up subscribers. */
const RING = 16_384;
/** Number of events that a resume may reach back. Bounded because counting them takes time. */
const RESUMABLE = 200_000;
/** A socket that buffers more than this receives nothing until it drains. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Number of replayed events sent or counted without a pause. */
const PAGE = 256;
const COUNTED = 1_024;

interface RingEvent {
  topics: readonly string[];
  /** Text as received, encoded when first sent, then shared. */
  text: string | Uint8Array;
}

export class Feed {
  readonly #network: ServedNetwork;
  readonly #ring: (RingEvent | undefined)[] = new Array(RING);
  readonly #texts = new TextBuffer();
  readonly #subscribers = new Set<Subscriber>();
  /** Caught-up subscribers whose sockets can be published to. Their cursors are not updated. */
  readonly #audiences = new Audiences();
  /** Live subscribers that are in no audience. */
  readonly #lagging = new Set<Subscriber>();
  #head: number;
  #oldest: number;
  readonly #stop: () => void;
  readonly #scheduler = new Scheduler();
  readonly #replays = new Map<Subscriber, Work>();
  /** Subscribers disconnected because they were slow. */
  dropped = 0;
  /** Called with the final `block_status` event of each block. */
  onBlock: (event: PublishedEvent) => void = () => {};

  constructor(network: ServedNetwork) {
    this.#network = network;
    this.#head = network.read.position.event_seq;
    this.#oldest = this.#head + 1;
    this.#stop = network.onEvents((events) => this.#receive(events));
  }

  get head(): number {
    return this.#head;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    if (!subscriber.catchingUp) return this.#live(subscriber);
    const replay = () => this.#replay(subscriber);
    this.#replays.set(subscriber, replay);
    this.#scheduler.add(subscriber.agent, replay);
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#replays.delete(subscriber);
    this.#lagging.delete(subscriber);
    this.#audiences.remove(subscriber);
  }

  subscribe(subscriber: Subscriber, topics: readonly string[]): void {
    this.#change(subscriber, (mine) => {
      for (const topic of topics) mine.add(topic);
    });
  }

  unsubscribe(subscriber: Subscriber, topics: readonly string[]): void {
    this.#change(subscriber, (mine) => {
      for (const topic of topics) mine.delete(topic);
    });
  }

  #change(subscriber: Subscriber, to: (topics: Set<string>) => void): void {
    const live = this.#audiences.has(subscriber);
    if (live) this.#part(subscriber, this.#head);
    to(subscriber.topics);
    if (live) this.#pump(subscriber);
  }

  settle(subscriber: Subscriber): void {
    this.#audiences.settle(subscriber);
  }

  /** Continues sending when the socket has drained. */
  drained(subscriber: Subscriber): void {
    const replay = this.#replays.get(subscriber);
    if (replay) this.#scheduler.add(subscriber.agent, replay);
    else this.#pump(subscriber);
  }

  close(): void {
    this.#stop();
    this.#scheduler.close();
    this.#subscribers.clear();
  }

  /** Earliest `since` from which a subscriber can resume. History goes back further. */
  get resumable(): number {
    return Math.max(0, this.#head - RESUMABLE);
  }

  /** Returns a subscription's start. `gap` is true if events after `since` are missing. */
  positionOf(since?: { epoch: string; seq: number }) {
    const head = this.#head;
    const known = since?.epoch === this.#network.epoch && since.seq <= head;
    const gap = since !== undefined && (!known || since.seq < this.resumable);
    // After a changed history or a long absence, replays from the earliest resumable event.
    const from = since === undefined ? head : gap ? this.resumable : since.seq;
    return { head, gap, from };
  }

  /** Counts, in slices, the events in a range that concern a subscriber. */
  count(
    { agent, topics }: Subscriber,
    { from, to, alive }: { from: number; to: number; alive: () => boolean },
    counted: (count: number) => void,
  ): void {
    let count = 0;
    let reached = from;
    const piece: Work = () => {
      const last = Math.min(to, reached + COUNTED);
      try {
        for (const { type } of this.#network.read.eventTexts(reached + 1, last)) {
          if (eventTopics[type].some((topic) => topics.has(topic))) count += 1;
        }
        reached = last;
      } catch (error) {
        // A damaged segment ends the count. The replay reports the error when it reaches the
        // segment.
        if (!refuseDamagedArchive(error)) throw error;
        reached = to;
      }
      if (!alive()) return 'done';
      if (reached < to) return 'more';
      counted(count);
      return 'done';
    };
    if (piece() === 'more') this.#scheduler.add(agent, piece);
  }

  /** Makes a caught-up subscriber live. */
  #live(subscriber: Subscriber): void {
    this.#lagging.add(subscriber);
    this.#pump(subscriber);
  }

  /** Moves a subscriber from its audience to the lagging subscribers, after event `seq`. */
  #part(subscriber: Subscriber, seq: number): void {
    this.#audiences.remove(subscriber);
    subscriber.cursor = seq;
    this.#lagging.add(subscriber);
  }

  /** Sends as much as the socket accepts. A caught-up subscriber joins its audience. */
  #pump(subscriber: Subscriber): void {
    if (!this.#lagging.has(subscriber)) return;
    subscriber.socket.cork(() => {
      while (subscriber.cursor < this.#head && this.#subscribers.has(subscriber)) {
        // Checked first, because a blocked socket never drains and would otherwise never be
        // disconnected.
        if (subscriber.cursor + 1 < this.#oldest) return this.#cut(subscriber);
        if (subscriber.socket.bufferedBytes() > HIGH_WATER_BYTES) return;
        const next = subscriber.cursor + 1;
        this.#send(subscriber, next, this.#ring[next % RING]!);
      }
    });
    if (subscriber.socket.together && this.#keepsUp(subscriber)) {
      this.#lagging.delete(subscriber);
      this.#audiences.add(subscriber);
    }
  }

  #keepsUp(subscriber: Subscriber): boolean {
    return subscriber.cursor === this.#head && this.#takes(subscriber);
  }

  /** Replays a page of history. At the end of the history, makes the subscriber live. */
  #replay(subscriber: Subscriber): Progress {
    if (!this.#subscribers.has(subscriber)) return 'done';
    if (!this.#takes(subscriber)) return 'waits';
    subscriber.socket.cork(() => this.#sendPage(subscriber));
    if (!this.#subscribers.has(subscriber)) return 'done';
    if (subscriber.cursor < this.#head) return 'more';
    subscriber.catchingUp = false;
    this.#replays.delete(subscriber);
    this.#live(subscriber);
    return 'done';
  }

  #cut(subscriber: Subscriber): void {
    this.dropped += 1;
    this.remove(subscriber);
    subscriber.onCut('slow');
  }

  /** Disconnects a subscriber whose history is unreadable, so that it does not miss events. */
  #fail(subscriber: Subscriber, error: unknown): void {
    const refusal = refuseDamagedArchive(error);
    if (refusal === null) throw error;
    const { code, reason, message, details } = refusal;
    const shown = { code, message, details: { reason, ...details } };
    subscriber.socket.send(JSON.stringify({ type: 'error', error: shown }));
    this.remove(subscriber);
    subscriber.onCut('damaged');
  }

  /** Sends a page of events, from the ring or the store. */
  #sendPage(subscriber: Subscriber): void {
    const next = subscriber.cursor + 1;
    const last = Math.min(this.#head, next + PAGE - 1);
    if (next >= this.#oldest) {
      for (let seq = next; seq <= last && this.#takes(subscriber); seq += 1) {
        this.#send(subscriber, seq, this.#ring[seq % RING]!);
      }
      return;
    }
    try {
      for (const { seq, type, json } of this.#network.read.eventTexts(next, last)) {
        if (!this.#takes(subscriber)) return;
        this.#send(subscriber, seq, { topics: eventTopics[type], text: Buffer.from(json) });
      }
    } catch (error) {
      this.#fail(subscriber, error);
    }
  }

  #takes(subscriber: Subscriber): boolean {
    if (!this.#subscribers.has(subscriber)) return false;
    return subscriber.socket.bufferedBytes() <= HIGH_WATER_BYTES;
  }

  #send(subscriber: Subscriber, seq: number, event: RingEvent): void {
    subscriber.cursor = seq;
    if (!event.topics.some((topic) => subscriber.topics.has(topic))) return;
    subscriber.socket.send(this.#bytesOf(event));
    subscriber.lastSent = seq;
  }

  #bytesOf(event: RingEvent): Uint8Array {
    if (typeof event.text === 'string') event.text = this.#texts.encode(event.text);
    return event.text;
  }

  #publish(seq: number, event: RingEvent): void {
    for (const audience of this.#audiences.about(event.topics)) {
      audience.publish(seq, this.#bytesOf(event));
      for (const behind of audience.findLagging(HIGH_WATER_BYTES)) this.#part(behind, seq);
    }
  }

  #receive(events: readonly PublishedEvent[]): void {
    const anySubscriber = this.#subscribers.size > 0;
    for (const published of events) {
      const { seq, type, json, status } = published;
      if (anySubscriber) {
        const event = { topics: eventTopics[type], text: json };
        this.#ring[seq % RING] = event;
        this.#publish(seq, event);
      }
      if (status !== null) this.onBlock(published);
      this.#head = seq;
    }
    // Without subscribers, the ring stays empty. A later subscriber reads from the store.
    this.#oldest = anySubscriber ? Math.max(this.#oldest, this.#head - RING + 1) : this.#head + 1;
    for (const subscriber of this.#lagging) this.#pump(subscriber);
  }
}

/*
 * Groups caught-up subscribers by topic set. An event is published once per group, without touching
 * the group's members. The difference between two counts tells how much each member was sent.
 */

/** Bytes sent between two checks of the buffers, well below the transport's limit. */
const STEP_BYTES = 64 * 1024;

interface Sent {
  readonly messages: number;
  readonly bytes: number;
  readonly seq: number;
}

class Audience {
  readonly name: string;
  readonly #topics: ReadonlySet<string>;
  /** The audience's counts when each member joined or was last settled. */
  readonly #members = new Map<Subscriber, Sent>();
  #sent: Sent = { messages: 0, bytes: 0, seq: 0 };
  #unseenBytes = 0;

  constructor(name: string, topics: Iterable<string>) {
    this.name = name;
    this.#topics = new Set(topics);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  includesTopic(topics: readonly string[]): boolean {
    return topics.some((topic) => this.#topics.has(topic));
  }

  add(subscriber: Subscriber): void {
    this.#members.set(subscriber, this.#sent);
    subscriber.socket.together!.join(this.name);
  }

  remove(subscriber: Subscriber): void {
    this.settle(subscriber);
    this.#members.delete(subscriber);
    subscriber.socket.together!.leave(this.name);
  }

  settle(subscriber: Subscriber): void {
    const before = this.#members.get(subscriber)!;
    const { messages, bytes, seq } = this.#sent;
    if (messages === before.messages) return;
    subscriber.traffic.messagesOut += messages - before.messages;
    subscriber.traffic.bytesOut += bytes - before.bytes;
    subscriber.lastSent = seq;
    this.#members.set(subscriber, this.#sent);
  }

  publish(seq: number, text: Uint8Array): void {
    const { messages, bytes } = this.#sent;
    this.#sent = { messages: messages + 1, bytes: bytes + text.length, seq };
    this.#unseenBytes += text.length;
    const [anyone] = this.#members.keys();
    anyone!.socket.together!.publish(this.name, text);
  }

  /** Returns the members that buffer more than `mostBytes`, if a check is due. */
  findLagging(mostBytes: number): Subscriber[] {
    if (this.#unseenBytes < STEP_BYTES) return [];
    this.#unseenBytes = 0;
    return [...this.#members.keys()].filter(({ socket }) => socket.bufferedBytes() > mostBytes);
  }
}

class Audiences {
  readonly #byName = new Map<string, Audience>();
  readonly #of = new Map<Subscriber, Audience>();

  has(subscriber: Subscriber): boolean {
    return this.#of.has(subscriber);
  }

  /** Adds a subscriber whose socket supports publishing. */
  add(subscriber: Subscriber): void {
    const topics = [...subscriber.topics].sort();
    const name = topics.join();
    const audience = this.#byName.get(name) ?? new Audience(name, topics);
    this.#byName.set(name, audience);
    this.#of.set(subscriber, audience);
    audience.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    const audience = this.#of.get(subscriber);
    if (!audience) return;
    this.#of.delete(subscriber);
    audience.remove(subscriber);
    if (audience.isEmpty) this.#byName.delete(audience.name);
  }

  /** Adds the audience's counts to the subscriber's. */
  settle(subscriber: Subscriber): void {
    this.#of.get(subscriber)?.settle(subscriber);
  }

  *about(topics: readonly string[]): Iterable<Audience> {
    for (const audience of this.#byName.values())
      if (audience.includesTopic(topics)) yield audience;
  }
}

/*
 * Runs long work in slices between event-loop turns. Work for one agent is sequential. Agents take
 * turns, so that one agent's history does not delay the others.
 */

/** `waits`: the work is added again later. */
type Progress = 'more' | 'waits' | 'done';
type Work = () => Progress;

/** Time slice. A piece of work takes about a millisecond. */
const TURN_MS = 4;

class Scheduler {
  readonly #queues = new Map<string, Work[]>();
  #next: NodeJS.Immediate | null = null;

  add(agent: string, work: Work): void {
    const queue = this.#queues.get(agent);
    if (!queue) this.#queues.set(agent, [work]);
    else if (!queue.includes(work)) queue.push(work);
    this.#next ??= setImmediate(() => this.#runSlice());
  }

  close(): void {
    this.#queues.clear();
    if (this.#next) clearImmediate(this.#next);
  }

  #runSlice(): void {
    this.#next = null;
    const until = performance.now() + TURN_MS;
    do this.#piece();
    while (this.#queues.size > 0 && performance.now() < until);
    if (this.#queues.size > 0) this.#next ??= setImmediate(() => this.#runSlice());
  }

  #piece(): void {
    const [first] = this.#queues;
    if (!first) return;
    const [agent, queue] = first;
    const work = queue[0]!;
    // Removed before the work runs, because the work may add itself again.
    this.#queues.delete(agent);
    const progress = work();
    if (progress !== 'more') queue.shift();
    const added = this.#queues.get(agent)?.filter((other) => !queue.includes(other)) ?? [];
    this.#queues.delete(agent);
    if (queue.length + added.length > 0) this.#queues.set(agent, [...queue, ...added]);
  }
}

/**
 * Encodes retained texts side by side. In Node's pool, each text would retain the whole
 * eight-kilobyte allocation, which would take ten times the size of the ring.
 */
const BUFFER_BYTES = 64 * 1024;

class TextBuffer {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;

  /** Returns the UTF-8 of a text, in memory shared with other texts. */
  encode(text: string): Uint8Array {
    const bytes = Buffer.byteLength(text);
    if (this.#used + bytes > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, bytes));
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += this.#buffer.write(text, start);
    return this.#buffer.subarray(start, this.#used);
  }
}

export interface Subscriber {
  readonly socket: Socket;
  /** The subscriber's agent. Replays for one agent are sequential. */
  agent: string;
  readonly topics: Set<string>;
  /** Last event that was sent to the subscriber or did not concern it. */
  cursor: number;
  /** True while the subscriber reads history, at any speed. */
  catchingUp: boolean;
  lastSent: number;
  readonly traffic: Traffic;
  /** Called when the feed drops the subscriber. */
  onCut(why: 'slow' | 'damaged'): void;
}

/** Creates a subscriber that has no agent and no topics yet. */
export const createSubscriber = (
  socket: Socket,
  traffic: Traffic,
  onCut: Subscriber['onCut'],
): Subscriber => ({
  socket,
  traffic,
  agent: '',
  topics: new Set(),
  cursor: 0,
  catchingUp: false,
  lastSent: 0,
  onCut,
});

export interface SessionFigures {
  topics: string[];
  last_seq_sent: number;
  messages_in: number;
  messages_out: number;
  bytes_out: number;
  buffered_bytes: number;
}

export const getSessionFigures = (
  { topics, lastSent, traffic, socket }: Subscriber,
  closed: boolean,
): SessionFigures => ({
  topics: [...topics].sort(),
  last_seq_sent: lastSent,
  messages_in: traffic.messagesIn,
  messages_out: traffic.messagesOut,
  bytes_out: traffic.bytesOut,
  buffered_bytes: closed ? 0 : socket.bufferedBytes(),
});

export interface Traffic {
  messagesIn: number;
  messagesOut: number;
  bytesOut: number;
}

/** Wraps a socket to count its traffic. Calls `onFull` when a message was dropped. */
export function countTraffic(socket: Socket, traffic: Traffic, onFull: () => void): Socket {
  const note = (length: number, taken: boolean) => {
    traffic.messagesOut += 1;
    traffic.bytesOut += length;
    if (!taken) onFull();
    return taken;
  };
  return {
    ...socket,
    send: (text) => note(text.length, socket.send(text)),
    sendBytes: (bytes) => note(bytes.length, socket.sendBytes(bytes)),
  };
}
