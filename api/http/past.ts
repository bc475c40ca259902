/** The network at earlier entries, for reads: one look at a time, and not too many that wait. */
import { type History, type Moment, type Refusal, refuse } from '../../engine/internal.js';

/** Looks that wait for others. */
const MOST_WAITING = 16;

/** How far something is that is made of the log. */
export interface Progress {
  entry: number;
  to: number;
}

export class Past {
  readonly #history: History;
  readonly #closing = new AbortController();
  /** Who asks about an entry asks several things about it. */
  #last: { entry: number; moment: Promise<Moment> } | null = null;
  #waiting = 0;
  /** How far it has come with what is asked for; null while it looks at nothing. */
  progress: Progress | null = null;

  constructor(history: History) {
    this.#history = history;
  }

  /**
   * The network as it was after an entry, or a refusal where too many ask already.
   *
   * @throws {RangeError} when the log has no such entry.
   * @throws {StoreError} when what is stored does not follow from the log.
   */
  async at(entry: number): Promise<Moment | Refusal> {
    if (this.#last?.entry === entry) return this.#last.moment;
    if (this.#waiting >= MOST_WAITING) {
      return refuse('QUEUE_FULL', `${MOST_WAITING} looks at earlier entries wait already`);
    }
    const look = { entry, moment: this.#look(entry) };
    this.#last = look;
    try {
      return await look.moment;
    } catch (error) {
      if (this.#last === look) this.#last = null;
      throw error;
    }
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort(new Error('the server closes'));
  }

  async #look(entry: number): Promise<Moment> {
    this.#waiting += 1;
    try {
      return await this.#history.at(entry, {
        signal: this.#closing.signal,
        onProgress: (seq, to) => {
          this.progress = { entry: seq, to };
        },
      });
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.progress = null;
    }
  }
}
