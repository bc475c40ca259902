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
 * - `budget`: not asked, because a limit of the agent or of the decision was reached
 */
export const failureReasons = [
  'timeout',
  'unreachable',
  'ended',
  'refused',
  'too_long',
  'no_json',
  'wrong',
  'budget',
] as const;

/** Reason for a failed call. @useDeclaredType */
export type FailureReason = (typeof failureReasons)[number];

/** Failed decider calls, by the reason for the failure. */
export const noAnswerMessages = {
  timeout: {
    TIMEOUT: 'no answer within {ms} ms',
    CANCELLED: 'call cancelled',
  },
  unreachable: {
    UNREACHABLE: '{detail}',
    SESSION_CLOSED: 'MCP session closed',
  },
  ended: {
    PROCESS_ENDED: 'process ended: {detail}',
    OUTPUT_CLOSED: 'process ended, or closed its output',
  },
  refused: {
    HTTP_STATUS: 'unexpected HTTP status: {status}',
    MCP_ERROR: '{detail}',
    TOOL_FAILED: 'MCP tool failed: {detail}',
  },
  too_long: {
    ANSWER_TOO_LONG: 'answer longer than {bytes} bytes',
  },
  no_json: {
    INVALID_JSON: '{detail}',
    INVALID_LINE: 'invalid answer line: {detail}',
    INVALID_MCP_MESSAGE: 'invalid MCP message: {detail}',
  },
  wrong: {
    EMPTY_COMPLETION: 'completion has no text at choices.0.message.content',
    EMPTY_RESULT: 'MCP result without structured content or text',
    INVALID_ANSWER: '{detail}',
    LEAKED_SECRET: 'answer contains a secret of the decider',
  },
} as const satisfies Record<Exclude<FailureReason, 'budget'>, MessageTable>;

/** Questions that stay unanswered and therefore end the run. */
export const deciderMessages = {
  NO_RECORD:
    'no recorded answer for {question} in {cassette}; run with --record to query the decider',
  OTHER_DECIDER: `the recorded answer for {question} in {cassette} is from a different decider;
    run with --record to query the decider`,
  OTHER_VIEW: `recorded answer for {question} in {cassette} is for another view ({path});
    run with --record to query the decider`,
  BUDGET_SPENT: `budget spent: {limit} after {made} calls, {open} questions open;
    answers are saved; raise the limit and repeat the command (a sweep: add --resume)`,
} as const satisfies MessageTable;

export const cassetteError = defineStoreErrors({
  MISSING: {
    CASSETTE_NOT_FOUND:
      'cassette not found: {path}; pass a cassette, or the folder of a run that has {file}',
  },
  CORRUPT: {
    CASSETTE_DAMAGED: 'cassette {path} is damaged: {reason}',
    CASSETTE_INCOMPLETE: `cassette {path} is incomplete after record {record}: {reason};
      use --record to keep recorded answers and request the rest`,
    CASSETTE_COMMAND: 'invalid command in the recorded answer to {id}: {reason}',
  },
  OTHER_NETWORK: {
    CASSETTE_OF_OTHER_SCENARIO: `cassette {path} is for scenario {found}, not {expected};
      use --record to keep recorded answers and request the rest`,
    CASSETTE_IN_OUTPUT:
      'cassette {path} is for scenario {found}, not {expected}; use another --out',
  },
});
