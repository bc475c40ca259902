/** Routes with their handlers, and the handlers for the server's own state. */
import { refuse } from '../../engine/protocol/schema/reason.js';
import { socketPath } from '../contract/channels.js';
import { commandRoutes } from '../contract/commands.js';
import { describeLimits } from '../contract/limit-table.js';
import { reads } from '../contract/reads.js';
import { createMatcher, type RouteName, routes } from '../contract/routes.js';
import { documentRoutes, operatorRoutes, pageRoutes, serverRoutes } from '../contract/server.js';
import { shownReads } from '../contract/views.js';
import { readControl, readGallery, readRuns, writeControl } from './control.js';
import { debugSocket, debugVerify, liveness, metrics, readiness } from './diagnostics.js';
import type { HandledRoute, Handler } from './handler.js';
import { asking, document, page, pageAsset, rateLimited } from './reads.js';
import { success } from './response.js';
import { historicalRead, shownRead } from './view-reads.js';
import { write } from './write-handler.js';

const paths = {
  docs: documentRoutes.docs.path,
  openapi: documentRoutes.openapi.path,
  asyncapi: documentRoutes.asyncapi.path,
  meta: serverRoutes.meta.path,
  state: reads.state.path,
  events: socketPath,
  health: operatorRoutes.live.path,
  metrics: operatorRoutes.metrics.path,
};

const withPage = { page: pageRoutes.page.path, ...paths };

/**
 * Handles GET /. Redirects browsers to the web page and other clients to the documents, or lists
 * the endpoints as JSON.
 */
const root: Handler = ({ head: { headers }, services: { ui } }) => {
  const response = success(200, ui ? withPage : paths);
  response.headers.Vary = 'Accept';
  const accept = headers.get('accept') ?? '';
  if (/\bapplication\/json\b/i.test(accept)) return response;
  const Location = ui && /\btext\/html\b/i.test(accept) ? withPage.page : paths.docs;
  return { ...response, status: 302, headers: { ...response.headers, Location } };
};

const cluster: Handler = async ({ services: { cluster: current } }) => {
  if (current) return success(200, await current());
  return { refusal: refuse('CLUSTER_UNAVAILABLE') };
};

const load = asking(serverRoutes.load, () => ({ refusal: refuse('LOAD_RUN_UNAVAILABLE') }));

const meta: Handler = ({ services: { network, limits, version } }) => {
  const { schema_version, epoch, seq, event_seq, digest, log_digest } = network.read.position;
  const { profile, figures } = limits;
  return success(200, {
    version,
    ...network.genesis,
    epoch,
    schema_version,
    seq,
    event_seq,
    digest,
    log_digest,
    durable: network.durableOnDisk,
    limits: { profile, ...describeLimits(figures) },
  });
};

const memeContent = asking(serverRoutes.meme_content, ({ services }, { meme_id: id }) => {
  const content = services.network.read.memeContent(id);
  if (!content) return { refusal: refuse('MEME_UNKNOWN', { id }) };
  return {
    status: 200,
    headers: {
      'Content-Type': content.mediaType,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "sandbox; default-src 'none'",
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
    body: content.bytes,
  };
});

const handlersOfServer: Record<keyof typeof serverRoutes, Handler> = {
  ...{ root, meta, meme_content: memeContent, cluster, load },
  ...{ debug_ws: debugSocket, debug_verify: debugVerify },
  ...{ control: readControl, runs: readRuns, gallery: readGallery, control_write: writeControl },
};

const pages: Record<keyof typeof pageRoutes, Handler> = {
  ...{ page, page_bare: page, page_view: page, page_item: page },
  page_asset: pageAsset,
};

function each<N extends string>(
  group: Readonly<Record<N, unknown>>,
  handlerOf: (name: N) => Handler,
): Record<N, Handler> {
  const names = Object.keys(group) as N[];
  return Object.fromEntries(names.map((name) => [name, handlerOf(name)])) as Record<N, Handler>;
}

const handlers: Record<RouteName, Handler> = {
  ...each(commandRoutes, write),
  ...each(reads, historicalRead),
  ...each(shownReads, shownRead),
  ...each(serverRoutes, (name) => rateLimited(handlersOfServer[name])),
  ...each(documentRoutes, document),
  ...{ live: liveness, ready: readiness, metrics },
  ...pages,
};

export const match = createMatcher(
  routes.map(
    (route): HandledRoute => ({
      ...route,
      handle: handlers[route.name],
      parameterNames: Object.keys(route.query ?? {}),
    }),
  ),
);
