/** Origins of browsers that are let in: their headers, and who is turned away. */

/** Headers that a browser's program may read beside the simple ones. */
const EXPOSED =
  'Folkmoot-Stale, Folkmoot-Unknown, Location, RateLimit, RateLimit-Policy, Retry-After, ' +
  'X-Request-Id, X-Server-Public-Key, X-Server-Timestamp, X-Server-Signature';

type Headers = ReadonlyMap<string, string>;

export class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @throws where one is not what a browser would send. */
  constructor(origins: readonly string[]) {
    this.#allowed = new Set(origins.map(browserOrigin));
  }

  get any(): boolean {
    return this.#allowed.size > 0;
  }

  /** Whether a request comes from a page that is neither the server's own nor let in. */
  foreign(headers: Headers): boolean {
    const origin = headers.get('origin');
    if (origin === undefined || this.#allowed.has(origin)) return false;
    const host = headers.get('host')?.toLowerCase();
    return origin !== `http://${host}` && origin !== `https://${host}`;
  }

  /** Adds the headers of an answer for a browser. */
  addHeaders(headers: Record<string, string>, request: Headers): void {
    if (!this.any) return;
    headers.Vary = 'Origin';
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return;
    headers['Access-Control-Allow-Origin'] = origin;
    headers['Access-Control-Expose-Headers'] = EXPOSED;
  }

  /** Headers of the answer to OPTIONS besides. */
  preflight(request: Headers, methods: string): Record<string, string> {
    const origin = request.get('origin');
    if (origin === undefined || !this.#allowed.has(origin)) return {};
    return {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers':
        'Content-Type, X-Agent-Public-Key, X-Agent-Signature, X-Timestamp',
      'Access-Control-Max-Age': '600',
    };
  }
}

/**
 * The text itself, where it is an origin as browsers send it: no path, not even a slash; no user,
 * no `*`, no default port; in lower case.
 *
 * @throws {Error} where it is another text.
 */
export function browserOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && ['http:', 'https:'].includes(url.protocol) && url.origin === text) return text;
  const meant = url && url.origin !== 'null' ? url.origin : 'https://a.example';
  const expected = `expected scheme, host and port only, as browsers send them: ${meant}`;
  throw new Error(`${JSON.stringify(text)} is not an origin; ${expected}`);
}
