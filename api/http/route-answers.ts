/** Answers where no route does: an unknown path, another method, and OPTIONS. */
import { refuse } from '../../engine/internal.js';
import type { RequestHead } from '../transport/transport.js';
import type { EntryChecks } from './request/entry-checks.js';
import type { Answer } from './response/envelope.js';

export function noRoute({ path }: RequestHead): Answer {
  return { refusal: refuse('UNKNOWN_ROUTE', `nothing answers at ${path.slice(0, 256)}`) };
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
