/** Interface to external deciders, and their figures in the summary of a run. */
import {
  Failure,
  type FormattedMessage,
  formatMessage,
  indexGroups,
  type KeyIn,
  type MessageIn,
  type MessageValues,
  withFix,
} from '../../../engine/protocol/messages.js';
import { deciderMessages, type FailureReason, noAnswerMessages } from './messages.js';
import type { Question, Usage } from './question.js';

export type { FailureReason } from './messages.js';

const noAnswerRows = indexGroups(noAnswerMessages);
type NoAnswerCode = KeyIn<typeof noAnswerMessages>;
type DeciderCode = keyof typeof deciderMessages;

/** A call without a usable answer. */
export class NoAnswer<K extends NoAnswerCode = NoAnswerCode> extends Error {
  override name = 'NoAnswer';
  /** Tokens used by the call, if the decider reports them. */
  readonly usage: Usage | undefined;
  /** Milliseconds to wait before the next call, as requested by the decider. */
  readonly afterMs: number;

  readonly reason: FailureReason;

  constructor(
    readonly code: K,
    values: MessageValues<MessageIn<typeof noAnswerMessages, K>>,
    { usage, afterMs = 0 }: { usage?: Usage | undefined; afterMs?: number } = {},
  ) {
    const { category, message } = noAnswerRows[code];
    super(formatMessage<string>(message, values));
    this.reason = category;
    this.usage = usage;
    this.afterMs = afterMs;
  }
}

export interface DeciderResponse {
  /** JSON value. */
  value: unknown;
  /** Token counts reported by the protocol that carries the answer. */
  usage?: Usage;
}

export interface DeciderAdapter {
  /** Number of parallel lanes. All questions from an agent use the same lane. */
  readonly lanes: number;
  /** Maximum concurrent questions per lane. */
  readonly atOnce: number;
  /**
   * Asks the question once. Returns or throws immediately when `signal`, its own, is aborted.
   * @throws {NoAnswer} if this call failed. @throws {ScenarioError} if no call can succeed.
   */
  ask(question: Question, lane: number, signal: AbortSignal): Promise<DeciderResponse>;
  /** Closes connections and ends child processes. */
  close(): Promise<void>;
}

/** Builds the JSON that is sent to a decider. */
export const toPayload = ({ id, agent, kind, number, view }: Question) => ({
  protocol: 1,
  id,
  agent,
  kind,
  number,
  view,
});

/** A question stays unanswered because no cassette answers it and the decider cannot be asked. */
export class DeciderError extends Failure {
  override name = 'DeciderError';
  /** Message key, such as `BUDGET_SPENT`. */
  readonly code: string;

  /** @internal */
  constructor(code: DeciderCode, message: FormattedMessage) {
    super('decider', code, message);
    this.code = code;
  }
}

export function deciderError<K extends DeciderCode>(
  code: K,
  values: MessageValues<(typeof deciderMessages)[K]>,
): DeciderError {
  return new DeciderError(code, withFix(deciderMessages[code], values));
}

/** The run was aborted while a decider was being asked. */
export class AskingEnded extends Error {
  override name = 'AskingEnded';
}

/** Figures for external deciders in summary.json. */
export interface DeciderFigures {
  questions: number;
  /** Questions asked in this run. The remaining questions were answered from a cassette. */
  asked: number;
  /** Calls for all questions, including retries and calls interrupted by process exit. */
  calls: number;
  retries: number;
  /** Failed questions by reason. The agents concerned did nothing. */
  failures: Partial<Record<FailureReason, number>>;
  /** Tokens used by all calls, including failed calls, as reported by deciders. */
  input_tokens: number;
  output_tokens: number;
  /** Questions answered from the cache; absent if there are none. */
  cached?: number;
  /** Cost of the answers at the scenario's prices, without those from the cache. */
  money?: number;
}

/** File name in the run folder. Runs without external deciders read this file too. */
export const CASSETTE_FILE = 'decisions.cassette';
