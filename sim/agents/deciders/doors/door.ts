/** A way to a decider: carries a question there and what it says back, once and within a time. */
import type { Usage } from '../answer.js';
import type { Question } from '../question.js';

/** Why a call gave no answer that can be used. */
export const failureReasons = {
  timeout: 'it did not answer in time',
  unreachable: 'it could not be reached, or the connection broke',
  ended: 'its process ended, or closed its output',
  refused: 'it answered with an HTTP status other than 200, or an MCP error',
  too_long: 'what it said was too long',
  no_json: 'what it said is no JSON, or none that is taken',
  wrong: 'what it said is no answer, or has a command that cannot be',
} as const;

/**
 * Why a call gave no answer that can be used.
 *
 * @useDeclaredType
 */
export type FailureReason = keyof typeof failureReasons;

/** A call gave no answer that can be used. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
  /** Tokens that the call used, where the decider reports them. */
  readonly usage: Usage | undefined;
  /** Milliseconds that the decider asks the client to wait before the next call. */
  readonly afterMs: number;

  constructor(
    readonly reason: FailureReason,
    message: string,
    { usage, afterMs = 0 }: { usage?: Usage | undefined; afterMs?: number } = {},
  ) {
    super(message);
    this.usage = usage;
    this.afterMs = afterMs;
  }
}

/** A decider's response. */
export interface Said {
  /** A JSON value. */
  value: unknown;
  /** Tokens, as the protocol around the answer reports them. */
  usage?: Usage;
}

export interface Door {
  /** Questions are dealt to so many lanes by their agents. */
  readonly lanes: number;
  /** Questions that may be under way at once in each lane. */
  readonly atOnce: number;
  /**
   * Asks once. When `signal` is aborted it gives up at once, whatever it throws then.
   * @throws {NoAnswer} when no answer is had. @throws {ScenarioError} when none can ever be.
   */
  ask(question: Question, lane: number, signal: AbortSignal): Promise<Said>;
  /** Ends whatever it holds open. */
  close(): Promise<void>;
}

/** What goes to a decider, as JSON. */
export const sent = ({ id, agent, kind, number, view }: Question) => ({
  protocol: 1,
  id,
  agent,
  kind,
  number,
  view,
});
