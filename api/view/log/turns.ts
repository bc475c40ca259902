/** Work on a log, one thing after the other; whoever asks meanwhile is told how far it is. */
import type { ViewWork } from './kept/index-source.js';

export class Turns {
  /** Of what is being made; null while nothing is. */
  progress: { entry: number; to: number } | null = null;
  #last: Promise<void> = Promise.resolve();

  /** Does it once all before it is done; what that threw is not its own. */
  take(act: (work: ViewWork) => Promise<void>, work: ViewWork): Promise<void> {
    const onProgress = (entry: number, to: number) => {
      this.progress = { entry, to };
      work.onProgress?.(entry, to);
    };
    const turn = this.#last
      .then(() => act({ ...work, onProgress }))
      .finally(() => {
        this.progress = null;
      });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Once all is done. */
  get over(): Promise<void> {
    return this.#last;
  }
}
