/** A WebSocket client that counts events in order, and can stop reading. */
import type { Signatory } from 'folkmoot';
import { authInput } from 'folkmoot/signing';
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
  /** Encoded events, unless `onEvent` is replaced. */
  readonly texts: Buffer[] = [];
  /** Number of received events. */
  count = 0;
  /** Called with each event and its index, from 0. */
  onEvent: (text: Buffer, index: number) => void = (text) => this.texts.push(text);
  /** Close code; 1006 if the connection was cut. */
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

  /** Connects and authenticates. The connection closes with the test. */
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

  /** Subscribes. After the acknowledgement, the server sends only events. */
  async subscribe(topics: readonly string[], since?: Since): Promise<Acknowledged> {
    const message = { type: 'subscribe', topics, ...(since ? { since } : {}) };
    return (await this.#ask(message)) as unknown as Acknowledged;
  }

  /** Resolves after `count` events in total, and rejects if the connection ends earlier. */
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

  /** Stops reading from the socket. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Disconnects without a close frame. */
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
