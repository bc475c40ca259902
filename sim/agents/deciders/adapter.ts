/**
 * The door to a decider carries a question there and the answer back, once and within a time.
 * Beside it are the reasons for which it fails, the budget of calls, and the figures of what all
 * calls cost.
 */

import type { AnswerCost } from '../port.js';
import type { Question, Usage } from './question.js';

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
export interface DeciderResponse {
  /** A JSON value. */
  value: unknown;
  /** Tokens, as the protocol around the answer reports them. */
  usage?: Usage;
}

export interface DeciderAdapter {
  /** Questions are dealt to so many lanes by their agents. */
  readonly lanes: number;
  /** Questions that may be under way at once in each lane. */
  readonly atOnce: number;
  /**
   * Asks once. When `signal` is aborted it gives up at once, whatever it throws then.
   * @throws {NoAnswer} when no answer is had. @throws {ScenarioError} when none can ever be.
   */
  ask(question: Question, lane: number, signal: AbortSignal): Promise<DeciderResponse>;
  /** Ends whatever it holds open. */
  close(): Promise<void>;
}

/** What goes to a decider, as JSON. */
export const toPayload = ({ id, agent, kind, number, view }: Question) => ({
  protocol: 1,
  id,
  agent,
  kind,
  number,
  view,
});

/** A question that nobody answers: no cassette holds it and nobody may be asked, or no more. */
export class DeciderError extends Error {
  override name = 'DeciderError';
}

/** The run was ended from outside while somebody was being asked. */
export class AskingEnded extends Error {
  override name = 'AskingEnded';
}

export class Budget {
  /** Calls made in this process. */
  made = 0;
  readonly #most: number;
  readonly #onCall: (made: number) => void;

  constructor(most: number, onCall: (made: number) => void) {
    this.#most = most;
    this.#onCall = onCall;
  }

  get spent(): boolean {
    return this.made >= this.#most;
  }

  take(): void {
    this.made += 1;
    this.#onCall(this.made);
  }
}

/** In summary.json, of a run with external deciders. */
export interface DeciderFigures {
  /** Questions that were put. */
  questions: number;
  /** Of these, those that were asked now: all others were taken from a cassette. */
  asked: number;
  /** Calls for all questions: retries, and calls under way when a process was killed, included. */
  calls: number;
  /** Calls beyond the first of each question. */
  retries: number;
  /** Questions without an answer that can be used, by reason: their agents did nothing. */
  failures: Partial<Record<FailureReason, number>>;
  /** Tokens of all calls, unusable answers included, as far as deciders report them. */
  input_tokens: number;
  output_tokens: number;
}

export class Figures {
  asked = 0;
  readonly #all = { questions: 0, calls: 0, retries: 0, input_tokens: 0, output_tokens: 0 };
  readonly #failures = new Map<FailureReason, number>();

  add({ calls, inputTokens, outputTokens }: AnswerCost, reason: FailureReason | undefined): void {
    this.#all.questions += 1;
    this.#all.calls += calls;
    this.#all.retries += calls - 1;
    this.#all.input_tokens += inputTokens;
    this.#all.output_tokens += outputTokens;
    if (reason) this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  get all(): DeciderFigures {
    const { questions, calls, retries, ...tokens } = this.#all;
    const sorted = [...this.#failures].sort(([a], [b]) => (a < b ? -1 : 1));
    const failures = Object.fromEntries(sorted);
    return { questions, asked: this.asked, calls, retries, failures, ...tokens };
  }
}

/** What a cassette is called in the folder of a run: read where nobody outside decides, too. */
export const CASSETTE_FILE = 'decisions.cassette';
