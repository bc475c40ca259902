/**
 * Who has received what: each update shall reach each subscriber once. It is held until all have
 * it, with a bit for each of them.
 */
import type { RunContext } from '../workload.js';

interface Update {
  intendedMs: number;
  /** What became of it is known. */
  settled: boolean;
  /** It was accepted, or somebody received it: all shall. */
  due: boolean;
  /** Connected when it was sent. */
  expected: number;
  /** Subscribers who have it, or who will not get it: a bit each. */
  done: Uint8Array;
  missing: number;
}

interface Subscriber {
  connected: boolean;
  /** Of the last event; 0 before the first. */
  seq: number;
  /** Numbers left out. */
  left: number;
}

type DeliveryRecord = Pick<RunContext, 'now' | 'delivered' | 'deliveries'>;

export class Deliveries {
  readonly #record: DeliveryRecord;
  readonly #subscribers: Subscriber[];
  readonly #updates = new Map<number, Update>();
  /** Numbers of updates below were sent. */
  #sent = 0;
  /** Of the last one sent: what goes wrong later, when nothing is sent any more, is of its time. */
  #intendedMs: number;

  constructor(subscribers: number, record: DeliveryRecord) {
    this.#record = record;
    this.#intendedMs = record.now();
    this.#subscribers = Array.from({ length: subscribers }, () => {
      return { connected: true, seq: 0, left: 0 };
    });
  }

  /** Whether somebody connected has still to receive something. */
  get waits(): boolean {
    return [...this.#updates.values()].some(({ settled, due }) => !settled || due);
  }

  /** An update is sent now. */
  sent(number: number, intendedMs: number): void {
    const done = new Uint8Array(Math.ceil(this.#subscribers.length / 8));
    const update = { intendedMs, settled: false, due: false, expected: 0, done, missing: 0 };
    this.#subscribers.forEach(({ connected }, index) => {
      if (connected) update.missing += 1;
      else mark(update, index);
    });
    update.expected = update.missing;
    this.#updates.set(number, update);
    this.#intendedMs = intendedMs;
    this.#sent = Math.max(this.#sent, number + 1);
  }

  /** Nobody needs to receive of what was not accepted; if anybody does, all shall. */
  completed(number: number, accepted: boolean): void {
    const update = this.#updates.get(number);
    if (!update) return;
    update.settled = true;
    if (accepted) this.#expect(update);
    this.#forget(number, update);
  }

  /** A subscriber received an update; `null` is any other event. */
  received(subscriber: number, number: number | null, seq: number | null): void {
    const inOrder = seq === null || this.#numbered(subscriber, seq);
    if (number === null || number >= this.#sent) return;
    const nowMs = this.#record.now();
    const update = this.#updates.get(number);
    if (!update || isMarked(update, subscriber)) {
      // Numbers that do not go up were reported already.
      if (inOrder) this.#record.deliveries({ holes: 1 }, update?.intendedMs ?? this.#intendedMs);
      return;
    }
    // It was left out before, and comes now: too late, and yet not missing.
    if (!inOrder) this.#subscribers[subscriber]!.left -= 1;
    this.#expect(update);
    mark(update, subscriber);
    this.#record.delivered(nowMs - update.intendedMs, update.intendedMs);
    update.missing -= 1;
    this.#forget(number, update);
  }

  /** The server closed a connection: what it did not get is announced to be missing. */
  disconnected(subscriber: number): void {
    this.#subscribers[subscriber]!.connected = false;
    this.#record.deliveries({ disconnects: 1 }, this.#intendedMs);
    for (const [number, update] of this.#updates) {
      if (isMarked(update, subscriber)) continue;
      mark(update, subscriber);
      update.missing -= 1;
      this.#forget(number, update);
    }
  }

  /** What is missing will not come. Numbers left out are what is missing, and perhaps more. */
  finish(): void {
    const missing = new Uint32Array(this.#subscribers.length);
    for (const update of this.#updates.values()) {
      if (!update.due) continue;
      this.#record.deliveries({ holes: update.missing }, update.intendedMs);
      this.#subscribers.forEach((_, index) => {
        if (!isMarked(update, index)) missing[index]! += 1;
      });
    }
    this.#updates.clear();
    this.#subscribers.forEach(({ left }, index) => {
      const more = left - missing[index]!;
      if (more > 0) this.#record.deliveries({ holes: more }, this.#intendedMs);
    });
  }

  #expect(update: Update): void {
    if (update.due) return;
    update.due = true;
    this.#record.deliveries({ expected: update.expected }, update.intendedMs);
  }

  /** What everybody has is over. */
  #forget(number: number, { due, settled, missing }: Update): void {
    if (missing === 0 && due && settled) this.#updates.delete(number);
  }

  /** Every subscriber gets all there is, so that numbers follow one another: whether it goes up. */
  #numbered(index: number, seq: number): boolean {
    const subscriber = this.#subscribers[index]!;
    const expected = subscriber.seq === 0 ? seq : subscriber.seq + 1;
    if (seq > expected) subscriber.left += seq - expected;
    else if (seq < expected) this.#record.deliveries({ holes: 1 }, this.#intendedMs);
    subscriber.seq = Math.max(subscriber.seq, seq);
    return seq >= expected;
  }
}

const mark = ({ done }: Update, index: number) => {
  done[index >> 3]! |= 1 << (index & 7);
};

const isMarked = ({ done }: Update, index: number) =>
  ((done[index >> 3]! >> (index & 7)) & 1) === 1;
