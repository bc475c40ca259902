/** What went wrong in a script, in a line. */
import { inspect } from 'node:util';

const LONGEST = 500;

export function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : shown(cause);
  return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST);
}

/** A script may throw anything: none of its own code runs to show it. */
const shown = (cause: unknown): string =>
  typeof cause === 'string' ? cause : inspect(cause, { customInspect: false, depth: 1 });
