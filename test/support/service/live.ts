/** WebSocket client for tests. */
import { type ClientOptions, WebSocket } from 'ws';
import { type Agent, auth, type Fields } from './signer.js';

export interface Message {
  type: string;
  seq?: number;
  data: Fields;
  error: { code: string; message: string; details: Fields };
}

export interface Closed {
  code: number;
  reason: string;
}

/** Timeout far above any response time, so that only a missing response times out. */
const MOST_MS = 300_000;

/** A WebSocket connection whose reader waits for messages or the end. */
export abstract class Connection {
  readonly socket: WebSocket;
  readonly closed: Promise<Closed>;
  protected ended: Closed | null = null;
  protected wake: () => void = () => {};

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data: Buffer, binary) => {
      this.take(data, binary);
      this.wake();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.ended = { code, reason: String(reason) };
        this.wake();
        resolve(this.ended);
      });
    });
  }

  /** Takes a message that has arrived. */
  protected abstract take(data: Buffer, binary: boolean): void;

  async opened(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
    });
    return this;
  }

  /** Sends a message, or a text or bytes unchanged. */
  send(message: Fields | string | Uint8Array): void {
    const raw = typeof message === 'string' || message instanceof Uint8Array;
    this.socket.send(raw ? message : JSON.stringify(message));
  }

  /** Waits for the next message or the end. */
  protected woken(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no message')), MOST_MS);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

export class Live extends Connection {
  /** All messages, in order. */
  readonly received: Message[] = [];
  #read = 0;

  protected take(data: Buffer): void {
    this.received.push(JSON.parse(data.toString()) as Message);
  }

  /** Opens a connection that the caller must close. Tests use `connect` instead. */
  static open(url: string): Promise<Live> {
    return new Live(url).opened();
  }

  /** Returns the next message. */
  async next(): Promise<Message> {
    while (this.#read === this.received.length) {
      if (this.ended) throw new Error(`closed with ${this.ended.code}, nothing more came`);
      await this.woken();
    }
    this.#read += 1;
    return this.received[this.#read - 1]!;
  }

  /** Returns the next message of a given type, and skips other messages. */
  async until(type: string): Promise<Message> {
    for (;;) {
      const message = await this.next();
      if (message.type === type) return message;
    }
  }

  /** Returns all messages so far. Works because the pong arrives after them. */
  async settled(): Promise<Message[]> {
    const id = `fence-${this.received.length}-${this.#read}`;
    this.send({ type: 'ping', id });
    const before: Message[] = [];
    for (;;) {
      const message = await this.next();
      if (message.type === 'pong' && message.data.id === id) return before;
      before.push(message);
    }
  }

  /** Authenticates, and returns the data from auth_ok. */
  async auth(agent: Agent): Promise<Fields> {
    this.send(auth(agent));
    return (await this.until('auth_ok')).data;
  }

  /** Subscribes, and returns the data from the acknowledgement. */
  async subscribe(topics: readonly string[], since?: Fields): Promise<Fields> {
    this.send({ type: 'subscribe', topics, ...(since ? { since } : {}) });
    return (await this.until('subscribed')).data;
  }
}

/** Opens a connection that ends with the test. */
export async function connect(url: string): Promise<Live> {
  const live = await Live.open(url);
  onTestFinished(() => live.socket.terminate());
  return live;
}

/** Opens an authenticated connection, subscribed to the topics. */
export async function listen(url: string, agent: Agent, topics?: readonly string[]): Promise<Live> {
  const live = await connect(url);
  await live.auth(agent);
  if (topics) await live.subscribe(topics);
  return live;
}
