/** What the deciders of a run cost. */
import type { AnswerCost } from '../port/asking.js';
import type { FailureReason } from './doors/door.js';

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
