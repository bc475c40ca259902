/** A WebSocket client that counts events in order, and can stop reading. */
import type { Signatory } from 'folkmoot';
import { Connection } from '../../support/service/live.js';
import { auth } from '../../support/service/signer.js';
import type { Data, ReadEvent } from './caller.js';

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

export class Subscriber extends Connection {
  /** Encoded events, unless `onEvent` is replaced. */
  readonly texts: Buffer[] = [];
  /** Number of received events. */
  count = 0;
  /** Called with each event and its index, from 0. */
  onEvent: (text: Buffer, index: number) => void = (text) => this.texts.push(text);
  #subscribed = false;
  #answer: { type: string; data: Data } | null = null;

  /** Connects and authenticates. The connection closes with the test. */
  static async open(url: string, by: Signatory): Promise<Subscriber> {
    const subscriber = new Subscriber(url, { perMessageDeflate: false });
    onTestFinished(() => subscriber.cut());
    await subscriber.opened();
    await subscriber.#ask(auth(by));
    return subscriber;
  }

  /** Close code, 1006 if the connection was cut; null while it is open. */
  get endedWith(): number | null {
    return this.ended?.code ?? null;
  }

  /** Subscribes. After the acknowledgement, the server sends only events. */
  async subscribe(topics: readonly string[], since?: Since): Promise<Acknowledged> {
    const message = { type: 'subscribe', topics, ...(since ? { since } : {}) };
    return (await this.#ask(message)) as unknown as Acknowledged;
  }

  /** Resolves after `count` events in total, and rejects if the connection ends earlier. */
  async took(count: number): Promise<void> {
    while (this.count < count) await this.#woken(`${this.count} of ${count} events`);
  }

  get events(): ReadEvent[] {
    return this.texts.map((text) => JSON.parse(text.toString()) as ReadEvent);
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Disconnects without a close frame. */
  cut(): void {
    this.socket.terminate();
  }

  async #woken(after: string): Promise<void> {
    if (this.ended) throw new Error(`closed with ${this.ended.code} after ${after}`);
    await this.woken();
  }

  async #ask(message: Data): Promise<Data> {
    this.#answer = null;
    this.send(message);
    while (!this.#answer) await this.#woken(`asking for ${message.type}`);
    const { type, data } = this.#answer as { type: string; data: Data };
    if (type === 'error') throw new Error(JSON.stringify(this.#answer));
    return data;
  }

  protected take(text: Buffer): void {
    if (this.#subscribed) {
      this.onEvent(text, this.count);
      this.count += 1;
      return;
    }
    this.#answer = JSON.parse(text.toString());
    this.#subscribed = this.#answer?.type === 'subscribed';
  }
}
