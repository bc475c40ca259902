import type { MessageTable } from '../../engine/protocol/messages.js';

/** Errors in election data. Each text follows the line number. */
export const electionMessages = {
  TOO_LARGE: { text: 'too many bytes: {bytes}', fix: 'use at most {limit}' },
  UNKNOWN_TYPE: { text: 'unknown type of election data: {type}', fix: 'use {expected}' },
  INVALID_TYPE: { text: 'invalid DATA TYPE: {type}', fix: 'use {expected}' },
  MISSING_HEADER: { text: 'missing line: {name}', fix: 'add it before the orders' },
  LATE_HEADER: {
    text: 'metadata line after the first order: {name}',
    fix: 'move it before the orders',
  },
  INVALID_COUNT: { text: 'invalid {name}: {value}', fix: 'use an integer from {least} to {most}' },
  REPEATED: { text: 'repeated {name}: {value}', fix: 'keep one' },
  WRONG_SUM: { text: '{name} is {value}, but the file has {sum}', fix: 'correct the number' },
  NAME_MISSING: {
    text: 'alternative without a name: {number}',
    fix: 'add ALTERNATIVE NAME {number}',
  },
  INVALID_NAME: {
    text: 'invalid name: {value}',
    fix: 'use 1 to {most} characters without control characters',
  },
  INVALID_ORDER: {
    text: 'invalid order: {value}',
    fix: 'write a count, a colon and numbers, with ties in braces',
  },
  UNKNOWN_ALTERNATIVE: { text: 'unknown alternative: {value}', fix: 'use {expected}' },
  REPEATED_ALTERNATIVE: { text: 'repeated alternative: {value}', fix: 'name it once' },
  TIE: { text: 'tie in a file of type {type}: {value}', fix: 'use the type {expected}' },
  INCOMPLETE: {
    text: 'incomplete order in a file of type {type}: {value}',
    fix: 'name all alternatives, or use the type {expected}',
  },
  EMPTY: { text: 'no {what}', fix: 'add at least one' },
  TOO_MANY: { text: 'too many {what}: {count}', fix: 'use at most {limit}' },
  INVALID_CSV: { text: 'invalid line: {detail}', fix: 'separate values by ; and quote with "' },
  NO_SECTION: { text: 'missing section: {name}', fix: 'write META, PROJECTS and VOTES in order' },
  NO_COLUMN: { text: 'section {section} without a column: {name}', fix: 'add the column' },
  WRONG_CELLS: {
    text: '{count} values; the section has {expected} columns',
    fix: 'write one value per column',
  },
  INVALID_POINTS: {
    text: 'invalid points: {value}',
    fix: 'give one integer from 0 to {most} for each project',
  },
} as const satisfies MessageTable;
