/** What went wrong in a script, in a line. */

const LONGEST = 500;

export function oneLine(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replace(/\s+/g, ' ').trim().slice(0, LONGEST);
}
