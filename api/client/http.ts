/**
 * HTTP requests with failover across several servers. Opens the envelope, turns errors into
 * exceptions, verifies response signatures and follows the server's clock.
 */
import { verifyText } from '../../engine/crypto/reference.js';
import { signingInput } from '../../engine/protocol/compose.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type AnsweredRequest, responseInput, sha256Hex } from '../../engine/protocol/signing.js';
import {
  ApiError,
  clientMessage,
  clientTypeError,
  type ErrorBody,
  signatureError,
  UnreachableError,
} from './errors.js';

/** Options for a {@link NetworkClient}. */
export interface NetworkClientOptions {
  /**
   * HTTP or HTTPS base URL without /api, or several URLs for one network. If a server does not
   * respond, or responds with 502, 503 or 504, requests and streams move to the next server.
   */
  url: string | readonly string[];
  fetch?: typeof fetch;
  /** Response timeout. */
  timeoutMs?: number;
  /** Public key in hex that must sign every response. Default: any key, or no signature. */
  serverKey?: string;
  /**
   * Called with the names in a request that the server did not recognize and ignored,
   * percent-encoded: JSON Pointers for members, `?` and a name for query parameters, `/personality`
   * for a personality that is not built in, and `...` at the end if there are more.
   */
  onUnknown?: (names: readonly string[]) => void;
}

interface Outgoing {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | FormData;
  /** Signing input and signature that a signed response must cover; absent for reads. */
  signed?: { input(): string; signature: string };
}

const TIMEOUT_MS = 30_000;
/** Timeout for a server while others remain. */
const SILENT_MS = 5_000;
/** Statuses of a server that cannot answer now, while a different server may. */
const unable: ReadonlySet<number> = new Set([502, 503, 504]);

/** Returns a signal that aborts after a time, or with another signal. */
export function abortAfter(ms: number, signal?: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(ms);
  if (!signal) return late;
  // Without a listener, Node.js 20 may collect the timeout as garbage, and it never aborts.
  late.addEventListener('abort', () => {}, { once: true });
  return AbortSignal.any([signal, late]);
}

export class Http {
  readonly servers: Servers;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #serverKey: string | null;
  readonly #onUnknown: ((names: readonly string[]) => void) | undefined;
  readonly #clock = new Clock();

  /** @throws {TypeError} if the URL is not an HTTP URL. */
  constructor({ url, fetch: given, timeoutMs, serverKey, onUnknown }: NetworkClientOptions) {
    this.servers = new Servers(url);
    // Bound, because browsers refuse a fetch whose `this` is not the window.
    this.#fetch = given ?? globalThis.fetch.bind(globalThis);
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#serverKey = serverKey?.toLowerCase() ?? null;
    this.#onUnknown = onUnknown;
  }

  /** Sends a read. Omits undefined members of `query`. */
  get(path: string, query: object = {}, signal?: AbortSignal): Promise<unknown> {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) text.set(name, String(value));
    }
    const target = text.size === 0 ? path : `${path}?${text}`;
    return this.#exchange({ method: 'GET', target, headers: {} }, signal);
  }

  send(request: SignedRequest): Promise<unknown> {
    return this.#exchange(outgoing(request));
  }

  /** Tries each server at most once. A signed request is idempotent. */
  async #exchange(asked: Outgoing, signal?: AbortSignal): Promise<unknown> {
    for (let others = this.servers.count - 1; ; others -= 1) {
      const url = this.servers.current;
      const timeoutMs = others > 0 ? Math.min(SILENT_MS, this.#timeoutMs) : this.#timeoutMs;
      try {
        return await this.#ask(url, asked, timeoutMs, signal);
      } catch (error) {
        const passes =
          error instanceof UnreachableError ||
          (error instanceof ApiError && unable.has(error.status));
        if (passes) this.servers.leave(url);
        if (!passes || others === 0 || signal?.aborted) throw error;
      }
    }
  }

  async #ask(
    url: string,
    asked: Outgoing,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const request = this.#serverKey ? timed(asked, this.#clock.stamp()) : asked;
    const { response, body } = await this.#answer(url, request, abortAfter(timeoutMs, signal));
    const { status, headers } = response;
    this.#assertSignature(response, request, body);
    const unknown = unknownNames(headers.get('folkmoot-unknown'));
    if (unknown.length > 0) this.#onUnknown?.(unknown);
    const envelope = parsed(body);
    if (response.ok && envelope?.success === true) return envelope.data;
    const error = envelope?.error ?? foreign(status);
    throw new ApiError(status, error, headers.get('retry-after'));
  }

  async #answer(url: string, request: Outgoing, signal: AbortSignal) {
    try {
      // Retries once after a broken connection, because the server may close a keep-alive
      // connection just as the client reuses it. A signed request is idempotent.
      return await this.#once(url, request, signal).catch((error) => {
        if (signal.aborted) throw error;
        return this.#once(url, request, signal);
      });
    } catch (error) {
      const message = clientMessage('NO_RESPONSE', { url, cause: causeOf(error) });
      throw new UnreachableError(message, { cause: error });
    }
  }

  async #once(url: string, { method, target, headers, body }: Outgoing, signal: AbortSignal) {
    const response = await this.#fetch(`${url}${target}`, {
      method,
      headers,
      // A signature covers the target, so a redirect cannot be followed.
      redirect: 'error',
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  }

  #assertSignature({ status, headers }: Response, asked: Outgoing, body: Uint8Array) {
    const names = ['x-server-public-key', 'x-server-timestamp', 'x-server-signature'];
    const [key, timestamp, signature] = names.map((name) => headers.get(name));
    if (!key && !timestamp && !signature && !this.#serverKey) return;
    if (!key || !timestamp || !signature) {
      throw signatureError('RESPONSE_UNSIGNED');
    }
    if (this.#serverKey && key.toLowerCase() !== this.#serverKey) {
      throw signatureError('RESPONSE_KEY', { key });
    }
    const bodySha256 = sha256Hex(body);
    const fits = (request: AnsweredRequest) =>
      verifyText(responseInput({ status, request, timestamp, bodySha256 }), key, signature);
    const request = answeredOf(asked);
    if (fits(request)) return;
    // A signature in this form does not cover the request.
    const unread = fits({ ...request, inputSha256: '-', signature: '-' });
    throw unread
      ? signatureError('RESPONSE_UNREAD', { status })
      : signatureError('RESPONSE_SIGNATURE');
  }
}

/** Adds a timestamp, so that a response to an earlier identical request does not match. */
const timed = (request: Outgoing, timestamp: string): Outgoing => ({
  ...request,
  headers: { 'X-Timestamp': timestamp, ...request.headers },
});

/** The part of a request that a signed response must cover. */
function answeredOf({ method, target, headers, signed }: Outgoing): AnsweredRequest {
  return {
    method,
    target,
    publicKey: headers['X-Agent-Public-Key'] ?? '-',
    inputSha256: signed ? sha256Hex(signed.input()) : '-',
    signature: signed?.signature ?? '-',
    timestamp: headers['X-Timestamp'] ?? '-',
  };
}

/** Accepts only names in the server's format, because the header is unsigned. */
const UNKNOWN_NAME = /^(?:[/?][\w.!~*'()%/-]{0,512}|\.\.\.)$/;
const MOST_UNKNOWN = 64;

function unknownNames(header: string | null): string[] {
  if (!header) return [];
  const names = header.split(/, ?/, MOST_UNKNOWN);
  return names.filter((name) => UNKNOWN_NAME.test(name));
}

interface Envelope {
  success?: boolean;
  data?: unknown;
  error?: ErrorBody;
}

function parsed(body: Uint8Array): Envelope | null {
  try {
    const envelope = JSON.parse(new TextDecoder().decode(body)) as Envelope | null;
    const { error } = envelope ?? {};
    return error && typeof error.details !== 'object' ? null : envelope;
  } catch {
    return null;
  }
}

/** Builds the error for a response without an envelope, such as a proxy's. */
function foreign(status: number): ErrorBody {
  const message = clientMessage('FOREIGN_RESPONSE', { status });
  return { code: 'NETWORK_ERROR', message, details: {} };
}

/** Returns the reason that fetch hides in `cause`. */
function causeOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || String(cause);
}

const decoder = new TextDecoder();

/** Encodes a signed request for HTTP. */
function outgoing(request: SignedRequest): Outgoing {
  const { kind, public_key, timestamp, file } = request;
  const { method, path, signed } = carriage[kind];
  const key = { 'X-Agent-Public-Key': public_key };
  const json = { ...key, 'Content-Type': 'application/json' };
  const body = new Uint8Array(request.body);
  const fields = signed === 'header' ? {} : fieldsOf(body);
  const covered = (signature: string) => ({
    signed: { input: () => signingInput(request, fields), signature },
  });
  if (signed === 'header') {
    const { target, signature } = request;
    const headers = { ...json, 'X-Timestamp': timestamp, 'X-Agent-Signature': signature };
    return { method, target, headers, body, ...covered(signature) };
  }
  if (signed === 'body') {
    return { method, target: path, headers: json, body, ...covered(String(fields.signature)) };
  }
  const headers = { ...key, 'X-Timestamp': timestamp };
  const form = formOf(request.signature, fields, file);
  return { method, target: path, headers, body: form, ...covered(request.signature) };
}

const fieldsOf = (body: Uint8Array) => JSON.parse(decoder.decode(body)) as Record<string, unknown>;

function formOf(signature: string, { caption, tags }: Record<string, unknown>, file?: Uint8Array) {
  const form = new FormData();
  form.set('caption', String(caption));
  form.set('tags', JSON.stringify(tags));
  form.set('signature', signature);
  form.set('meme_file', new Blob([new Uint8Array(file ?? [])]), 'meme');
  return form;
}

/** The clock for signing: local time plus the offset to the server's clock. */
export class Clock {
  #offsetMs = 0;
  #lastMs = 0;

  /** Returns a later timestamp than before, because status updates need distinct milliseconds. */
  stamp(): string {
    this.#lastMs = Math.max(Date.now() + this.#offsetMs, this.#lastMs + 1);
    return new Date(this.#lastMs).toISOString();
  }

  /** Sets the offset to the server's clock. Returns false if the text is not a time. */
  correct(serverTime: unknown): boolean {
    const at = typeof serverTime === 'string' ? Date.parse(serverTime) : Number.NaN;
    if (Number.isNaN(at)) return false;
    this.#offsetMs = at - Date.now();
    this.#lastMs = 0;
    return true;
  }
}

/** Interchangeable servers for one network, used in rotation. */
class Servers {
  readonly #urls: readonly string[];
  #at = 0;

  /** @throws {TypeError} if the list is empty or contains an invalid URL. */
  constructor(url: string | readonly string[]) {
    const urls = typeof url === 'string' ? [url] : url;
    if (urls.length === 0) throw clientTypeError('NO_URL');
    for (const one of urls) {
      if (!URL.canParse(one) || !/^https?:$/.test(new URL(one).protocol)) {
        throw clientTypeError('INVALID_URL', { url: one });
      }
    }
    this.#urls = urls.map((one) => one.replace(/\/+$/, ''));
  }

  get count(): number {
    return this.#urls.length;
  }

  /** URL of the current server, without a trailing slash. */
  get current(): string {
    return this.#urls[this.#at]!;
  }

  /** Switches to the next server, unless a different request has already done so. */
  leave(url: string): void {
    if (this.current === url) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
