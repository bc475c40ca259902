/** What both transports check of a request's head before anything else. */
import { type Refusal, refuse } from '../../engine/internal.js';
import type { Body, HttpResponse, IncomingRequest } from './transport.js';

/** Headers as they came, in order; all of them are added before anything is asked. */
export class Head {
  readonly headers = new Map<string, string>();
  /** The first of the headers that must stand once and stood twice. */
  #twice: string | null = null;
  #strange = false;
  #fault: Refusal | null | undefined;

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const known = this.headers.get(key);
    if (known === undefined) {
      this.headers.set(key, value);
      this.#strange ||= !TOKEN.test(key);
    } else {
      if (single.has(key)) this.#twice ??= name;
      this.headers.set(key, `${known}, ${value}`);
    }
  }

  /**
   * Why this is no request to trust: proxies and servers that disagree about where a request ends
   * take one inside another. The connection is closed, and nothing after it is read.
   */
  get fault(): Refusal | null {
    if (this.#fault === undefined) this.#fault = this.#look();
    return this.#fault;
  }

  #look(): Refusal | null {
    const { headers } = this;
    if (headers.has('transfer-encoding')) {
      const message = 'Transfer-Encoding is not taken; send the body whole, with a Content-Length';
      return refuse('LENGTH_REQUIRED', message);
    }
    if (this.#twice) return refuse('SCHEMA', `the header ${this.#twice} stands twice`);
    if (this.#strange) return refuse('SCHEMA', 'the name of a header is not a token of RFC 9110');
    const length = headers.get('content-length');
    if (length === undefined || LENGTH.test(length)) return null;
    return refuse('SCHEMA', `Content-Length is ${shown(length)}; expected a number of bytes`);
  }

  /** Whether anything follows the head. */
  get hasBody(): boolean {
    return this.headers.has('content-length');
  }

  /** Length of its body as it declares it: 0 without one, null where it is no length. */
  get declaredBytes(): number | null {
    const text = this.headers.get('content-length');
    if (text === undefined) return 0;
    return LENGTH.test(text) ? Number(text) : null;
  }
}

/** `tchar` of RFC 9110, in lower case. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const LENGTH = /^\d{1,15}$/;
const single = new Set(['content-length', 'host']);

const shown = (text: string) => JSON.stringify(text.slice(0, 32));

type Taking = Pick<IncomingRequest, 'wanted' | 'take'>;

/** Collects a body for as long as the application takes it; beyond that it keeps nothing. */
export class BodyCollector {
  readonly #request: Taking;
  #chunks: Uint8Array[] = [];
  /** Whether there is more than is taken. */
  refused = false;

  constructor(request: Taking) {
    this.#request = request;
    this.refused = !request.wanted;
  }

  /** `chunk` is copied when it is the transport's memory. */
  add(chunk: Uint8Array): void {
    if (this.refused) return;
    if (this.#request.take(chunk.length)) {
      this.#chunks.push(chunk);
      return;
    }
    this.refused = true;
    this.#chunks = [];
  }

  take(): Body {
    if (this.refused) return 'unread';
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
  }
}

/** Header values may not carry line ends: no transport filters them all. */
export const safeValue = (value: string): string =>
  value.includes('\r') || value.includes('\n') ? value.replaceAll(/[\r\n]/g, ' ') : value;

export const safeHeaders = ({ headers }: HttpResponse): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, safeValue(value)]);
