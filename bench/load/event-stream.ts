/**
 * A subscribed connection to a server's event stream. Acknowledgements are optional in the
 * protocol, so a second of silence counts as success. In a run that keeps going, the stream
 * reconnects, and resumes after its last event, so events of an outage arrive once, late.
 */
import { WebSocket } from 'ws';
import { loadError } from './messages.js';
import type { Nodes } from './nodes.js';
import { isRecord, parseObject } from './server.js';

interface StreamOptions {
  nodes: Pick<Nodes, 'urls' | 'choose' | 'keepGoing' | 'pause'>;
  /** Ordinal of the agent, which determines the server. */
  agent: number;
  /** Signs an `auth` message. A server accepts each message once. */
  auth(): Promise<string>;
  /** Called once per event, with its raw text. */
  receive(text: Buffer): void;
  /** Called when the connection ends without a call to `close`, unless the run keeps going. */
  onClosed(code: number): void;
  /** Called when a resumed stream finds data that does not continue the earlier events. */
  onEpoch?(before: string, after: string): void;
}

type Answered = 'acknowledged' | 'refused' | 'silent';

/** Topics that every server has. */
export const topics = ['blocks', 'consensus', 'network', 'social', 'memes'];

const CONSENT_MS = 1_000;
const OPEN_MS = 15_000;

const SEQ = Buffer.from('"seq":');

/** Reads the number of an event without parsing, because each event arrives thousands of times. */
export function readSeq(text: Buffer): number | null {
  // Quotes in texts are escaped, so this match must be a member name.
  const at = text.lastIndexOf(SEQ);
  return at < 0 ? null : integerAt(text, at + SEQ.length);
}

export function integerAt(text: Buffer, from: number): number | null {
  let value = 0;
  let at = from;
  for (; text[at]! >= 0x30 && text[at]! <= 0x39; at += 1) value = value * 10 + text[at]! - 0x30;
  return at === from ? null : value;
}

export class EventStream {
  readonly #options: StreamOptions;
  #socket: WebSocket | null = null;
  #url = '';
  readonly #topics = new Set<string>();
  /** Position after the last event; null until the server has reported one. */
  #since: { epoch: string; seq: number } | null = null;
  /** Callback waiting for an acknowledgement of this type, or an error. */
  #waiting: { type: string; answered: (how: Answered) => void } | null = null;
  #error = '';
  #isOpen = false;
  /** True while the stream is authenticated, and subscribed again after a loss. */
  #isSettled = false;
  /** True once the stream has ended for good. */
  #over = false;

  private constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** @throws {Failure} if the connection or authentication fails. */
  static async open(options: StreamOptions): Promise<EventStream> {
    const stream = new EventStream(options);
    await stream.#connect();
    stream.#isSettled = true;
    return stream;
  }

  /** Adds topics. If the server refuses, the subscription does not change. */
  async subscribe(topics: readonly string[]): Promise<Answered> {
    const answered = await this.#send(JSON.stringify({ type: 'subscribe', topics }), 'subscribed');
    if (answered !== 'refused') for (const topic of topics) this.#topics.add(topic);
    return answered;
  }

  /** Adds topics that every server has. @throws {Failure} `TOPICS_REFUSED` */
  async expect(topics: readonly string[]): Promise<void> {
    if ((await this.subscribe(topics)) !== 'refused') return;
    this.close();
    const values = { url: this.#url, topics: topics.join(', '), reason: this.#error };
    throw loadError('TOPICS_REFUSED', values);
  }

  close(): void {
    this.#over = true;
    this.#socket?.close(1000);
  }

  /** Reads nothing more, as a slow client, so that the server has to buffer or to close. */
  stopReading(): void {
    this.#socket?.pause();
  }

  /** Closes without waiting for the server. */
  cut(): void {
    this.#over = true;
    this.#socket?.terminate();
  }

  async #connect(): Promise<void> {
    const { nodes, agent, auth } = this.#options;
    this.#url = nodes.urls[nodes.choose(agent)]!;
    const message = await auth();
    await this.#connected();
    if ((await this.#send(message, 'auth_ok')) !== 'refused') return;
    this.#isOpen = false;
    this.#socket!.terminate();
    throw loadError('AUTHENTICATION_REFUSED', { url: this.#url, reason: this.#error });
  }

  /** Reconnects until the stream continues after its last event. */
  async #resume(): Promise<void> {
    const { nodes } = this.#options;
    for (let attempt = 0; !this.#over; attempt += 1) {
      await nodes.pause(attempt);
      if (this.#over) return;
      try {
        await this.#connect();
      } catch {
        // The server is not back, or does not accept agents yet.
        continue;
      }
      const since = this.#since === null ? {} : { since: this.#since };
      const subscribe = { type: 'subscribe', topics: [...this.#topics], ...since };
      const answered = await this.#send(JSON.stringify(subscribe), 'subscribed');
      this.#isSettled = answered !== 'refused';
      if (this.#isSettled) return;
      this.#isOpen = false;
      this.#socket!.terminate();
    }
  }

  #connected(): Promise<void> {
    const url = this.#url;
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws/v1`, {
      ...{ perMessageDeflate: false, skipUTF8Validation: true, handshakeTimeout: OPEN_MS },
    });
    this.#socket = socket;
    this.#error = '';
    socket.on('message', (text: Buffer) => {
      if (this.#waiting !== null && this.#isAnswer(text)) return;
      if (!this.#options.nodes.keepGoing || this.#isNew(text)) this.#options.receive(text);
    });
    return new Promise((resolve, reject) => {
      socket.once('open', () => {
        this.#isOpen = true;
        resolve();
      });
      socket.on('error', (cause) => {
        reject(loadError('STREAM_UNREACHABLE', { url, reason: cause.message }, { cause }));
      });
      socket.on('close', (code) => {
        if (this.#socket === socket) this.#closed(code);
      });
    });
  }

  /** Advances the position. A node that is behind repeats earlier events. */
  #isNew(text: Buffer): boolean {
    const seq = readSeq(text);
    if (seq === null || this.#since === null) return true;
    if (seq <= this.#since.seq) return false;
    this.#since.seq = seq;
    return true;
  }

  #closed(code: number): void {
    this.#error ||= `closed with ${code}`;
    this.#waiting?.answered('refused');
    const wasSettled = this.#isSettled;
    this.#isOpen = false;
    this.#isSettled = false;
    if (this.#over || !wasSettled) return;
    if (this.#options.nodes.keepGoing) return void this.#resume();
    this.#over = true;
    this.#options.onClosed(code);
  }

  #send(message: string, acknowledgement: string): Promise<Answered> {
    if (!this.#isOpen) return Promise.resolve('refused');
    return new Promise((resolve) => {
      const timer = setTimeout(() => answered('silent'), CONSENT_MS);
      const answered = (how: Answered) => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(how);
      };
      this.#waiting = { type: acknowledgement, answered };
      this.#socket!.send(message);
    });
  }

  /** Notes the position that the acknowledgement of a subscription reports. */
  #subscribed({ epoch, last_seq: seq }: Record<string, unknown>): void {
    if (typeof epoch !== 'string' || !Number.isInteger(seq)) return;
    const before = this.#since?.epoch ?? epoch;
    if (before !== epoch) this.#options.onEpoch?.(before, epoch);
    this.#since ??= { epoch, seq: Number(seq) };
  }

  #isAnswer(text: Buffer): boolean {
    const { type, error, data } = parseObject(text.toString());
    if (type === 'subscribed' && isRecord(data)) this.#subscribed(data);
    if (type === 'error') {
      this.#error = JSON.stringify(error);
      this.#waiting?.answered('refused');
    } else if (this.#waiting && type === this.#waiting.type) this.#waiting.answered('acknowledged');
    else return false;
    return true;
  }
}
