/** What whoever types the address alone gets: the page, or where everything is. */
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

const withPage = { page: '/ui/', ...paths } as const;

/**
 * JSON for who asks for it; browsers are sent to the page, all others to what there is to read.
 * Without following the way it is the same JSON.
 */
export const root: Handler = ({ head: { headers }, services: { ui } }) => {
  const response = success(200, ui ? withPage : paths);
  response.headers.Vary = 'Accept';
  const accept = headers.get('accept') ?? '';
  if (/\bapplication\/json\b/i.test(accept)) return response;
  const Location = ui && /\btext\/html\b/i.test(accept) ? withPage.page : paths.docs;
  return { ...response, status: 302, headers: { ...response.headers, Location } };
};
