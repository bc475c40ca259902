/**
 * Subscribers of the same topics who keep up, over sockets that can be sent the same at once: an
 * event is published once for all of them, and none of them is touched for it. What each was sent
 * is the difference of two counts.
 */
import type { Subscriber } from './subscriber.js';

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

  wants(topics: readonly string[]): boolean {
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
  behind(mostBytes: number): Subscriber[] {
    if (this.#unseenBytes < STEP_BYTES) return [];
    this.#unseenBytes = 0;
    return [...this.#members.keys()].filter(({ socket }) => socket.bufferedBytes() > mostBytes);
  }
}

/** All audiences of a feed. */
export class Audiences {
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
    for (const audience of this.#byName.values()) if (audience.wants(topics)) yield audience;
  }
}
