/** What whoever types the address alone gets: the page to read, or where everything is. */

import type { HttpRequest, HttpResponse } from '../../transport/transport.js';
import { success } from '../response/envelope.js';

const places = {
  docs: '/docs',
  openapi: '/openapi.json',
  asyncapi: '/asyncapi.json',
  meta: '/api/v1/meta',
  state: '/api/v1/network/state',
  events: '/ws/v1',
  health: '/healthz',
  metrics: '/metrics',
} as const;

/** JSON for who asks for it, else the way to the page; without following it the same JSON. */
export function rootAnswer({ headers }: HttpRequest): HttpResponse {
  const response = success(200, places);
  response.headers.Vary = 'Accept';
  if (/\bapplication\/json\b/i.test(headers.get('accept') ?? '')) return response;
  return { ...response, status: 302, headers: { ...response.headers, Location: places.docs } };
}
