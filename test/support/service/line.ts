/** A raw TCP connection that parses HTTP responses. */
import { Connection, dial } from './connection.js';

export interface Reply {
  status: number;
  reason: string;
  headers: Map<string, string>;
  body: Buffer;
}

/** Result of a request. `silent` means neither a response nor a close before the timeout. */
export type Came = Reply | 'closed' | 'silent';

export class Line extends Connection {
  #chunks = Buffer.alloc(0);

  /** @param localAddress a different loopback address, to act as a different client. */
  static async open(url: string, localAddress?: string): Promise<Line> {
    return new Line(await dial(url, localAddress));
  }

  protected received(chunk: Buffer): void {
    this.#chunks = Buffer.concat([this.#chunks, chunk]);
  }

  /** Reads the next response. Pass `withoutBody` for HEAD. */
  answer(withinMs: number, withoutBody = false): Promise<Came> {
    return this.#next(withinMs, () => this.#parsed(withoutBody));
  }

  /** Returns true if the connection ends before the timeout. */
  over(withinMs: number): Promise<boolean> {
    return this.#next(withinMs, () => null).then((came) => came === 'closed');
  }

  /** Takes the bytes received so far. */
  take(): Buffer {
    const taken = this.#chunks;
    this.#chunks = Buffer.alloc(0);
    return taken;
  }

  /** Resolves when more bytes arrive, the connection ends, or the timeout expires. */
  more(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.isOver || this.#chunks.length > 0) this.wake();
    });
  }

  #next(withinMs: number, look: () => Reply | null): Promise<Came> {
    return new Promise((resolve) => {
      const done = (came: Came) => {
        clearTimeout(timer);
        this.wake = () => {};
        resolve(came);
      };
      const timer = setTimeout(() => done('silent'), withinMs);
      this.wake = () => {
        const found = look();
        if (found) done(found);
        else if (this.isOver) done('closed');
      };
      this.wake();
    });
  }

  #parsed(withoutBody: boolean): Reply | null {
    const end = this.#chunks.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [first = '', ...lines] = this.#chunks.subarray(0, end).toString('latin1').split('\r\n');
    const [, code = '0', reason = ''] = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/.exec(first) ?? [];
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(code);
    const bare = withoutBody || status === 204 || status === 101 || status === 100;
    const length = bare ? 0 : headers.get('content-length');
    // Without a length, the end of the connection ends the body.
    if (length === undefined && !this.isOver) return null;
    const from = end + 4;
    const to = length === undefined ? this.#chunks.length : from + Number(length);
    if (this.#chunks.length < to) return null;
    const body = this.#chunks.subarray(from, to);
    this.#chunks = this.#chunks.subarray(to);
    return { status, reason, headers, body };
  }
}
