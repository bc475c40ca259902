/** Finds the route of a request: by a table of paths, or by pattern where they have parameters. */

/** What a route is found by. */
interface Place {
  readonly method: string;
  readonly path: string;
}

export interface Match<R> {
  /** Null where the path has other methods. */
  route: R | null;
  /** Methods of this path. */
  allowed: readonly string[];
  /** Path parameters, decoded. */
  params: readonly string[];
}

/** Null when nothing answers at a path. HEAD is answered as GET. */
export type Matcher<R> = (method: string, path: string) => Match<R> | null;

/** The routes of one path. */
interface Shape<R> {
  pattern: RegExp;
  byMethod: ReadonlyMap<string, R>;
  allowed: readonly string[];
}

export function createMatcher<R extends Place>(routes: readonly R[]): Matcher<R> {
  const shapes: Shape<R>[] = [];
  /** Paths without parameters: their matches are made once. */
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

/** What is no percent-encoding is nothing that a parameter may be. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '\ufffd';
  }
}
