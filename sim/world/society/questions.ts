/**
 * Calls of agents for whom others decide. All that is asked in a window is answered together, since
 * nothing said in it is received in it; what an agent is called for next waits for its answer.
 */
import type { Asking } from '../../agents/port/asking.js';
import type { Observer } from '../observer.js';
import type { Call } from './due.js';
import type { Intervening } from './intervening.js';

export class Questions {
  readonly #asking: Asking;
  readonly #observer: Observer;
  readonly #intervening: Intervening | undefined;
  /** Calls that have put a question: they are done with the answer. */
  readonly #open = new Map<number, Call>();
  #held: Call[] = [];

  constructor(asking: Asking, observer: Observer, intervening: Intervening | undefined) {
    this.#asking = asking;
    this.#observer = observer;
    this.#intervening = intervening;
  }

  /** Whether the call has to wait for an answer to its agent. */
  holds(call: Call): boolean {
    if (!this.#asking.waits(call.from)) return false;
    this.#held.push(call);
    return true;
  }

  /** Whether the call that was made has put a question. */
  asked(call: Call): boolean {
    if (!this.#asking.waits(call.from)) return false;
    this.#open.set(call.from, call);
    return true;
  }

  /**
   * Lets agents do what was answered, each at the time of its question, until none is left.
   * @param again calls those that waited, and whoever was to be called meanwhile.
   */
  async answerAll(world: { now: number }, again: (held: Call[]) => void): Promise<void> {
    const reached = world.now;
    for (;;) {
      const all = await this.#asking.answers();
      if (all.length === 0) break;
      for (const { agent, at, cost, act } of all) {
        world.now = at;
        this.#observer.asked(agent, cost);
        act();
        this.#intervening?.called(agent, this.#open.get(agent)!.event);
      }
      this.#open.clear();
      again(this.#held.splice(0));
    }
    world.now = Math.max(world.now, reached);
  }
}
