import type { MessageTable } from '../../engine/protocol/messages.js';

/** Errors in election data. Each text follows the line number. */
export const electionMessages = {
  TOO_LARGE: 'too many bytes: {bytes}; use at most {limit}',
  UNKNOWN_TYPE: 'unknown type of election data: {type}; use {expected}',
  INVALID_TYPE: 'invalid DATA TYPE: {type}; use {expected}',
  MISSING_HEADER: 'missing line: {name}; add it before the orders',
  LATE_HEADER: 'metadata line after the first order: {name}; move it before the orders',
  INVALID_COUNT: 'invalid {name}: {value}; use an integer from {least} to {most}',
  REPEATED: 'repeated {name}: {value}; keep one',
  WRONG_SUM: '{name} is {value}, but the file has {sum}; correct the number',
  NAME_MISSING: 'alternative without a name: {number}; add ALTERNATIVE NAME {number}',
  INVALID_NAME: 'invalid name: {value}; use 1 to {most} characters without control characters',
  INVALID_ORDER: 'invalid order: {value}; write a count, a colon and numbers, with ties in braces',
  UNKNOWN_ALTERNATIVE: 'unknown alternative: {value}; use {expected}',
  REPEATED_ALTERNATIVE: 'repeated alternative: {value}; name it once',
  TIE: 'tie in a file of type {type}: {value}; use the type {expected}',
  INCOMPLETE: `incomplete order in a file of type {type}: {value};
    name all alternatives, or use the type {expected}`,
  EMPTY: 'no {what}; add at least one',
  TOO_MANY: 'too many {what}: {count}; use at most {limit}',
  INVALID_CSV: 'invalid line: {detail}; separate values by ; and quote with "',
  NO_SECTION: 'missing section: {name}; write META, PROJECTS and VOTES in order',
  NO_COLUMN: 'section {section} without a column: {name}; add the column',
  WRONG_CELLS: '{count} values; the section has {expected} columns; write one value per column',
  INVALID_POINTS: 'invalid points: {value}; give one integer from 0 to {most} for each project',
} as const satisfies MessageTable;
