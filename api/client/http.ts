/** Requests over HTTP: the envelope opened, errors typed, response signatures checked. */
import { verifyText } from '../../engine/browser-keys.js';
import type { SignedRequest } from '../../engine/schema/entry.js';
import { carriage } from '../../engine/schema/entry.js';
import { responseInput, sha256Hex } from '../../engine/signing.js';
import { ApiError, type ErrorBody, ResponseSignatureError, UnreachableError } from './errors.js';

export interface HttpOptions {
  /** Of the server, without /api; http or https. */
  url: string;
  fetch?: typeof fetch;
  /** How long an answer may take. */
  timeoutMs?: number;
  /** Hex. With it, every answer must be signed by this key; without, a signature names its own. */
  serverKey?: string;
}

interface Outgoing {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | FormData;
  /** What a signed response refers to; `-` for a read. */
  signature: string;
}

const TIMEOUT_MS = 30_000;

export class Http {
  /** Without a slash at its end. */
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #serverKey: string | null;

  /** @throws {TypeError} when the url is none of HTTP. */
  constructor({ url, fetch: given, timeoutMs, serverKey }: HttpOptions) {
    if (!/^https?:$/.test(new URL(url).protocol)) {
      throw new TypeError(`url: expected http:// or https://, got ${url}`);
    }
    this.url = url.replace(/\/+$/, '');
    // Bound: browsers refuse a fetch whose `this` is not the window.
    this.#fetch = given ?? globalThis.fetch.bind(globalThis);
    this.#timeoutMs = timeoutMs ?? TIMEOUT_MS;
    this.#serverKey = serverKey?.toLowerCase() ?? null;
  }

  /** What a read answers; members of `query` that are undefined are left out. */
  get(path: string, query: object = {}, signal?: AbortSignal): Promise<unknown> {
    const text = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) text.set(name, String(value));
    }
    const target = text.size === 0 ? path : `${path}?${text}`;
    return this.#exchange({ method: 'GET', target, headers: {}, signature: '-' }, signal);
  }

  /** What a signed request answers. */
  send(request: SignedRequest): Promise<unknown> {
    return this.#exchange(outgoing(request));
  }

  async #exchange(request: Outgoing, signal?: AbortSignal): Promise<unknown> {
    const { response, body } = await this.#answer(request, signal);
    const { status, headers } = response;
    this.#checkSignature(response, request.signature, body);
    const envelope = parsed(body);
    if (response.ok && envelope?.success === true) return envelope.data;
    const error = envelope?.error ?? foreign(status);
    throw new ApiError(status, error, headers.get('retry-after'));
  }

  async #answer(request: Outgoing, given?: AbortSignal) {
    const late = AbortSignal.timeout(this.#timeoutMs);
    const signal = given ? AbortSignal.any([given, late]) : late;
    try {
      // Once more where the connection broke: a kept one may be closed just as it is used. The
      // same signed request is at most a repeat, which changes nothing.
      return await this.#once(request, signal).catch((error) => {
        if (signal.aborted) throw error;
        return this.#once(request, signal);
      });
    } catch (error) {
      throw new UnreachableError(`no answer from ${this.url}: ${causeOf(error)}`, { cause: error });
    }
  }

  async #once({ method, target, headers, body }: Outgoing, signal: AbortSignal) {
    const response = await this.#fetch(`${this.url}${target}`, {
      method,
      headers,
      // A request is signed for one place: it must not be led to another.
      redirect: 'error',
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return { response, body: new Uint8Array(await response.arrayBuffer()) };
  }

  #checkSignature({ status, headers }: Response, requestSignature: string, body: Uint8Array) {
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
    const input = responseInput({ status, requestSignature, timestamp, bodySha256 });
    if (!verifyText(input, key, signature)) {
      throw new ResponseSignatureError("the response's signature does not fit it");
    }
  }
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
  if (signed === 'header') {
    const { target, signature } = request;
    const headers = { ...json, 'X-Timestamp': timestamp, 'X-Agent-Signature': signature };
    return { method, target, headers, body, signature };
  }
  const fields = JSON.parse(decoder.decode(body)) as Record<string, unknown>;
  if (signed === 'body') {
    return { method, target: path, headers: json, body, signature: String(fields.signature) };
  }
  const form = new FormData();
  form.set('caption', String(fields.caption));
  form.set('tags', JSON.stringify(fields.tags));
  form.set('signature', request.signature);
  form.set('meme_file', new Blob([new Uint8Array(file ?? [])]), 'meme');
  const headers = { ...key, 'X-Timestamp': timestamp };
  return { method, target: path, headers, body: form, signature: request.signature };
}
