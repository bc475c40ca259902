/**
 * The feed: a ring of events, each encoded once for all, and a cursor for each subscriber. What a
 * cursor points at comes from the ring or, further back, from the store, so live and resumed events
 * are one mechanism. A live cursor that left the ring belongs to a slow consumer: it is cut, never
 * given a hole.
 */
import type { PublishedEvent } from '../../engine/node/encode.js';
import type { ServedNetwork } from '../../engine/node/kept-network.js';
import { eventTopics } from '../../engine/protocol/schema/event.js';
import { refuseDamagedArchive } from '../checks/damaged-archive.js';
import type { Socket } from '../transport/transport.js';
import type { Traffic } from './traffic.js';

/** Events at hand for those who keep up. */
const RING = 16_384;
/** Events that a resume may go back; counting them must not hold up the others. */
const RESUMABLE = 200_000;
/** A socket that buffers more than this is not given more until it drains. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Events of a replay that are sent, or skipped, without a pause. */
const PAGE = 256;
const COUNTED = 1_024;

interface RingEvent {
  topics: readonly string[];
  /** As it came, until somebody is sent it: then its bytes, for all who follow. */
  text: string | Uint8Array;
}

export class Feed {
  readonly #network: ServedNetwork;
  readonly #ring: (RingEvent | undefined)[] = new Array(RING);
  readonly #texts = new TextBuffer();
  readonly #subscribers = new Set<Subscriber>();
  /** Those who keep up, where they can be sent the same at once; their cursors stand still. */
  readonly #audiences = new Audiences();
  /** All others that are live. */
  readonly #lagging = new Set<Subscriber>();
  #head: number;
  /** The oldest event in the ring. */
  #oldest: number;
  readonly #stop: () => void;
  readonly #scheduler = new Scheduler();
  /** The replay of each subscriber that reads history. */
  readonly #replays = new Map<Subscriber, Work>();
  /** Subscribers cut for being slow. */
  dropped = 0;
  /** Called with the status of each block that leaves voting. */
  onBlock: (status: string) => void = () => {};

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

  /** Its counts are as of now. */
  settle(subscriber: Subscriber): void {
    this.#audiences.settle(subscriber);
  }

  /** Its socket takes more again. */
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

  /** The earliest `since` that can be resumed from: history is longer, a resume is not. */
  get resumable(): number {
    return Math.max(0, this.#head - RESUMABLE);
  }

  /** Where a subscriber begins; `gap` where what follows its `since` is not all replayed. */
  positionOf(since?: { epoch: string; seq: number }) {
    const head = this.#head;
    const known = since?.epoch === this.#network.epoch && since.seq <= head;
    const gap = since !== undefined && (!known || since.seq < this.resumable);
    // Another history, or too long ago: what is held is replayed from its beginning.
    const from = since === undefined ? head : gap ? this.resumable : since.seq;
    return { head, gap, from };
  }

  /** How many events of a span concern a subscriber, counted in pieces and given in the end. */
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
        // As far as it goes: who resumes gets the error when it is there.
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

  /** It has read all of its history. */
  #live(subscriber: Subscriber): void {
    this.#lagging.add(subscriber);
    this.#pump(subscriber);
  }

  /** It does not keep up, or wants something else: it goes on by itself after an event. */
  #part(subscriber: Subscriber, seq: number): void {
    this.#audiences.remove(subscriber);
    subscriber.cursor = seq;
    this.#lagging.add(subscriber);
  }

  /** Gives a subscriber as much as its socket takes; who keeps up goes to the others who do. */
  #pump(subscriber: Subscriber): void {
    if (!this.#lagging.has(subscriber)) return;
    subscriber.socket.cork(() => {
      while (subscriber.cursor < this.#head && this.#subscribers.has(subscriber)) {
        // Checked first: a socket that takes nothing never drains, and would never be cut.
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

  /** A page of history, until it is live. */
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

  /** History that cannot be read is an error, never left out. */
  #fail(subscriber: Subscriber, error: unknown): void {
    const refusal = refuseDamagedArchive(error);
    if (refusal === null) throw error;
    const { code, reason, message, details } = refusal;
    const shown = { code, message, details: { reason, ...details } };
    subscriber.socket.send(JSON.stringify({ type: 'error', error: shown }));
    this.remove(subscriber);
    subscriber.onCut('damaged');
  }

  /** A page of what is next: out of the ring, or out of the store. */
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
    for (const { seq, type, json, status } of events) {
      if (anySubscriber) {
        const event = { topics: eventTopics[type], text: json };
        this.#ring[seq % RING] = event;
        this.#publish(seq, event);
      }
      if (status !== null) this.onBlock(status);
      this.#head = seq;
    }
    // While there is no subscriber nothing is kept: who comes later reads it from the store.
    this.#oldest = anySubscriber ? Math.max(this.#oldest, this.#head - RING + 1) : this.#head + 1;
    for (const subscriber of this.#lagging) this.#pump(subscriber);
  }
}

/*
 * Subscribers of the same topics who keep up, over sockets that can be sent the same at once: an
 * event is published once for all of them, and none of them is touched for it. What each was sent
 * is the difference of two counts.
 */

/** Buffers are looked at after so many bytes: long before the transport would drop a message. */
const STEP_BYTES = 64 * 1024;

interface Sent {
  readonly messages: number;
  readonly bytes: number;
  /** The last event. */
  readonly seq: number;
}

class Audience {
  readonly name: string;
  readonly #topics: ReadonlySet<string>;
  /** What had been sent when each of them came, or was settled with. */
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

  /** Those whose sockets buffer more than so many bytes, where it is time to look. */
  findLagging(mostBytes: number): Subscriber[] {
    if (this.#unseenBytes < STEP_BYTES) return [];
    this.#unseenBytes = 0;
    return [...this.#members.keys()].filter(({ socket }) => socket.bufferedBytes() > mostBytes);
  }
}

/** All audiences of a feed. */
class Audiences {
  readonly #byName = new Map<string, Audience>();
  readonly #of = new Map<Subscriber, Audience>();

  has(subscriber: Subscriber): boolean {
    return this.#of.has(subscriber);
  }

  /** Takes in a subscriber whose socket can be published to. */
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

  /** Adds what it was sent here to the subscriber's own counts. */
  settle(subscriber: Subscriber): void {
    this.#of.get(subscriber)?.settle(subscriber);
  }

  /** Those that an event concerns. */
  *about(topics: readonly string[]): Iterable<Audience> {
    for (const audience of this.#byName.values())
      if (audience.includesTopic(topics)) yield audience;
  }
}

/*
 * Long work in pieces, between turns of the event loop: an agent's one after another, those of
 * many agents in rotation, so that nobody's history holds up the others.
 */

/** `waits` is for something that will add it again. */
type Progress = 'more' | 'waits' | 'done';
type Work = () => Progress;

/** Pieces take about a millisecond; after so long, others have their turn. */
const TURN_MS = 4;

class Scheduler {
  /** Whose turn is next comes first. */
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
    // Taken off before it runs: it may add itself again.
    this.#queues.delete(agent);
    const progress = work();
    if (progress !== 'more') queue.shift();
    const added = this.#queues.get(agent)?.filter((other) => !queue.includes(other)) ?? [];
    this.#queues.delete(agent);
    if (queue.length + added.length > 0) this.#queues.set(agent, [...queue, ...added]);
  }
}

/**
 * Texts that are kept for a while, encoded side by side. In Node's pool each would keep eight
 * kilobytes of whatever was allocated beside it: ten times what the feed's ring holds.
 */
const BUFFER_BYTES = 64 * 1024;

class TextBuffer {
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #used = 0;

  /** UTF-8 of the text; it shares its memory with those before and after it. */
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
  /** Whose it is: replays of one agent come one after another. */
  agent: string;
  readonly topics: Set<string>;
  /** The last event it has been given, or that did not concern it. */
  cursor: number;
  /** Reading history: may be as slow as it likes. */
  catchingUp: boolean;
  lastSent: number;
  /** What left over its socket. */
  readonly traffic: Traffic;
  /** The feed has given it up. */
  onCut(why: 'slow' | 'damaged'): void;
}

/** One that has no agent, and no topics, yet. */
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

/** What its owner is shown of it. */
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
