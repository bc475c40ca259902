/**
 * OpenTelemetry traces, for servers and for load runs. The operator registers an SDK; without one,
 * the API records nothing. The API is an optional package, loaded only for traces.
 */
import type { Context, Span, TextMapGetter, Tracer } from '@opentelemetry/api';
import type { Refusal } from '../engine/protocol/schema/reason.js';
import type { Route } from './contract/routes.js';
import type { RequestHead } from './transport/transport.js';

type Api = typeof import('@opentelemetry/api');

/** @throws {Error} if the package `@opentelemetry/api` is not installed. */
export async function loadApi(): Promise<Api> {
  try {
    return await import('@opentelemetry/api');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error('traces require a package: npm install @opentelemetry/api');
  }
}

const headerGetter: TextMapGetter<RequestHead['headers']> = {
  get: (headers, name) => headers.get(name.toLowerCase()),
  keys: (headers) => [...headers.keys()],
};

/**
 * Converts a time of the monotonic clock. The SDK would round a number to milliseconds, so that the
 * steps of a request would overlap.
 */
export function toHrTime(ms: number): [number, number] {
  const wallMs = performance.timeOrigin + ms;
  return [Math.trunc(wallMs / 1_000), Math.round((wallMs % 1_000) * 1e6)];
}

/** Spans of requests to a server. */
export class ServerTracing {
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #networkId: string;

  private constructor(api: Api, version: string, networkId: string) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('folkmoot', version);
    this.#networkId = networkId;
  }

  static async load(version: string, networkId: string): Promise<ServerTracing> {
    return new ServerTracing(await loadApi(), version, networkId);
  }

  /**
   * Starts the span of a request, as a child of the client's span if the request names one. Returns
   * null if the SDK does not record the request, and for probes of health and metrics.
   *
   * @param startMs time of the request's head, on the monotonic clock.
   */
  begin(head: RequestHead, route: Route | null, startMs: number): RequestTrace | null {
    if (route?.tag === 'operations') return null;
    const { propagation, ROOT_CONTEXT, SpanKind, trace } = this.#api;
    const parent = propagation.extract(ROOT_CONTEXT, head.headers, headerGetter);
    // The names come from the table of routes, so their number is limited.
    const name = route ? `${route.method} ${route.path}` : 'unknown';
    const attributes = {
      'http.request.method': route?.method ?? '_OTHER',
      ...(route ? { 'http.route': route.path } : {}),
      'url.path': head.path,
      'folkmoot.network_id': this.#networkId,
    };
    const start = { kind: SpanKind.SERVER, startTime: toHrTime(startMs), attributes };
    const span = this.#tracer.startSpan(name, start, parent);
    if (!span.isRecording()) return null;
    return new RequestTrace(this.#api, this.#tracer, span, trace.setSpan(parent, span));
  }
}

/** The span of one request, with a child for each step. */
export class RequestTrace {
  readonly #api: Api;
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;

  constructor(api: Api, tracer: Tracer, span: Span, context: Context) {
    this.#api = api;
    this.#tracer = tracer;
    this.#span = span;
    this.#context = context;
  }

  /** Starts a child. Returns a function that ends it. */
  startStep(name: string): () => void {
    const startTime = toHrTime(performance.now());
    const span = this.#tracer.startSpan(name, { startTime }, this.#context);
    return () => span.end(toHrTime(performance.now()));
  }

  end(status: number, requestId: string, refusal: Refusal | null): void {
    this.#span.setAttribute('http.response.status_code', status);
    this.#span.setAttribute('folkmoot.request_id', requestId);
    if (refusal) this.#span.setAttribute('folkmoot.refusal', refusal.reason);
    if (status >= 500) {
      this.#span.setAttribute('error.type', refusal?.reason ?? String(status));
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    this.#span.end(toHrTime(performance.now()));
  }
}

/** Spans of requests that a load run sends. */
export class ClientTracing {
  readonly #api: Api;
  readonly #tracer: Tracer;

  private constructor(api: Api, version: string) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('folkmoot-load', version);
  }

  static async load(version: string): Promise<ClientTracing> {
    return new ClientTracing(await loadApi(), version);
  }

  /** Starts the span of a request. Returns it with the headers that name it. */
  begin(method: string, path: string): { span: Span; headers: Record<string, string> } {
    const { propagation, ROOT_CONTEXT, SpanKind, trace } = this.#api;
    const attributes = { 'http.request.method': method, 'url.path': path.split('?', 1)[0]! };
    const span = this.#tracer.startSpan(method, {
      kind: SpanKind.CLIENT,
      startTime: toHrTime(performance.now()),
      attributes,
    });
    const headers: Record<string, string> = {};
    propagation.inject(trace.setSpan(ROOT_CONTEXT, span), headers);
    return { span, headers };
  }
}
