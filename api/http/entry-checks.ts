/** Checks of the Host and Origin headers, before anything else is read, and the CORS headers. */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { type Refusal, refuse } from '../../engine/protocol/schema/reason.js';
import type { RequestHead } from '../transport/transport.js';

export class EntryChecks {
  readonly origins: Origins;
  readonly #hosts: AllowedHosts;

  /** @throws {Error} if a host name or origin is invalid. */
  constructor(hosts: readonly string[], cors: readonly string[]) {
    this.#hosts = new AllowedHosts(hosts);
    this.origins = new Origins(cors);
  }

  /** Refuses a malformed head, an unknown host, or a write from a foreign origin. */
  refuse(head: RequestHead): Refusal | null {
    const { fault, method, headers } = head;
    if (fault) return fault;
    const host = headers.get('host');
    if (!this.#hosts.has(host)) {
      return refuse('HOST_NOT_SERVED', { host: shown(host) });
    }
    return READS.has(method) ? null : this.#refuseOrigin(headers);
  }

  refuseSocket(head: RequestHead): Refusal | null {
    const refused = this.refuse(head) ?? this.#refuseOrigin(head.headers);
    if (refused) return refused;
    const version = head.headers.get('sec-websocket-version');
    if (version === '13') return null;
    return refuse('SOCKET_VERSION_UNSUPPORTED', { version: shown(version) });
  }

  /** Keeps pages from other origins from acting on behalf of their reader. */
  #refuseOrigin(headers: RequestHead['headers']): Refusal | null {
    if (!this.origins.foreign(headers)) return null;
    return refuse('ORIGIN_NOT_ALLOWED', { origin: shown(headers.get('origin')) });
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

const shown = (text: string | undefined) =>
  text === undefined ? 'none' : JSON.stringify(text.slice(0, 128));

type Headers = ReadonlyMap<string, string>;

/** Response headers that scripts may read, in addition to safelisted headers. */
const EXPOSED =
  'Folkmoot-Stale, Folkmoot-Unknown, Location, RateLimit, RateLimit-Policy, Retry-After, ' +
  'X-Request-Id, X-Server-Public-Key, X-Server-Timestamp, X-Server-Signature';

class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @throws {Error} if an origin is not in the form that browsers send. */
  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins.map(browserOrigin));
  }

  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** Returns true if the origin is neither the server's own nor allowed. */
  foreign(headers: Headers): boolean {
    const origin = headers.get('origin');
    if (origin === undefined || this.#allowed.has(origin)) return false;
    const host = headers.get('host')?.toLowerCase();
    return origin !== `http://${host}` && origin !== `https://${host}`;
  }

  addHeaders(headers: Record<string, string>, request: Headers): void {
    if (!this.any) return;
    headers.Vary = 'Origin';
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return;
    headers['Access-Control-Allow-Origin'] = origin;
    headers['Access-Control-Expose-Headers'] = EXPOSED;
  }

  preflight(request: Headers, methods: string): Record<string, string> {
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return {};
    return {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers':
        'Content-Type, Traceparent, X-Agent-Public-Key, X-Agent-Signature, X-Timestamp',
      'Access-Control-Max-Age': '600',
    };
  }
}

/**
 * Validates an origin in the form that browsers send: scheme, host and non-default port, in lower
 * case, without a path, user or `*`.
 *
 * @throws {Error} if the text is not in this form.
 */
export function browserOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.origin === text) return text;
  const example = url && url.origin !== 'null' ? url.origin : 'https://a.example';
  const expected = `expected scheme, host and port, such as ${example}`;
  throw new Error(`invalid origin: ${JSON.stringify(text)} (${expected})`);
}

/*
 * Allowed host names. With DNS rebinding, a foreign web page makes its own name resolve to this
 * machine, and the browser treats the server as the page's origin. The Host header reveals this.
 */

const HOST = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::\d{0,5})?$/;
const NAME = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** The most recently accepted header, cached because most requests send the same header. */
  #last = '';

  /** @throws {Error} if a name is invalid. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', hostname().toLowerCase(), ...names.map(servedName)]);
  }

  /**
   * Returns true if the Host header is allowed. IP addresses are allowed, because they cannot be
   * rebound. A missing header is allowed, because browsers always send the header.
   */
  has(host: string | undefined): boolean {
    if (host === undefined || host === this.#last) return true;
    const name = nameOf(host);
    if (name === null || !(this.#names.has(name) || isIP(name) !== 0)) return false;
    this.#last = host;
    return true;
  }
}

/** Validates a host name and returns it in lower case. @throws {Error} if the name is invalid. */
export function servedName(text: string): string {
  const name = nameOf(text);
  if (name !== null && text.toLowerCase() === name) return name;
  const expected = 'expected a name without scheme, port or path, such as network.example';
  throw new Error(`invalid host name: ${JSON.stringify(text)} (${expected})`);
}

/** Returns the lower-case name or address in a Host header, or null if the header is malformed. */
function nameOf(host: string): string | null {
  const found = HOST.exec(host)?.[1]?.toLowerCase();
  if (found === undefined) return null;
  const name = found.startsWith('[') ? found.slice(1, -1) : found.replace(/\.$/, '');
  return isIP(name) !== 0 || NAME.test(name) ? name : null;
}
