/** Answers where no route does: an unknown path, another method, and OPTIONS. */
import { nearest, refuse } from '../../engine/internal.js';
import { createMatcher } from '../contract/match.js';
import { routes } from '../contract/routes.js';
import type { RequestHead } from '../transport/transport.js';
import type { EntryChecks } from './request/entry-checks.js';
import type { Answer } from './response/envelope.js';

export function noRoute({ path }: RequestHead): Answer {
  const shown = path.slice(0, MOST_PATH);
  const near = shown === path ? nearestPath(path) : null;
  const hint = near === null ? 'GET / lists where to begin' : `did you mean ${near}?`;
  return { refusal: refuse('UNKNOWN_ROUTE', `not found: ${shown}; ${hint}`) };
}

const match = createMatcher(routes);
/** A longer path is not compared. */
const MOST_PATH = 256;

/** The closest path that a route has: the same behind /api/v1, or one with few other letters. */
function nearestPath(path: string): string | null {
  const inside = path.replace(/^\/(?:api\/)?(?:v1\/)?/, '/api/v1/');
  if (inside !== path && match('GET', inside)) return inside;
  return mended(path) ?? mended(inside);
}

/** The path of a route of as many steps, each of which is like that of the path or a parameter. */
function mended(path: string): string | null {
  const steps = path.split('/');
  for (const route of routes) {
    const known = route.path.split('/');
    if (known.length !== steps.length) continue;
    const found = known.map((step, at) =>
      step.startsWith('{') ? steps[at]! : step === steps[at] ? step : nearest(steps[at]!, [step]),
    );
    if (found.every((step) => step !== null)) return found.join('/');
  }
  return null;
}

export function noMethod({ method }: RequestHead, allowed: readonly string[]): Answer {
  const Allow = allowed.join(', ');
  const message = `${method.slice(0, 32)} is not a method of this route: ${Allow}`;
  return { refusal: refuse('METHOD', message), headers: { Allow } };
}

export function optionsAnswer(
  { headers }: RequestHead,
  allowed: readonly string[],
  { origins }: EntryChecks,
): Answer {
  const Allow = allowed.join(', ');
  return { status: 204, headers: { Allow, ...origins.preflight(headers, Allow) }, body: '' };
}
