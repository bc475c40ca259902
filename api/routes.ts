/** The route table: what answers where. Gate, documents and tests derive from it. */
import { type CommandKind, carriage } from '../engine/index.js';
import * as reads from './reads.js';

export type Route =
  | { method: string; path: string; write: CommandKind }
  | { method: 'GET'; path: string; read: (read: reads.Read) => reads.ReadResult }
  | { method: string; path: string; special: SpecialRoute };

export type SpecialRoute =
  | 'meta'
  | 'meme_content'
  | 'live'
  | 'ready'
  | 'metrics'
  | 'debug_ws'
  | 'debug_verify';

const writes: Route[] = Object.entries(carriage).map(([kind, { method, path }]) => ({
  method,
  path,
  write: kind as CommandKind,
}));

const get = (path: string, read: (read: reads.Read) => reads.ReadResult): Route => ({
  method: 'GET',
  path,
  read,
});

export const routes: readonly Route[] = [
  ...writes,
  get('/api/v1/network/state', reads.state),
  get('/api/v1/network/agents', reads.agents),
  get('/api/v1/social/reputation/{id}', reads.reputation),
  get('/api/v1/agents/{id}', reads.agent),
  get('/api/v1/blocks', reads.blocks),
  get('/api/v1/blocks/{hash}', reads.block),
  get('/api/v1/blocks/{hash}/votes', reads.votes),
  get('/api/v1/transactions/{hash}', reads.transactions),
  get('/api/v1/state/{key}', reads.stateValue),
  get('/api/v1/social/alliances', reads.alliances),
  get('/api/v1/events', reads.events),
  { method: 'GET', path: '/api/v1/meta', special: 'meta' },
  { method: 'GET', path: '/api/v1/social/memes/{id}/content', special: 'meme_content' },
  { method: 'GET', path: '/api/v1/debug/ws/{connection_id}', special: 'debug_ws' },
  { method: 'POST', path: '/api/v1/debug/verify', special: 'debug_verify' },
  { method: 'GET', path: '/metrics', special: 'metrics' },
  { method: 'GET', path: '/healthz', special: 'live' },
  { method: 'GET', path: '/readyz', special: 'ready' },
];

interface Compiled {
  pattern: RegExp;
  byMethod: Map<string, Route>;
}

const compiled: Compiled[] = [];
const fixed = new Map<string, Compiled>();
for (const route of routes) {
  const pattern = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
  const known = compiled.find((one) => one.pattern.source === pattern.source);
  const entry = known ?? { pattern, byMethod: new Map<string, Route>() };
  entry.byMethod.set(route.method, route);
  if (!known) compiled.push(entry);
  if (!route.path.includes('{')) fixed.set(route.path, entry);
}

export interface Match {
  /** Null where the path has other methods. */
  route: Route | null;
  /** Methods of this path. */
  allowed: readonly string[];
  /** Path parameters, decoded. */
  params: string[];
}

/** The route of a request; null when nothing answers at this path. HEAD is answered as GET. */
export function match(method: string, path: string): Match | null {
  const entry = fixed.get(path) ?? compiled.find(({ pattern }) => pattern.test(path));
  if (!entry) return null;
  const params = (entry.pattern.exec(path) ?? []).slice(1).map(decoded);
  const route = entry.byMethod.get(method === 'HEAD' ? 'GET' : method) ?? null;
  const named = [...entry.byMethod.keys()];
  const allowed = [...named, ...(named.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
  return { route, allowed, params };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
