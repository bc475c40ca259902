/** How long producers wait for room for a block; those that take it away from others aside. */
import type { RefusedWhy } from '../../world/observer.js';
import type { MeasuredAgent } from './population.js';

const noRoom = new Set<RefusedWhy>(['TOO_MANY_OPEN', 'BLOCKS_USED']);
const takers = new Set(['vote_exhauster', 'slot_holder']);

export class Waits {
  readonly #agents: readonly MeasuredAgent[];
  /** Since when each waits. */
  readonly #since = new Map<number, number>();
  #longest = 0;

  constructor(agents: readonly MeasuredAgent[]) {
    this.#agents = agents;
  }

  /** A proposal was refused. */
  refused(agent: number, why: RefusedWhy, at: number): void {
    const strategy = this.#agents[agent]?.strategy;
    if (!noRoom.has(why) || strategy === undefined || takers.has(strategy)) return;
    if (!this.#since.has(agent)) this.#since.set(agent, at);
  }

  /** A proposal was accepted. */
  proposed(agent: number, at: number): void {
    const since = this.#since.get(agent);
    if (since === undefined) return;
    this.#longest = Math.max(this.#longest, at - since);
    this.#since.delete(agent);
  }

  /** What was waited before is left out; whoever waits now does so from here. */
  forget(at: number): void {
    this.#longest = 0;
    for (const agent of this.#since.keys()) this.#since.set(agent, at);
  }

  /** Whoever still waits at the end has waited until then. */
  longest(endMs: number): number {
    return Math.max(this.#longest, ...[...this.#since.values()].map((since) => endMs - since));
  }
}
