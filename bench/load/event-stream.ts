/**
 * An authenticated, subscribed connection to a server's event stream. Acknowledgements are optional
 * in the protocol, so a second of silence counts as success.
 */
import { WebSocket } from 'ws';
import { loadError } from './messages.js';
import { parseObject } from './server.js';

interface StreamOptions {
  /** Server URL, http or https. */
  url: string;
  auth: string;
  /** Called once per event, with its raw text. */
  receive(text: Buffer): void;
  /** Called when the connection ends without a call to `close`. */
  onClosed(code: number): void;
}

type Answered = 'acknowledged' | 'refused' | 'silent';

const CONSENT_MS = 1_000;
const OPEN_MS = 15_000;

export class EventStream {
  readonly #socket: WebSocket;
  readonly #options: StreamOptions;
  /** Callback waiting for an acknowledgement of this type, or an error. */
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

  /** @throws {Failure} if the connection or authentication fails. */
  static async open(options: StreamOptions): Promise<EventStream> {
    const stream = new EventStream(options);
    await stream.#connected();
    if ((await stream.#send(options.auth, 'auth_ok')) === 'refused') {
      stream.close();
      throw loadError('AUTHENTICATION_REFUSED', { url: options.url, reason: stream.#error });
    }
    return stream;
  }

  /** Adds topics. If the server refuses, the subscription does not change. */
  subscribe(topics: readonly string[]): Promise<Answered> {
    return this.#send(JSON.stringify({ type: 'subscribe', topics }), 'subscribed');
  }

  /** Adds topics that every server has. @throws {Failure} `TOPICS_REFUSED` */
  async expect(topics: readonly string[]): Promise<void> {
    if ((await this.subscribe(topics)) !== 'refused') return;
    this.close();
    const { url } = this.#options;
    const values = { url, topics: topics.join(', '), reason: this.#error };
    throw loadError('TOPICS_REFUSED', values);
  }

  close(): void {
    this.#over = true;
    this.#socket.close(1000);
  }

  /** Closes without waiting for the server. */
  cut(): void {
    this.#over = true;
    this.#socket.terminate();
  }

  #connected(): Promise<void> {
    const { url, onClosed } = this.#options;
    return new Promise((resolve, reject) => {
      this.#socket.once('open', resolve);
      this.#socket.on('error', (cause) => {
        reject(loadError('STREAM_UNREACHABLE', { url, reason: cause.message }, { cause }));
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
