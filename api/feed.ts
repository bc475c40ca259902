/**
 * The feed: a ring of events, each encoded once for all, and a cursor for each subscriber. What a
 * cursor points at comes from the ring or, further back, from the store, so live and resumed events
 * are one mechanism. A live cursor that left the ring belongs to a slow consumer: it is cut, never
 * given a hole.
 */
import { eventTopics, type Network, type ToldEvent } from '../engine/index.js';
import { damagedPast } from './damage.js';
import { Slab } from './slab.js';
import type { Socket } from './transport.js';

/** Events at hand for those who keep up. */
const RING = 16_384;
/** Events that a resume may go back; counting them must not hold up the others. */
const RESUMABLE = 200_000;
/** A socket that buffers more than this is not given more until it drains. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Events read from the store at once, for one subscriber. */
const PAGE = 256;

interface Held {
  topics: readonly string[];
  /** As it came, until somebody is sent it: then its bytes, for all who follow. */
  text: string | Uint8Array;
}

export interface Subscriber {
  readonly socket: Socket;
  readonly topics: Set<string>;
  /** The last event it has been given, or that did not concern it. */
  cursor: number;
  /** Reading history: may be as slow as it likes. */
  catchingUp: boolean;
  lastSent: number;
  /** The feed has given it up. */
  onCut(why: 'slow' | 'damaged'): void;
}

export class Feed {
  readonly #network: Network;
  readonly #ring: (Held | undefined)[] = new Array(RING);
  readonly #slab = new Slab();
  readonly #subscribers = new Set<Subscriber>();
  #head: number;
  /** The oldest event in the ring. */
  #oldest: number;
  readonly #stop: () => void;
  /** Subscribers cut for being slow. */
  dropped = 0;
  /** Called with the status of each block that leaves voting. */
  onBlock: (status: string) => void = () => {};

  constructor(network: Network) {
    this.#network = network;
    this.#head = network.read.position.event_seq;
    this.#oldest = this.#head + 1;
    this.#stop = network.onEvents((events) => this.#take(events));
  }

  get head(): number {
    return this.#head;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.pump(subscriber);
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  close(): void {
    this.#stop();
    this.#subscribers.clear();
  }

  /** The earliest `since` that can be resumed from: history is longer, a resume is not. */
  get resumable(): number {
    return Math.max(0, this.#head - RESUMABLE);
  }

  /** How many events after `since` concern these topics: what a resume will replay. */
  count(since: number, topics: ReadonlySet<string>): number {
    let count = 0;
    try {
      for (const { type } of this.#network.read.eventTexts(since + 1, this.#head)) {
        if (eventTopics[type].some((topic) => topics.has(topic))) count += 1;
      }
    } catch (error) {
      // As far as it goes: who resumes is told when it gets there.
      if (!damagedPast(error)) throw error;
    }
    return count;
  }

  /** Gives a subscriber as much as its socket takes. */
  pump(subscriber: Subscriber): void {
    if (!this.#subscribers.has(subscriber)) return;
    subscriber.socket.cork(() => {
      while (subscriber.cursor < this.#head && this.#subscribers.has(subscriber)) {
        // Looked at first: a socket that takes nothing never drains, and would never be cut.
        const left = subscriber.cursor + 1 < this.#oldest;
        if (left && !subscriber.catchingUp) return this.#cut(subscriber);
        if (subscriber.socket.bufferedBytes() > HIGH_WATER_BYTES) return;
        this.#give(subscriber);
      }
      subscriber.catchingUp = false;
    });
  }

  #cut(subscriber: Subscriber): void {
    this.dropped += 1;
    this.remove(subscriber);
    subscriber.onCut('slow');
  }

  /** History that cannot be read is told, never left out. */
  #lose(subscriber: Subscriber, error: unknown): void {
    const refusal = damagedPast(error);
    if (refusal === null) throw error;
    const { code, reason, message, details } = refusal;
    const told = { code, message, details: { reason, ...details } };
    subscriber.socket.send(JSON.stringify({ type: 'error', error: told }));
    this.remove(subscriber);
    subscriber.onCut('damaged');
  }

  /** What the ring holds next, or a page of history. */
  #give(subscriber: Subscriber): void {
    const next = subscriber.cursor + 1;
    if (next >= this.#oldest) return this.#send(subscriber, next, this.#ring[next % RING]!);
    const last = Math.min(this.#oldest - 1, next + PAGE - 1);
    try {
      for (const { seq, type, json } of this.#network.read.eventTexts(next, last)) {
        this.#send(subscriber, seq, { topics: eventTopics[type], text: Buffer.from(json) });
      }
    } catch (error) {
      this.#lose(subscriber, error);
    }
  }

  #send(subscriber: Subscriber, seq: number, event: Held): void {
    subscriber.cursor = seq;
    if (!event.topics.some((topic) => subscriber.topics.has(topic))) return;
    if (typeof event.text === 'string') event.text = this.#slab.encode(event.text);
    subscriber.socket.send(event.text);
    subscriber.lastSent = seq;
  }

  #take(events: readonly ToldEvent[]): void {
    const heard = this.#subscribers.size > 0;
    for (const { seq, type, json } of events) {
      if (heard) this.#ring[seq % RING] = { topics: eventTopics[type], text: json };
      if (type === 'block_status') this.onBlock(JSON.parse(json).data.status);
      this.#head = seq;
    }
    // While nobody listens nothing is kept: who comes later reads it from the store.
    this.#oldest = heard ? Math.max(this.#oldest, this.#head - RING + 1) : this.#head + 1;
    for (const subscriber of this.#subscribers) this.pump(subscriber);
  }
}
