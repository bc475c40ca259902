/**
 * Agents whose decisions come from outside of the process: what they are asked is collected, and
 * the world waits for all answers of a window together.
 */

/** What an answer cost. */
export interface AnswerCost {
  /** Calls that it took. */
  calls: number;
  /** Without an answer that can be used, its agent does nothing. */
  failed: boolean;
  inputTokens: number;
  outputTokens: number;
}

export interface Answered {
  agent: number;
  /** When it was asked, in the world's time. */
  at: number;
  cost: AnswerCost;
  /** Lets the agent do what was answered. */
  act(): void;
}

export interface Asking {
  /** Whether the agent waits for an answer: whatever it is called for next waits too. */
  waits(agent: number): boolean;
  /** The answers to all that was asked, in the order of the questions; none when nothing was. */
  answers(): Promise<readonly Answered[]>;
}
