/** Tells of each exchange: put around an application, so that who does not listen pays nothing. */

import type { HttpRequest, HttpResponse } from '../transport/transport.js';
import type { App } from './application.js';

/** One request and its answer, for a log. */
export interface Exchange {
  method: string;
  target: string;
  /** Of the peer: a proxy, where there is one. */
  address: string;
  status: number;
  request_id: string;
  /** Of a refusal. */
  code: string | null;
  reason: string | null;
  message: string | null;
  /** Milliseconds from the last byte of the request to its answer. */
  ms: number;
}

export function observe(app: App, tell: (exchange: Exchange) => void): void {
  const { handle } = app;
  app.handle = (request) => {
    const started = performance.now();
    const told = (response: HttpResponse) => {
      tell(exchangeOf(request, response, performance.now() - started));
      return response;
    };
    const response = handle(request);
    return response instanceof Promise ? response.then(told) : told(response);
  };
}

function exchangeOf(request: HttpRequest, response: HttpResponse, ms: number): Exchange {
  const { method, target, address } = request;
  const { status, headers, body } = response;
  const request_id = headers['X-Request-Id'] ?? '';
  const refused = status < 400 ? null : refusalOf(body);
  const { code = null, message = null } = refused ?? {};
  const reason = refused?.details?.reason ?? null;
  const took = Math.round(ms * 1000) / 1000;
  return { method, target, address, status, request_id, code, reason, message, ms: took };
}

interface Told {
  code?: string;
  message?: string;
  details?: { reason?: string };
}

/** Of an answer of our own making. */
function refusalOf(body: HttpResponse['body']): Told | null {
  try {
    return (JSON.parse(String(body)) as { error?: Told }).error ?? null;
  } catch {
    return null;
  }
}
