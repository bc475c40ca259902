/** The route table: what answers where. Gate, documents and tests derive from it. */
import { type CommandKind, carriage } from '../../engine/internal.js';
import * as reads from '../http/reads/reads.js';
import type { ReadName } from './answers.js';

type Reader = (read: reads.Read) => reads.ReadResult;

export type Route =
  | { method: string; path: string; write: CommandKind }
  | { method: 'GET'; path: string; name: ReadName; read: Reader }
  | { method: string; path: string; special: SpecialRoute };

export type SpecialRoute =
  | 'root'
  | 'meta'
  | 'meme_content'
  | 'live'
  | 'ready'
  | 'metrics'
  | 'debug_ws'
  | 'debug_verify'
  | DocumentRoute;

/** The two documents, the page that shows one of them, and its scripts. */
export type DocumentRoute = 'openapi' | 'asyncapi' | 'docs' | 'docs_theme' | 'docs_viewer';

const writes: Route[] = Object.entries(carriage).map(([kind, { method, path }]) => ({
  method,
  path,
  write: kind as CommandKind,
}));

/** A read by its name, under which answers.ts has the shape of its data. */
const get = (path: string, name: ReadName, read: Reader): Route => ({
  method: 'GET',
  path,
  name,
  read,
});

export const routes: readonly Route[] = [
  ...writes,
  get('/api/v1/network/state', 'state', reads.state),
  get('/api/v1/network/agents', 'agents', reads.agents),
  get('/api/v1/social/reputation/{id}', 'reputation', reads.reputation),
  get('/api/v1/agents/{id}', 'agent', reads.agent),
  get('/api/v1/blocks', 'blocks', reads.blocks),
  get('/api/v1/blocks/{hash}', 'block', reads.block),
  get('/api/v1/blocks/{hash}/votes', 'votes', reads.votes),
  get('/api/v1/transactions/{hash}', 'transactions', reads.transactions),
  get('/api/v1/state/{key}', 'stateValue', reads.stateValue),
  get('/api/v1/social/alliances', 'alliances', reads.alliances),
  get('/api/v1/events', 'events', reads.events),
  { method: 'GET', path: '/', special: 'root' },
  { method: 'GET', path: '/api/v1/meta', special: 'meta' },
  { method: 'GET', path: '/api/v1/social/memes/{id}/content', special: 'meme_content' },
  { method: 'GET', path: '/api/v1/debug/ws/{connection_id}', special: 'debug_ws' },
  { method: 'POST', path: '/api/v1/debug/verify', special: 'debug_verify' },
  { method: 'GET', path: '/metrics', special: 'metrics' },
  { method: 'GET', path: '/healthz', special: 'live' },
  { method: 'GET', path: '/readyz', special: 'ready' },
  { method: 'GET', path: '/openapi.json', special: 'openapi' },
  { method: 'GET', path: '/asyncapi.json', special: 'asyncapi' },
  { method: 'GET', path: '/docs', special: 'docs' },
  { method: 'GET', path: '/docs/theme.js', special: 'docs_theme' },
  { method: 'GET', path: '/docs/rapidoc-min.js', special: 'docs_viewer' },
];

export interface Match {
  /** Null where the path has other methods. */
  route: Route | null;
  /** Methods of this path. */
  allowed: readonly string[];
  /** Path parameters, decoded. */
  params: readonly string[];
}

interface Compiled {
  pattern: RegExp;
  byMethod: Map<string, Route>;
  allowed: readonly string[];
}

const compiled: Compiled[] = [];
/** Paths without parameters: their matches are made once. */
const fixed = new Map<string, { other: Match; byMethod: Map<string, Match> }>();
const shapeOf = (path: string) => path.replaceAll(/\{\w+\}/g, '([^/]+)');
for (const shape of new Set(routes.map(({ path }) => shapeOf(path)))) {
  const here = routes.filter(({ path }) => shapeOf(path) === shape);
  const byMethod = new Map(here.map((route) => [route.method, route]));
  const named = [...byMethod.keys()];
  const allowed = [...named, ...(byMethod.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
  compiled.push({ pattern: new RegExp(`^${shape}$`), byMethod, allowed });
  const to = (route: Route | null): Match => ({ route, allowed, params: [] });
  const matches = new Map(here.map((route) => [route.method, to(route)]));
  if (!shape.includes('(')) fixed.set(shape, { other: to(null), byMethod: matches });
}

/** The route of a request; null when nothing answers at this path. HEAD is answered as GET. */
export function match(method: string, path: string): Match | null {
  const name = method === 'HEAD' ? 'GET' : method;
  const known = fixed.get(path);
  if (known) return known.byMethod.get(name) ?? known.other;
  const entry = compiled.find(({ pattern }) => pattern.test(path));
  if (!entry) return null;
  const params = (entry.pattern.exec(path) ?? []).slice(1).map(decoded);
  return { route: entry.byMethod.get(name) ?? null, allowed: entry.allowed, params };
}

/** What is no percent-encoding is nothing that a parameter may be. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '\ufffd';
  }
}
