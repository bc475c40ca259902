/** How the build has ajv compile schemas. */
import type { Options } from 'ajv';
import { hexPattern, isHash } from '../text.js';
import { isTag, TAG_PATTERN } from '../unicode.js';

/** What is checked by functions: what depends on the version of Unicode, and what comes often. */
const checks: Readonly<Record<string, (text: string) => boolean>> = {
  [TAG_PATTERN]: isTag,
  [hexPattern(64)]: isHash,
};

/** The platform's patterns, but for those. */
export function pattern(source: string, flags: string): Pick<RegExp, 'test'> {
  const test = checks[source];
  const check = test && { test, toString: () => source };
  return check ?? new RegExp(source, flags);
}
/** What stands for it in code that ajv writes: the build imports it by this name. */
pattern.code = 'pattern';

// Formats are checked by parseInstant, isDuration and durationMs, which know the calendar.
export const ajvOptions: Options = {
  allErrors: false,
  strict: true,
  // That schemas are schemas is for tests to say: the check takes 80 ms.
  validateSchema: false,
  code: { regExp: pattern },
  formats: { 'date-time': true, duration: true },
};
