/** A WebSocket client that counts events as they come, in order, and can stop reading. */
import type { Signatory } from 'folkmoot';
import { authInput } from 'folkmoot/signing';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type Data, type ReadEvent, stamp } from './caller.js';

export const everyTopic = ['blocks', 'proposals', 'consensus', 'outcomes', 'network', 'social'];

export interface Since {
  epoch: string;
  seq: number;
}

export interface Acknowledged {
  epoch: string;
  last_seq: number;
  replay: number;
  gap: boolean;
}

export class Subscriber {
  /** Events, encoded, unless `onEvent` takes them. */
  readonly texts: Buffer[] = [];
  /** How many events came. */
  count = 0;
  /** Takes the event with this index, from 0. */
  onEvent: (text: Buffer, index: number) => void = (text) => this.texts.push(text);
  /** The code with which the connection ended; 1006 is a cut without one. */
  readonly closed: Promise<number>;
  endedWith: number | null = null;
  readonly #socket: WebSocket;
  #subscribed = false;
  #acknowledge: (data: Data) => void = () => {};
  #fail: (error: Error) => void = () => {};
  #wake: () => void = () => {};

  private constructor(url: string) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on('message', (text: Buffer) => this.#message(text));
    this.#socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', (code) => {
        this.endedWith = code;
        this.#fail(new Error(`closed with ${code}`));
        this.#wake();
        resolve(code);
      });
    });
  }

  /** Connects and authenticates; ends with the test. */
  static async open(url: string, by: Signatory): Promise<Subscriber> {
    const subscriber = new Subscriber(url);
    const socket = subscriber.#socket;
    onTestFinished(() => socket.terminate());
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const timestamp = stamp();
    const signature = by.sign(authInput(by.publicKey, timestamp));
    await subscriber.#ask({ type: 'auth', public_key: by.publicKey, timestamp, signature });
    return subscriber;
  }

  /** Nothing but events comes after the answer. */
  async subscribe(topics: readonly string[], since?: Since): Promise<Acknowledged> {
    const message = { type: 'subscribe', topics, ...(since ? { since } : {}) };
    return (await this.#ask(message)) as unknown as Acknowledged;
  }

  /** Resolves when so many events came in all; rejects when the connection ends before. */
  async took(count: number): Promise<void> {
    while (this.count < count) {
      if (this.endedWith !== null) {
        throw new Error(`closed with ${this.endedWith} after ${this.count} of ${count} events`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  get events(): ReadEvent[] {
    return this.texts.map((text) => JSON.parse(text.toString()) as ReadEvent);
  }

  /** Reads nothing more from the socket below. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Goes away without a word. */
  cut(): void {
    this.#socket.terminate();
  }

  #ask(message: Data): Promise<Data> {
    return new Promise((resolve, reject) => {
      this.#acknowledge = resolve;
      this.#fail = reject;
      this.#socket.send(JSON.stringify(message));
    });
  }

  #message(text: Buffer): void {
    if (this.#subscribed) {
      this.onEvent(text, this.count);
      this.count += 1;
      this.#wake();
      return;
    }
    const { type, data } = JSON.parse(text.toString()) as { type: string; data: Data };
    if (type === 'error') this.#fail(new Error(text.toString()));
    this.#subscribed = type === 'subscribed';
    this.#acknowledge(data);
  }
}
