/**
 * The feed: a ring of events, each encoded once for all, and a cursor for each subscriber. What a
 * cursor points at comes from the ring or, further back, from the store, so live and resumed events
 * are one mechanism. A live cursor that left the ring belongs to a slow consumer: it is cut, never
 * given a hole.
 */
import { eventTopics, type PublishedEvent, type ServedNetwork } from '../../../engine/internal.js';
import { damagedPast } from '../../checks/damaged-archive.js';
import { Audiences } from './audience.js';
import type { Subscriber } from './subscriber.js';
import { TextBuffer } from './text-buffer.js';
import { type Progress, Turns, type Work } from './turns.js';

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
  readonly #apart = new Set<Subscriber>();
  #head: number;
  /** The oldest event in the ring. */
  #oldest: number;
  readonly #stop: () => void;
  readonly #turns = new Turns();
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
    this.#turns.add(subscriber.agent, replay);
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#replays.delete(subscriber);
    this.#apart.delete(subscriber);
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
    if (replay) this.#turns.add(subscriber.agent, replay);
    else this.#pump(subscriber);
  }

  close(): void {
    this.#stop();
    this.#turns.close();
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
        if (!damagedPast(error)) throw error;
        reached = to;
      }
      if (!alive()) return 'done';
      if (reached < to) return 'more';
      counted(count);
      return 'done';
    };
    if (piece() === 'more') this.#turns.add(agent, piece);
  }

  /** It has read all of its history. */
  #live(subscriber: Subscriber): void {
    this.#apart.add(subscriber);
    this.#pump(subscriber);
  }

  /** It does not keep up, or wants something else: it goes on by itself after an event. */
  #part(subscriber: Subscriber, seq: number): void {
    this.#audiences.remove(subscriber);
    subscriber.cursor = seq;
    this.#apart.add(subscriber);
  }

  /** Gives a subscriber as much as its socket takes; who keeps up goes to the others who do. */
  #pump(subscriber: Subscriber): void {
    if (!this.#apart.has(subscriber)) return;
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
      this.#apart.delete(subscriber);
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
    const refusal = damagedPast(error);
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
      for (const behind of audience.behind(HIGH_WATER_BYTES)) this.#part(behind, seq);
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
    for (const subscriber of this.#apart) this.#pump(subscriber);
  }
}
