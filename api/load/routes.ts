/**
 * What answers at the address of a load run's page: the page, what it shows, and control. The paths
 * are those of the route table; there is no network behind them.
 */
import { refuse } from '../../engine/internal.js';
import type { Control } from '../contract/control.js';
import { createMatcher } from '../contract/match.js';
import { type Route, type RouteName, routes } from '../contract/routes.js';
import { readControl, writeControl } from '../http/control.js';
import { builtFile, document } from '../http/reads/documents.js';
import { versionKnown } from '../http/reads/load.js';
import { type Answer, jsonResponse, success } from '../http/response/envelope.js';
import type { Body, RequestHead } from '../transport/transport.js';
import type { Board } from './board.js';

export interface LoadServices {
  readonly board: Board;
  readonly control: Control;
  /** Whoever has it may control the run. */
  readonly token: string;
}

export interface LoadCall {
  readonly services: LoadServices;
  readonly head: RequestHead;
  readonly params: readonly string[];
  readonly body: Body;
  /** Aborted once whoever asks has gone. */
  readonly gone: AbortSignal;
}

type Handler = (call: LoadCall) => Answer | Promise<Answer>;

export interface HandledRoute extends Route {
  readonly handle: Handler;
}

const PAGE = 'load.html';
const page: Handler = ({ head }) => builtFile(PAGE, head);

const load: Handler = ({ services: { board }, head, gone }) => {
  const known = versionKnown(head);
  if ('refusal' in known) return known;
  const text = board.read(known.after, gone);
  if (text === null) return { refusal: refuse('QUEUE_FULL', 'too many wait for what comes next') };
  const answer = (json: string) => jsonResponse(200, json);
  return typeof text === 'string' ? answer(text) : text.then(answer);
};

const root: Handler = () => ({ status: 302, headers: { Location: '/ui/load' }, body: '' });

const handlers: Partial<Record<RouteName, Handler>> = {
  ...{ root, load, control: readControl, control_write: writeControl },
  ...{ page, page_bare: page, page_view: page, page_item: page },
  page_asset: ({ params: [name = ''], head }) => builtFile(name, head),
  live: () => success(200, { status: 'ok' }),
  openapi: document('openapi'),
  asyncapi: document('asyncapi'),
  docs: document('docs'),
  docs_socket: document('docs_socket'),
  docs_theme: document('docs_theme'),
  docs_viewer: document('docs_viewer'),
};

export const match = createMatcher(
  routes.flatMap((route): HandledRoute[] => {
    const handle = handlers[route.name];
    return handle ? [{ ...route, handle }] : [];
  }),
);
