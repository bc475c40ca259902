/** The route table: what answers where. Handlers, documents, measures and tests derive from it. */
import { type CommandKind, carriage } from '../../engine/internal.js';
import type { ReadName } from './answers.js';
import { serverBounds } from './limit-table.js';

/** The two documents, the page that shows one of them, and its scripts. */
export type DocumentName =
  | 'openapi'
  | 'asyncapi'
  | 'docs'
  | 'docs_socket'
  | 'docs_theme'
  | 'docs_viewer';

/** The page that shows a network: under each of its paths the same, and what it is made of. */
export type PageName = 'page' | 'page_bare' | 'page_view' | 'page_item' | 'page_asset';

/** What is neither a command nor a read of the committed. */
export type SpecialName =
  | 'root'
  | 'meta'
  | 'meme_content'
  | 'debug_ws'
  | 'debug_verify'
  | 'control'
  | 'control_write'
  | 'proof'
  | 'cluster'
  | 'load'
  | 'live'
  | 'ready'
  | 'metrics'
  | PageName
  | DocumentName;

/** What a page that looks at the network is given. */
export type ShownName =
  | 'view'
  | 'view_progress'
  | 'columns'
  | 'overview'
  | 'roster'
  | 'agent_votes'
  | 'agent_memes'
  | 'agent_decisions'
  | 'agent_neighbours'
  | 'memes'
  | 'log'
  | 'entry'
  | 'scenario';

export type RouteName = CommandKind | ReadName | ShownName | SpecialName;

export interface Route {
  /** Its handler and its part of the documents are found by it. */
  readonly name: RouteName;
  readonly method: string;
  /** With its parameters in braces; also the label that measures count it by. */
  readonly path: string;
  /** What a request here asks the network to do; null where it changes nothing. */
  readonly command: CommandKind | null;
  /** The largest body that is read; 0 where none is expected. */
  readonly bodyBytes: number;
  /** Whether requests count against what their address may send: an operator's do not. */
  readonly limited: boolean;
}

const { small, propose, meme, debug_verify } = serverBounds.body;
const bodyBytes: Partial<Record<CommandKind, number>> = { propose, meme };

const command = (kind: CommandKind): Route => ({
  name: kind,
  method: carriage[kind].method,
  path: carriage[kind].path,
  command: kind,
  bodyBytes: bodyBytes[kind] ?? small,
  limited: true,
});

const get = (path: string, name: ReadName | ShownName | SpecialName): Route => ({
  name,
  method: 'GET',
  path,
  command: null,
  bodyBytes: 0,
  limited: true,
});

/** What an operator asks, or what costs nothing: files that were made ahead. */
const unlimited = (path: string, name: SpecialName): Route => ({
  ...get(path, name),
  limited: false,
});

export const routes: readonly Route[] = [
  ...(Object.keys(carriage) as CommandKind[]).map(command),
  get('/api/v1/network/state', 'state'),
  get('/api/v1/network/agents', 'agents'),
  get('/api/v1/social/reputation/{id}', 'reputation'),
  get('/api/v1/agents/{id}', 'agent'),
  get('/api/v1/blocks', 'blocks'),
  get('/api/v1/blocks/{hash}', 'block'),
  get('/api/v1/blocks/{hash}/votes', 'votes'),
  get('/api/v1/transactions/{hash}', 'transactions'),
  get('/api/v1/state/{key}', 'stateValue'),
  get('/api/v1/social/alliances', 'alliances'),
  get('/api/v1/events', 'events'),
  get('/api/v1/view', 'view'),
  get('/api/v1/view/progress', 'view_progress'),
  get('/api/v1/columns', 'columns'),
  get('/api/v1/overview', 'overview'),
  get('/api/v1/agents', 'roster'),
  get('/api/v1/agents/{id}/votes', 'agent_votes'),
  get('/api/v1/agents/{id}/memes', 'agent_memes'),
  get('/api/v1/agents/{id}/decisions', 'agent_decisions'),
  get('/api/v1/agents/{id}/neighbours', 'agent_neighbours'),
  get('/api/v1/memes', 'memes'),
  get('/api/v1/log', 'log'),
  get('/api/v1/entries/{entry}', 'entry'),
  get('/api/v1/scenario', 'scenario'),
  get('/', 'root'),
  get('/api/v1/meta', 'meta'),
  get('/api/v1/social/memes/{id}/content', 'meme_content'),
  get('/api/v1/debug/ws/{connection_id}', 'debug_ws'),
  { ...get('/api/v1/debug/verify', 'debug_verify'), method: 'POST', bodyBytes: debug_verify },
  get('/api/v1/control', 'control'),
  { ...get('/api/v1/control', 'control_write'), method: 'POST', bodyBytes: small },
  get('/api/v1/proof', 'proof'),
  get('/api/v1/cluster', 'cluster'),
  get('/api/v1/load', 'load'),
  unlimited('/metrics', 'metrics'),
  unlimited('/healthz', 'live'),
  unlimited('/readyz', 'ready'),
  unlimited('/openapi.json', 'openapi'),
  unlimited('/asyncapi.json', 'asyncapi'),
  unlimited('/docs', 'docs'),
  unlimited('/docs/socket', 'docs_socket'),
  unlimited('/docs/theme.js', 'docs_theme'),
  unlimited('/docs/rapidoc-min.js', 'docs_viewer'),
  unlimited('/ui', 'page_bare'),
  unlimited('/ui/', 'page'),
  unlimited('/ui/assets/{file}', 'page_asset'),
  unlimited('/ui/{view}', 'page_view'),
  unlimited('/ui/{view}/{item}', 'page_item'),
];
