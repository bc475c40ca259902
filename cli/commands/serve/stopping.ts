/**
 * Stopping a server by SIGTERM or SIGINT, or when the npx that started it is gone, at any time: the
 * first asks for it, and what was opened is closed in good order; a second signal ends at once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exitCodes, exitProcess } from '../../output/exit.js';
import { onParentGone } from '../../output/signals.js';

type Close = () => Promise<unknown>;

export class Stopping {
  readonly #closers: Close[] = [];
  #by: NodeJS.Signals | null = null;
  #resolve!: (by: NodeJS.Signals) => void;
  readonly #aborting = new AbortController();
  /** Aborted at the first signal. */
  readonly signal: AbortSignal = this.#aborting.signal;
  /** Resolves then. */
  readonly asked = new Promise<NodeJS.Signals>((resolve) => {
    this.#resolve = resolve;
  });

  /** Signals are handled from here on: before anything is opened, or printed. */
  constructor() {
    const handle = (signal: NodeJS.Signals) => {
      if (this.#by !== null) return exitProcess(exitCodes.refused);
      this.#by = signal;
      this.#aborting.abort();
      this.#resolve(signal);
    };
    process.on('SIGTERM', handle);
    process.on('SIGINT', handle);
    // After a signal it is no second one.
    onParentGone(() => this.#by ?? handle('SIGTERM'));
  }

  /** Whether to start nothing more. What keeps the thread busy keeps signals waiting for a turn. */
  async isAsked(): Promise<boolean> {
    await nextTurn();
    return this.#by !== null;
  }

  /** Notes how something is closed; what was opened last is closed first. */
  opened(close: Close): void {
    this.#closers.unshift(close);
  }

  async closeAll(): Promise<void> {
    for (const close of this.#closers) await close();
  }
}
