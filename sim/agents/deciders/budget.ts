/** Calls that may still be made, and how many were; and why a run with deciders cannot go on. */

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
