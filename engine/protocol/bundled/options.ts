/** Options with which the build compiles schemas. */
import type { Options } from 'ajv';
import { hexPattern, isHash } from '../text.js';
import { isTag, TAG_PATTERN } from '../unicode.js';

/**
 * Patterns that functions check: those that depend on the version of Unicode, and frequent ones.
 */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  [TAG_PATTERN]: isTag,
  [hexPattern(64)]: isHash,
};

/** Returns a test for a pattern: one of `checks`, or a RegExp. */
export function pattern(source: string, flags: string): Pick<RegExp, 'test'> {
  const test = checks[source];
  const check = test && { test, toString: () => source };
  return check ?? new RegExp(source, flags);
}
/** Name of the function in generated code, which imports it. */
pattern.code = 'pattern';

// Formats are checked by parseInstant, isDuration and durationMs, which know the calendar.
export const ajvOptions: Options = {
  allErrors: false,
  strict: true,
  // Tests validate the schemas. At run time it would take 80 ms.
  validateSchema: false,
  code: { regExp: pattern },
  formats: { 'date-time': true, duration: true },
};
