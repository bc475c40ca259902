/** How ajv compiles our schemas: when the program is built, and when it runs. */
import { isTag, TAG_PATTERN } from '../unicode/unicode.js';
import type { Options } from './ajv.js';

/** The platform's patterns, but for what depends on its version of Unicode. */
export function pattern(source: string, flags: string): Pick<RegExp, 'test'> {
  return source === TAG_PATTERN
    ? ({ test: isTag, toString: () => 'tag' } as Pick<RegExp, 'test'>)
    : new RegExp(source, flags);
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
