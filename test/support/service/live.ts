/** WebSocket client for tests. */
import { WebSocket } from 'ws';
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

export class Live {
  /** All messages, in order. */
  readonly received: Message[] = [];
  readonly socket: WebSocket;
  readonly closed: Promise<Closed>;
  #read = 0;
  #wake: () => void = () => {};
  #ended: Closed | null = null;

  private constructor(url: string) {
    this.socket = new WebSocket(url);
    this.socket.on('message', (data) => {
      this.received.push(JSON.parse(String(data)) as Message);
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        this.#ended = { code, reason: String(reason) };
        this.#wake();
        resolve(this.#ended);
      });
    });
  }

  /** Opens a connection that the caller must close. Tests use `connect` instead. */
  static async open(url: string): Promise<Live> {
    const live = new Live(url);
    await new Promise<void>((resolve, reject) => {
      live.socket.once('open', resolve);
      live.socket.once('error', reject);
    });
    return live;
  }

  /** Sends a message, or a text unchanged. */
  send(message: Fields | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Returns the next message. */
  async next(): Promise<Message> {
    while (this.#read === this.received.length) {
      if (this.#ended) throw new Error(`closed with ${this.#ended.code}, nothing more came`);
      await this.#something();
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

  #something(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no message; before: ${JSON.stringify(this.received)}`));
      const timer = setTimeout(late, MOST_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
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
