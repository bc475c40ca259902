/** Options that the build uses to compile schemas. */
import type { Options } from 'ajv';
import { hexPattern } from '../patterns.js';
import { isHash, isTag, TAG_PATTERN } from '../text.js';

/** Patterns as functions, because they depend on the Unicode version or are tested often. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  [TAG_PATTERN]: isTag,
  [hexPattern(64)]: isHash,
};

/** Returns the test for a pattern: a function from `checks`, or a RegExp. */
export function pattern(source: string, flags: string): Pick<RegExp, 'test'> {
  const test = checks[source];
  const check = test && { test, toString: () => source };
  return check ?? new RegExp(source, flags);
}
/** The function's name in generated code, which imports it. */
pattern.code = 'pattern';

// Formats are left to parseInstant, isDuration and durationMs, which know the calendar.
export const ajvOptions: Options = {
  allErrors: false,
  strict: true,
  // Tests validate the schemas. Validating them at run time would take 80 ms.
  validateSchema: false,
  code: { regExp: pattern },
  formats: { 'date-time': true, duration: true },
};
