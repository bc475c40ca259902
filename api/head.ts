/** What both transports check of a request's head before anything else looks at it. */
import type { Entry, HttpRequest, HttpResponse } from './transport.js';

/** Headers as they came, in order. */
export class Head {
  readonly headers = new Map<string, string>();
  /** A header that must stand once stood twice, with different values. */
  ambiguous = false;

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const known = this.headers.get(key);
    if (known === undefined) this.headers.set(key, value);
    else if (single.has(key)) this.ambiguous ||= known !== value;
    else this.headers.set(key, `${known}, ${value}`);
  }

  /** Whether anything follows the head. */
  get hasBody(): boolean {
    const { headers } = this;
    return headers.has('content-length') || headers.has('transfer-encoding');
  }

  /** The body's declared length, or null. */
  get contentLength(): number | null {
    const text = this.headers.get('content-length');
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
  }
}

/** Requests that disagree with themselves are how one request is smuggled inside another. */
const single = new Set(['content-length', 'host']);

/** Collects a body for as long as the application takes it; beyond that it keeps nothing. */
export class BodyCollector {
  readonly #entry: Entry;
  #chunks: Uint8Array[] = [];
  /** Whether there is more than is taken. */
  refused = false;

  constructor(entry: Entry) {
    this.#entry = entry;
    this.refused = !entry.wanted;
  }

  /** `chunk` is copied when it is the transport's memory. */
  add(chunk: Uint8Array): void {
    if (this.refused) return;
    if (this.#entry.take(chunk.length)) {
      this.#chunks.push(chunk);
      return;
    }
    this.refused = true;
    this.#chunks = [];
  }

  take(): HttpRequest['body'] {
    if (this.refused) return 'unread';
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}

/** Header values may not carry line ends: no transport filters them all. */
export const safeValue = (value: string): string =>
  value.includes('\r') || value.includes('\n') ? value.replaceAll(/[\r\n]/g, ' ') : value;

export const safeHeaders = ({ headers }: HttpResponse): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, safeValue(value)]);
