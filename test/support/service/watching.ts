/** A watching WebSocket connection for tests. */
import { WebSocket } from 'ws';
import type { RowBatch } from '../../../dist/api/view/model.js';
import { decodeRowBatch } from '../../../dist/api/view/row-batch.js';
import type { Fields } from './signer.js';

export type Shown = { span: RowBatch; bytes: Buffer } | { text: Fields };

export class Watching {
  readonly socket: WebSocket;
  readonly all: Shown[] = [];
  readonly closed: Promise<number>;
  #wake: () => void = () => {};
  #over = false;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { headers });
    this.socket.on('message', (data: Buffer, binary) => {
      this.all.push(
        binary
          ? { span: decodeRowBatch(data), bytes: data }
          : { text: JSON.parse(data.toString()) as Fields },
      );
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code) => {
        this.#over = true;
        this.#wake();
        resolve(code);
      });
    });
    onTestFinished(() => this.socket.terminate());
  }

  /** Connects, and sends `watch`. */
  static async begin(url: string, fields: Fields = {}): Promise<Watching> {
    const watching = new Watching(url);
    await watching.opened();
    watching.send({ type: 'watch', ...fields });
    return watching;
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
    });
  }

  send(message: Fields | string | Uint8Array): void {
    const raw = typeof message === 'string' || message instanceof Uint8Array;
    this.socket.send(raw ? message : JSON.stringify(message));
  }

  get spans(): RowBatch[] {
    return this.all.flatMap((shown) => ('span' in shown ? [shown.span] : []));
  }

  get texts(): Fields[] {
    return this.all.flatMap((shown) => ('text' in shown ? [shown.text] : []));
  }

  /** Waits until the condition is true. */
  async until(holds: (watching: this) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.#over) throw new Error(`closed; before: ${JSON.stringify(this.texts)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this;
  }

  /** Waits for the first text message of a type. */
  async text(type: string): Promise<Fields> {
    await this.until(({ texts }) => texts.some((text) => text.type === type));
    return this.texts.find((text) => text.type === type)!;
  }

  /** Waits for the frame that contains an entry. */
  async reaches(entry: number): Promise<RowBatch[]> {
    await this.until(({ spans }) => (spans.at(-1)?.to ?? -1) >= entry);
    return this.spans;
  }
}
