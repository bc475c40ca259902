/** A WebSocket whose connection a front has, as the application sees it. */
import { socketLimits } from '../contract/channels.js';
import type { Socket, SocketHandlers } from '../transport/transport.js';
import type { Outgoing } from './records.js';
import type { SharedBytes } from './shared-bytes.js';

export class CarriedSocket implements Socket {
  readonly addressKey: string;
  readonly together = null;
  readonly #id: number;
  readonly #out: Outgoing;
  readonly #shared: SharedBytes;
  /** Bytes on their way to the client, for all that is known. */
  #buffered = 0;
  #closed = false;
  handlers: SocketHandlers | null = null;

  constructor(id: number, addressKey: string, out: Outgoing, shared: SharedBytes) {
    this.#id = id;
    this.addressKey = addressKey;
    this.#out = out;
    this.#shared = shared;
  }

  send = (text: Uint8Array | string): boolean => this.#send('text', text);
  sendBytes = (bytes: Uint8Array): boolean => this.#send('bytes', bytes);
  bufferedBytes = (): number => (this.#closed ? 0 : this.#buffered);
  /** What is sent in one turn leaves together anyway. */
  cork = (work: () => void): void => {
    if (!this.#closed) work();
  };
  ping = (): void => {
    if (!this.#closed) this.#out.send('ping', this.#id);
  };
  close = (code: number, reason: string): void => {
    if (this.#closed) return;
    this.#closed = true;
    this.#out.send('close', this.#id, { value: code, text: reason });
  };

  /** The front says how much has left. */
  left(bytes: number): void {
    this.#buffered -= bytes;
    if (!this.#closed) this.handlers?.drained();
  }

  /** The connection is gone. */
  gone(code: number): void {
    this.#closed = true;
    const { handlers } = this;
    this.handlers = null;
    handlers?.closed(code);
  }

  #send(kind: 'text' | 'bytes', bytes: Uint8Array | string): boolean {
    if (this.#closed) return true;
    if (this.#buffered > socketLimits.backlogBytes) return false;
    const value = typeof bytes === 'string' ? 0 : this.#shared.numberOf(bytes);
    this.#buffered += typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
    this.#out.send(kind, this.#id, value > 0 ? { value } : { bytes });
    return true;
  }
}
