/** Patterns in schemas, each with the text that messages show for it. */

/** Texts that patterns allow, for messages. */
const patternTexts = new Map<string, string>();

/**
 * Registers the text that a schema's pattern allows, such as "64 hex characters". Messages show
 * this text, because readers of a message may not know regular expressions.
 *
 * @returns the pattern.
 */
export function definePattern(pattern: string, allowed: string): string {
  patternTexts.set(pattern, allowed);
  return pattern;
}

/** Returns the text that a pattern allows, or null for an unregistered pattern. */
export const describePattern = (pattern: string): string | null =>
  patternTexts.get(pattern) ?? null;

export const hexPattern = (characters: number) =>
  definePattern(`^[0-9a-fA-F]{${characters}}$`, `${characters} hex characters`);

/** Pattern for a SHA-256 that a program wrote, in lower case. */
export const digestPattern = definePattern('^[0-9a-f]{64}$', '64 lower-case hex characters');

/** Pattern for an id: a prefix such as `agent`, and 32 hex characters. */
export const idPattern = (prefix: string) =>
  definePattern(`^${prefix}_[0-9a-f]{32}$`, `${prefix}_ followed by 32 lower-case hex characters`);

/** Pattern for the names of networks and nodes. */
export const namePattern = definePattern(
  '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$',
  '1 to 64 letters, digits, dots, hyphens or underscores, with a letter or digit first',
);
