/** The route table and the path matcher. Handlers, documents, metrics and tests derive from it. */
import type { CommandKind } from '../../engine/protocol/schema/command.js';
import { carriage } from '../../engine/protocol/schema/entry.js';
import { commandRoutes } from './commands.js';
import { at, ofThePast, reads } from './reads.js';
import type { Declared } from './route.js';
import { documentRoutes, operatorRoutes, pageRoutes, serverRoutes } from './server.js';
import { shownReads } from './views.js';

export type RouteName =
  | CommandKind
  | keyof typeof reads
  | keyof typeof shownReads
  | keyof typeof serverRoutes
  | UnlimitedName;

type UnlimitedName =
  | keyof typeof operatorRoutes
  | keyof typeof documentRoutes
  | keyof typeof pageRoutes;

export interface Route extends Omit<Declared, 'method'> {
  readonly name: RouteName;
  readonly method: string;
  /** Command that a request sends; null for reads. */
  readonly command: CommandKind | null;
  /** Largest accepted body in bytes; 0 for no body. */
  readonly bodyBytes: number;
  /** True if requests count against the address's quota. Operator requests do not. */
  readonly limited: boolean;
}

function routesOf<N extends RouteName>(
  declared: Readonly<Record<N, Omit<Declared, 'method' | 'path'>>>,
  complete: (declared: Declared, name: N) => Partial<Route> = () => ({}),
): Route[] {
  return (Object.entries(declared) as [N, Declared][]).map(([name, route]) => ({
    ...{ method: 'GET', command: null, bodyBytes: 0, limited: true },
    ...route,
    ...{ name },
    ...complete(route, name),
  }));
}

const carried = (_: object, kind: CommandKind) => {
  const { method, path } = carriage[kind];
  return { method, path, command: kind };
};

/** Adds `at` to a read. */
const dated = ({ query, reasons }: Declared) => ({
  query: { ...query, at },
  reasons: [...new Set([...reasons, ...ofThePast, 'QUOTA_USED' as const])],
});

/** View reads are not in the original interface. */
const shown = ({ reasons }: Declared) => ({
  extension: true as const,
  reasons: [...reasons, 'QUOTA_USED' as const],
});

/** Routes that no limit counts. */
const unlimited = () => ({ limited: false });

export const routes: readonly Route[] = [
  ...routesOf(commandRoutes, carried),
  ...routesOf(reads, dated),
  ...routesOf(shownReads, shown),
  ...routesOf(serverRoutes),
  ...routesOf({ ...operatorRoutes, ...documentRoutes, ...pageRoutes }, unlimited),
];

interface Place {
  readonly method: string;
  readonly path: string;
}

export interface Match<R> {
  /** Null if the path exists, but not with this method. */
  route: R | null;
  allowed: readonly string[];
  params: readonly string[];
}

/** Returns null if the path is unknown. HEAD matches as GET. */
type Matcher<R> = (method: string, path: string) => Match<R> | null;

/** Routes that share a path pattern. */
interface Shape<R> {
  pattern: RegExp;
  byMethod: ReadonlyMap<string, R>;
  allowed: readonly string[];
}

export function createMatcher<R extends Place>(routes: readonly R[]): Matcher<R> {
  const shapes: Shape<R>[] = [];
  /** Matches for paths without parameters, built once. */
  const fixed = new Map<string, { other: Match<R>; byMethod: Map<string, Match<R>> }>();
  for (const text of new Set(routes.map(shapeOf))) {
    const here = routes.filter((route) => shapeOf(route) === text);
    const shape = compiled(text, here);
    shapes.push(shape);
    const to = (route: R | null): Match<R> => ({ route, allowed: shape.allowed, params: [] });
    const byMethod = new Map(here.map((route) => [route.method, to(route)]));
    if (!text.includes('(')) fixed.set(text, { other: to(null), byMethod });
  }
  return (method, path) => {
    const name = method === 'HEAD' ? 'GET' : method;
    const known = fixed.get(path);
    return known ? (known.byMethod.get(name) ?? known.other) : byPattern(shapes, name, path);
  };
}

const shapeOf = ({ path }: Place) => path.replaceAll(/\{\w+\}/g, '([^/]+)');

function compiled<R extends Place>(shape: string, here: readonly R[]): Shape<R> {
  const byMethod = new Map(here.map((route) => [route.method, route]));
  const allowed = [...byMethod.keys(), ...(byMethod.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
  return { pattern: new RegExp(`^${shape}$`), byMethod, allowed };
}

function byPattern<R>(shapes: readonly Shape<R>[], method: string, path: string): Match<R> | null {
  for (const { pattern, byMethod, allowed } of shapes) {
    const found = pattern.exec(path);
    if (!found) continue;
    return { route: byMethod.get(method) ?? null, allowed, params: found.slice(1).map(decoded) };
  }
  return null;
}

/** Decodes a path parameter. An invalid encoding yields a text that no parameter accepts. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '\ufffd';
  }
}
