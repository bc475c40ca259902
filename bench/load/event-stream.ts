/**
 * One connection to a server's event stream: authenticated and subscribed as the interface says.
 * A server may acknowledge or not: silence for a second counts as consent.
 */
import { WebSocket } from 'ws';
import { LoadError, parseObject } from './server.js';

interface StreamOptions {
  /** Of the server, http or https. */
  url: string;
  /** The `auth` message, signed. */
  auth: string;
  /** Takes each event as it came, once. */
  receive(text: Buffer): void;
  /** The connection ended without `close` being called. */
  onClosed(code: number): void;
}

type Answered = 'acknowledged' | 'refused' | 'silent';

const CONSENT_MS = 1_000;
const OPEN_MS = 15_000;

export class EventStream {
  readonly #socket: WebSocket;
  readonly #options: StreamOptions;
  /** Waits for an acknowledgement of this type, or an error. */
  #waiting: { type: string; answered: (how: Answered) => void } | null = null;
  #error = '';
  #over = false;

  private constructor(options: StreamOptions) {
    const { url } = options;
    this.#options = options;
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws/v1`, {
      perMessageDeflate: false,
      skipUTF8Validation: true,
      handshakeTimeout: OPEN_MS,
    });
    this.#socket.on('message', (text: Buffer) => {
      if (this.#waiting === null || !this.#isAnswer(text)) options.receive(text);
    });
  }

  /** @throws {LoadError} when the server does not let it in. */
  static async open(options: StreamOptions): Promise<EventStream> {
    const stream = new EventStream(options);
    await stream.#connected();
    if ((await stream.#send(options.auth, 'auth_ok')) === 'refused') {
      stream.close();
      throw new LoadError(`${options.url}/ws/v1 refused to authenticate: ${stream.#error}`);
    }
    return stream;
  }

  /** Adds topics; what is refused changes nothing. */
  subscribe(topics: readonly string[]): Promise<Answered> {
    return this.#send(JSON.stringify({ type: 'subscribe', topics }), 'subscribed');
  }

  /** Adds topics that every server has. @throws {LoadError} when they are refused. */
  async expect(topics: readonly string[]): Promise<void> {
    if ((await this.subscribe(topics)) !== 'refused') return;
    this.close();
    const { url } = this.#options;
    throw new LoadError(`${url}/ws/v1 refused the topics ${topics.join(', ')}: ${this.#error}`);
  }

  close(): void {
    this.#over = true;
    this.#socket.close(1000);
  }

  /** Without waiting for the other side. */
  cut(): void {
    this.#over = true;
    this.#socket.terminate();
  }

  #connected(): Promise<void> {
    const { url, onClosed } = this.#options;
    return new Promise((resolve, reject) => {
      this.#socket.once('open', resolve);
      this.#socket.on('error', (cause) => {
        reject(new LoadError(`${url}/ws/v1 did not connect: ${cause.message}`, { cause }));
      });
      this.#socket.on('close', (code) => {
        this.#error ||= `closed with ${code}`;
        this.#waiting?.answered('refused');
        if (!this.#over) onClosed(code);
        this.#over = true;
      });
    });
  }

  #send(message: string, acknowledgement: string): Promise<Answered> {
    if (this.#over) return Promise.resolve('refused');
    return new Promise((resolve) => {
      const timer = setTimeout(() => answered('silent'), CONSENT_MS);
      const answered = (how: Answered) => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(how);
      };
      this.#waiting = { type: acknowledgement, answered };
      this.#socket.send(message);
    });
  }

  #isAnswer(text: Buffer): boolean {
    const { type, error } = parseObject(text.toString());
    if (type === 'error') {
      this.#error = JSON.stringify(error);
      this.#waiting?.answered('refused');
    } else if (this.#waiting && type === this.#waiting.type) this.#waiting.answered('acknowledged');
    else return false;
    return true;
  }
}
