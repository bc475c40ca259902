import type { MessageTable } from '../../../engine/protocol/messages.js';
import { defineStoreErrors } from '../../../engine/store/messages.js';

/**
 * Reasons for a failed call, as recorded in cassettes and summaries:
 *
 * - `timeout`: no answer in time
 * - `unreachable`: connection failed or broke
 * - `ended`: process ended, or closed its output
 * - `refused`: an HTTP status other than 200, or an MCP error
 * - `too_long`: answer above the size limit
 * - `no_json`: not valid JSON
 * - `wrong`: not an answer, or an answer that contains an invalid command
 */
export const failureReasons = [
  'timeout',
  'unreachable',
  'ended',
  'refused',
  'too_long',
  'no_json',
  'wrong',
] as const;

/** Reason for a failed call. @useDeclaredType */
export type FailureReason = (typeof failureReasons)[number];

type Reasoned = Readonly<Record<string, { readonly reason: FailureReason }>>;

/** Failed decider calls, with the reason for each failure. */
export const noAnswerMessages = {
  TIMEOUT: { reason: 'timeout', text: 'no answer within {ms} ms' },
  CANCELLED: { reason: 'timeout', text: 'call cancelled' },
  UNREACHABLE: { reason: 'unreachable', text: '{detail}' },
  SESSION_CLOSED: { reason: 'unreachable', text: 'MCP session closed' },
  PROCESS_ENDED: { reason: 'ended', text: 'process ended: {detail}' },
  OUTPUT_CLOSED: { reason: 'ended', text: 'process ended, or closed its output' },
  HTTP_STATUS: { reason: 'refused', text: 'unexpected HTTP status: {status}' },
  MCP_ERROR: { reason: 'refused', text: '{detail}' },
  TOOL_FAILED: { reason: 'refused', text: 'MCP tool failed: {detail}' },
  ANSWER_TOO_LONG: { reason: 'too_long', text: 'answer longer than {bytes} bytes' },
  INVALID_JSON: { reason: 'no_json', text: '{detail}' },
  INVALID_LINE: { reason: 'no_json', text: 'invalid answer line: {detail}' },
  INVALID_MCP_MESSAGE: { reason: 'no_json', text: 'invalid MCP message: {detail}' },
  EMPTY_COMPLETION: {
    reason: 'wrong',
    text: 'completion has no text at choices.0.message.content',
  },
  EMPTY_RESULT: { reason: 'wrong', text: 'MCP result without structured content or text' },
  INVALID_ANSWER: { reason: 'wrong', text: '{detail}' },
  LEAKED_SECRET: { reason: 'wrong', text: 'answer contains a secret of the decider' },
} as const satisfies MessageTable & Reasoned;

/** Questions that stay unanswered and therefore end the run. */
export const deciderMessages = {
  NO_RECORD: {
    text: 'no recorded answer for {question} in {cassette}',
    fix: 'run with --record to query the decider',
  },
  OTHER_DECIDER: {
    text: 'the recorded answer for {question} in {cassette} is from a different decider',
    fix: 'run with --record to query the decider',
  },
  OTHER_VIEW: {
    text: 'recorded answer for {question} in {cassette} is for another view ({path})',
    fix: 'run with --record to query the decider',
  },
  BUDGET_SPENT: {
    text: 'call budget spent: {made} calls (--most-calls), {open} questions open',
    fix: 'answers so far are saved; repeat the command to continue (a sweep: add --resume)',
  },
} as const satisfies MessageTable;

/** Errors of a cassette. */
export const cassetteError = defineStoreErrors({
  CASSETTE_NOT_FOUND: {
    code: 'MISSING',
    text: 'cassette not found: {path}',
    fix: 'pass a cassette, or the folder of a run that has {file}',
  },
  CASSETTE_DAMAGED: { code: 'CORRUPT', text: 'cassette {path} is damaged: {reason}' },
  CASSETTE_INCOMPLETE: {
    code: 'CORRUPT',
    text: 'cassette {path} is incomplete after record {record}: {reason}',
    fix: 'use --record to keep recorded answers and request the rest',
  },
  CASSETTE_OF_OTHER_SCENARIO: {
    code: 'OTHER_NETWORK',
    text: 'cassette {path} is for scenario {found}, not {expected}',
    fix: 'use --record to keep recorded answers and request the rest',
  },
  CASSETTE_IN_OUTPUT: {
    code: 'OTHER_NETWORK',
    text: 'cassette {path} is for scenario {found}, not {expected}',
    fix: 'use another --out',
  },
  CASSETTE_COMMAND: {
    code: 'CORRUPT',
    text: 'invalid command in the recorded answer to {id}: {reason}',
  },
});
