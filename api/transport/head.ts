/**
 * Checks of a request's head that both transports share, and the exchanges that are in flight, with
 * their deadlines.
 */
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { Body, ExchangeLimits, HttpResponse, IncomingRequest } from './transport.js';

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
      return refuse('LENGTH_REQUIRED');
    }
    if (this.#twice) return refuse('HEADER_DUPLICATE', { name: this.#twice });
    if (this.#strange) return refuse('HEADER_NAME_INVALID');
    const length = headers.get('content-length');
    if (length === undefined || LENGTH.test(length)) return null;
    return refuse('CONTENT_LENGTH_INVALID', { length: shown(length) });
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

type Taking = Pick<IncomingRequest, 'readsBody' | 'take'>;

/** Collects a body for as long as the application takes it; beyond that it keeps nothing. */
export class BodyCollector {
  readonly #request: Taking;
  #chunks: Uint8Array[] = [];
  /** Whether there is more than is taken. */
  refused = false;

  constructor(request: Taking) {
    this.#request = request;
    this.refused = !request.readsBody;
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

/*
 * Exchanges in flight: those that wait for something, each with its deadline. One timer sweeps all
 * of them: a timer for each would cost every vote.
 */

/** An exchange that is not over. */
export interface Expiring {
  /** Its time is up: it answers so, and closes its connection. */
  expire(): void;
}

/** Deadlines are kept to within this part of their length. */
const SWEEPS = 20;

export class InFlight {
  readonly #limits: ExchangeLimits;
  /** In the order in which they began, which is that of their deadlines. */
  readonly #exchanges = new Map<Expiring, number>();
  readonly #sweep: NodeJS.Timeout;
  #drained: (() => void) | null = null;

  constructor(limits: ExchangeLimits) {
    this.#limits = limits;
    const everyMs = Math.max(10, limits.requestMs / SWEEPS);
    this.#sweep = setInterval(() => this.#expire(), everyMs);
    this.#sweep.unref();
  }

  begin(exchange: Expiring): void {
    this.#exchanges.set(exchange, performance.now());
  }

  end(exchange: Expiring): void {
    if (!this.#exchanges.delete(exchange)) return;
    if (this.#exchanges.size === 0) this.#drained?.();
  }

  /** Resolves when nothing is in flight, or when a stop has waited for long enough. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const grace = setTimeout(() => done(), this.#limits.stopMs);
      const done = () => {
        clearTimeout(grace);
        clearInterval(this.#sweep);
        resolve();
      };
      this.#drained = done;
      if (this.#exchanges.size === 0) done();
    });
  }

  #expire(): void {
    const before = performance.now() - this.#limits.requestMs;
    for (const [exchange, at] of this.#exchanges) {
      if (at > before) return;
      this.#exchanges.delete(exchange);
      exchange.expire();
    }
    if (this.#exchanges.size === 0) this.#drained?.();
  }
}
