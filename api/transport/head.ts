/** Head checks that both transports share, body reading, and deadlines for exchanges. */
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { Body, ExchangeLimits, HttpResponse, IncomingRequest } from './transport.js';

/** Headers in order of arrival. Add all headers before reading any. */
export class Head {
  readonly headers = new Map<string, string>();
  /** First duplicate among the headers that must be unique. */
  #twice: string | null = null;
  #strange = false;
  #fault: Refusal | null | undefined;

  add(name: string, value: string): void {
    // Most requests send the same few names, so a lookup saves the conversion and the check.
    const usual = usualNames.has(name);
    const key = usual ? name : name.toLowerCase();
    const known = this.headers.get(key);
    if (known === undefined) {
      this.headers.set(key, value);
      this.#strange ||= !usual && !TOKEN.test(key);
    } else {
      if (single.has(key)) this.#twice ??= name;
      this.headers.set(key, `${known}, ${value}`);
    }
  }

  /**
   * Refusal for an ambiguous head. Proxies and servers that disagree about where a request ends
   * allow request smuggling. The connection is closed, and nothing after the head is read.
   */
  get fault(): Refusal | null {
    if (this.#fault === undefined) this.#fault = this.#findFault();
    return this.#fault;
  }

  #findFault(): Refusal | null {
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

  /** True if a body follows the head, or may follow. */
  get hasBody(): boolean {
    return this.declaredBytes !== 0;
  }

  /** Declared body length: 0 without a body, null if malformed. */
  get declaredBytes(): number | null {
    const text = this.headers.get('content-length');
    if (text === undefined) return 0;
    return LENGTH.test(text) ? Number(text) : null;
  }
}

/** `tchar` from RFC 9110, in lower case. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const LENGTH = /^\d{1,15}$/;
/** Valid names in lower case, which a signed request from a usual client contains. */
const usualNames: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'accept',
  'accept-encoding',
  'accept-language',
  'user-agent',
  'content-type',
  'content-length',
  'x-agent-public-key',
  'x-agent-signature',
  'x-timestamp',
]);
const single = new Set(['content-length', 'host']);

const shown = (text: string) => JSON.stringify(text.slice(0, 32));

/** Bounds what one server reads of refused bodies. Their bytes are dropped at once. */
class Discards {
  #second = 0;
  /** Bytes of the bodies whose discarding began within this second. */
  #bytes = 0;

  constructor(private readonly limits: ExchangeLimits) {}

  /** Returns false if the rest of a body of this declared size must not be read. */
  admit(bytes: number): boolean {
    const { discardBytes, discardBytesPerSecond } = this.limits;
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#bytes = 0;
    this.#second = second;
    if (bytes > discardBytes || this.#bytes + bytes > discardBytesPerSecond) return false;
    this.#bytes += bytes;
    return true;
  }
}

type Taking = Pick<IncomingRequest, 'readsBody' | 'take'>;

/**
 * Reads a body, and calls `give` once, after its end. The rest of a refused body is discarded
 * within bounds, because a client that is still sending would get a reset instead of the response.
 */
export class BodyReader {
  readonly #request: Taking;
  readonly #inFlight: InFlight;
  readonly #declared: number;
  readonly #give: (body: Body) => void;
  /** Null after a refusal. */
  #chunks: Uint8Array[] | null = [];
  #timer: NodeJS.Timeout | undefined;
  /** True once `give` was called, or the exchange is over. */
  over = false;

  constructor(request: Taking, declared: number, inFlight: InFlight, give: (body: Body) => void) {
    this.#request = request;
    this.#declared = declared;
    this.#inFlight = inFlight;
    this.#give = give;
    if (!request.readsBody) this.#refuse();
  }

  /** True if the application refused the body. */
  get refused(): boolean {
    return this.#chunks === null;
  }

  /** Adds a chunk, which must not share the transport's memory. */
  add(chunk: Uint8Array): void {
    if (!this.#chunks || this.over) return;
    if (this.#request.take(chunk.length)) this.#chunks.push(chunk);
    else this.#refuse();
  }

  end(): void {
    const chunks = this.#chunks;
    if (chunks) this.#finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    else this.#finish('unread');
  }

  /** Stops waiting, because the exchange is over. */
  stop(): void {
    this.over = true;
    clearTimeout(this.#timer);
  }

  #refuse(): void {
    if (this.over || !this.#chunks) return;
    this.#chunks = null;
    const { discards, limits } = this.#inFlight;
    if (!discards.admit(this.#declared)) return this.#finish('unread');
    this.#timer = setTimeout(() => this.#finish('unread'), limits.discardMs);
  }

  #finish(body: Body): void {
    if (this.over) return;
    this.stop();
    this.#give(body);
  }
}

/** Removes line ends from a header value, because no transport filters all line ends. */
export const safeValue = (value: string): string =>
  value.includes('\r') || value.includes('\n') ? value.replaceAll(/[\r\n]/g, ' ') : value;

export const safeHeaders = ({ headers }: HttpResponse): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, safeValue(value)]);

/*
 * Exchanges in flight, with deadlines. One timer sweeps all exchanges, because a timer per exchange
 * would slow down every vote.
 */

export abstract class Expiring {
  /** Neighbours in the list of exchanges in flight; null outside the list. */
  earlier: Expiring | null = null;
  later: Expiring | null = null;
  /** Start on the monotonic clock, in milliseconds; 0 outside the list. */
  begunMs = 0;

  /** Sends a timeout response and closes the connection. */
  abstract expire(): void;
}

/** Number of sweeps per time limit. An exchange can exceed the limit by 1/20. */
const SWEEPS = 20;

export class InFlight {
  readonly limits: ExchangeLimits;
  readonly discards: Discards;
  /**
   * Ends of the list of exchanges, in the order in which they began, which is also the order of
   * their deadlines. A list costs a fraction of a Map, which has to hash each exchange.
   */
  #first: Expiring | null = null;
  #last: Expiring | null = null;
  readonly #sweep: NodeJS.Timeout;
  #drained: (() => void) | null = null;

  constructor(limits: ExchangeLimits) {
    this.limits = limits;
    this.discards = new Discards(limits);
    const everyMs = Math.max(10, limits.requestMs / SWEEPS);
    this.#sweep = setInterval(() => this.#expire(), everyMs);
    this.#sweep.unref();
  }

  begin(exchange: Expiring): void {
    exchange.begunMs = performance.now();
    exchange.earlier = this.#last;
    if (this.#last) this.#last.later = exchange;
    else this.#first = exchange;
    this.#last = exchange;
  }

  end(exchange: Expiring): void {
    if (exchange.begunMs === 0) return;
    const { earlier, later } = exchange;
    if (earlier) earlier.later = later;
    else this.#first = later;
    if (later) later.earlier = earlier;
    else this.#last = earlier;
    exchange.begunMs = 0;
    exchange.earlier = null;
    exchange.later = null;
    if (!this.#first) this.#drained?.();
  }

  /** Resolves when nothing is in flight, or after the grace period. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const grace = setTimeout(() => done(), this.limits.stopMs);
      const done = () => {
        clearTimeout(grace);
        clearInterval(this.#sweep);
        resolve();
      };
      this.#drained = done;
      if (!this.#first) done();
    });
  }

  #expire(): void {
    const before = performance.now() - this.limits.requestMs;
    while (this.#first && this.#first.begunMs <= before) {
      const exchange = this.#first;
      this.end(exchange);
      exchange.expire();
    }
  }
}
