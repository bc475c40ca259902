/**
 * Requests over HTTP, to one server or to the next of several: opens the envelope, gives errors a
 * type, checks response signatures, and follows the server's clock.
 */
import { verifyText } from '../../engine/crypto/browser-keys.js';
import { signingInput } from '../../engine/protocol/compose.js';
import { carriage, type SignedRequest } from '../../engine/protocol/schema/entry.js';
import { type AnsweredRequest, responseInput, sha256Hex } from '../../engine/protocol/signing.js';
import { ApiError, type ErrorBody, ResponseSignatureError, UnreachableError } from './errors.js';

/** Where the server is, and how it is asked. */
export interface NetworkClientOptions {
  /**
   * Of the server, without /api; http or https. Or several of one network: a request that one does
   * not answer, or with 502, 503 or 504, goes to the next, and streams go on there.
   */
  url: string | readonly string[];
  fetch?: typeof fetch;
  /** How long an answer may take. */
  timeoutMs?: number;
  /** Hex. With it, every answer must be signed by this key; without, a signature names its own. */
  serverKey?: string;
  /**
   * Called when a request had names that the server does not know: JSON Pointers of members, `?`
   * and a name for query parameters, `/personality` for one that is not built in, each
   * percent-encoded; `...` for more. The server ignores unknown members and parameters.
   */
  onUnknown?: (names: readonly string[]) => void;
}

interface Outgoing {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | FormData;
  /** What a signed response refers to: the signing input and its signature; none of a read. */
  signed?: { input(): string; signature: string };
}

const TIMEOUT_MS = 30_000;
/** A server that is silent for so long is left while there are others to ask. */
const SILENT_MS = 5_000;
/** Answers of a server that cannot do now what another one may. */
const unable: ReadonlySet<number> = new Set([502, 503, 504]);

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
    // Bound: browsers refuse a fetch whose `this` is not the window.
    this.#fetch = given ?? globalThis.fetch.bind(globalThis);
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#serverKey = serverKey?.toLowerCase() ?? null;
    this.#onUnknown = onUnknown;
  }

  /** What a read answers; members of `query` that are undefined are left out. */
  get(path: string, query: object = {}, signal?: AbortSignal): Promise<unknown> {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) text.set(name, String(value));
    }
    const target = text.size === 0 ? path : `${path}?${text}`;
    return this.#exchange({ method: 'GET', target, headers: {} }, signal);
  }

  /** What a signed request answers. */
  send(request: SignedRequest): Promise<unknown> {
    return this.#exchange(outgoing(request));
  }

  /** Each server is asked once at most: the same signed request is a repeat there. */
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
    const late = AbortSignal.timeout(timeoutMs);
    const given = signal ? AbortSignal.any([signal, late]) : late;
    const { response, body } = await this.#answer(url, request, given);
    const { status, headers } = response;
    this.#checkSignature(response, request, body);
    const unknown = unknownNames(headers.get('folkmoot-unknown'));
    if (unknown.length > 0) this.#onUnknown?.(unknown);
    const envelope = parsed(body);
    if (response.ok && envelope?.success === true) return envelope.data;
    const error = envelope?.error ?? foreign(status);
    throw new ApiError(status, error, headers.get('retry-after'));
  }

  async #answer(url: string, request: Outgoing, signal: AbortSignal) {
    try {
      // Once more where the connection broke: a kept one may be closed just as it is used. The
      // same signed request is at most a repeat, which changes nothing.
      return await this.#once(url, request, signal).catch((error) => {
        if (signal.aborted) throw error;
        return this.#once(url, request, signal);
      });
    } catch (error) {
      throw new UnreachableError(`no answer from ${url}: ${causeOf(error)}`, { cause: error });
    }
  }

  async #once(url: string, { method, target, headers, body }: Outgoing, signal: AbortSignal) {
    const response = await this.#fetch(`${url}${target}`, {
      method,
      headers,
      // A request is signed for one place: it must not be led to another.
      redirect: 'error',
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  }

  #checkSignature({ status, headers }: Response, asked: Outgoing, body: Uint8Array) {
    const names = ['x-server-public-key', 'x-server-timestamp', 'x-server-signature'];
    const [key, timestamp, signature] = names.map((name) => headers.get(name));
    if (!key && !timestamp && !signature && !this.#serverKey) return;
    if (!key || !timestamp || !signature) {
      throw new ResponseSignatureError('the response is not signed, or not completely');
    }
    if (this.#serverKey && key.toLowerCase() !== this.#serverKey) {
      throw new ResponseSignatureError(`the response is signed by another key: ${key}`);
    }
    const bodySha256 = sha256Hex(body);
    const fits = (request: AnsweredRequest) =>
      verifyText(responseInput({ status, request, timestamp, bodySha256 }), key, signature);
    const request = answeredOf(asked);
    if (fits(request)) return;
    // Whether it is an answer to this request does not show in what it covers.
    const unread = fits({ ...request, inputSha256: '-', signature: '-' });
    throw new ResponseSignatureError(
      unread
        ? `the server answered ${status} without having read the request`
        : "the response's signature does not fit it and its request",
    );
  }
}

/** With a time of its own, so that an answer to the same request made before does not. */
const timed = (request: Outgoing, timestamp: string): Outgoing => ({
  ...request,
  headers: { 'X-Timestamp': timestamp, ...request.headers },
});

/** What a signed response to this request has to name. */
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

/** A signature does not cover headers: of this one only names as a server writes them are kept. */
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

/** An answer that is not folkmoot's, such as that of a proxy before it. */
function foreign(status: number): ErrorBody {
  const message = `the answer is not that of a folkmoot server (HTTP ${status})`;
  return { code: 'NETWORK_ERROR', message, details: {} };
}

/** fetch hides why it failed behind `cause`. */
function causeOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const { message, code } = cause as { message?: string; code?: string };
  return message || code || String(cause);
}

const decoder = new TextDecoder();

/** A request as HTTP carries it. */
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

/** The time that requests are signed with: this machine's, corrected by the server's. */
export class Clock {
  #offsetMs = 0;
  #lastMs = 0;

  /** A timestamp, later than the one before: a status update must not share its millisecond. */
  stamp(): string {
    this.#lastMs = Math.max(Date.now() + this.#offsetMs, this.#lastMs + 1);
    return new Date(this.#lastMs).toISOString();
  }

  /** Sets the clock by the server's time. @returns false if the text is not a time. */
  correct(serverTime: unknown): boolean {
    const at = typeof serverTime === 'string' ? Date.parse(serverTime) : Number.NaN;
    if (Number.isNaN(at)) return false;
    this.#offsetMs = at - Date.now();
    this.#lastMs = 0;
    return true;
  }
}

/** The servers of one network, each as good as the others: one is left for the next. */
class Servers {
  readonly #urls: readonly string[];
  #at = 0;

  /** @throws {TypeError} if the list of URLs is empty, or holds a URL that is not HTTP. */
  constructor(url: string | readonly string[]) {
    const urls = typeof url === 'string' ? [url] : url;
    if (urls.length === 0)
      throw new TypeError('url: expected one server, or several of one network');
    for (const one of urls) {
      if (!URL.canParse(one) || !/^https?:$/.test(new URL(one).protocol)) {
        throw new TypeError(`url: expected http:// or https://, got ${one}`);
      }
    }
    this.#urls = urls.map((one) => one.replace(/\/+$/, ''));
  }

  get count(): number {
    return this.#urls.length;
  }

  /** URL of the server in use, without a trailing slash. */
  get current(): string {
    return this.#urls[this.#at]!;
  }

  /** Moves on to the next server, unless another request has done so. */
  leave(url: string): void {
    if (this.current === url) this.#at = (this.#at + 1) % this.#urls.length;
  }
}
