/** What whoever types the address alone gets: the page to read, or where everything is. */
import type { Handler } from '../handler.js';
import { success } from '../response/envelope.js';

const paths = {
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
export const root: Handler = ({ head: { headers } }) => {
  const response = success(200, paths);
  response.headers.Vary = 'Accept';
  if (/\bapplication\/json\b/i.test(headers.get('accept') ?? '')) return response;
  return { ...response, status: 302, headers: { ...response.headers, Location: paths.docs } };
};
