/** What both transports check of a request's head before anything else looks at it. */
import type { HttpRequest, HttpResponse } from './transport.js';

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

/** Collects a body up to a limit; beyond it keeps nothing. */
export class BodyCollector {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `chunk` is copied when it is the transport's memory. */
  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#limit) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  get tooLarge(): boolean {
    return this.#length > this.#limit;
  }

  take(): HttpRequest['body'] {
    if (this.tooLarge) return 'tooLarge';
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}

/** Header values may not carry line ends: no transport filters them all. */
export const safeValue = (value: string): string =>
  value.includes('\r') || value.includes('\n') ? value.replaceAll(/[\r\n]/g, ' ') : value;

export const safeHeaders = ({ headers }: HttpResponse): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, safeValue(value)]);
