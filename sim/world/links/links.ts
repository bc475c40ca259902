/**
 * How messages travel: when one arrives, or whether it is lost. All of it is a pure hash of the
 * message's name and who receives it, so that nothing is kept for a message under way.
 */

import { mix } from '../../rng.js';
import type { ScenarioData } from '../../scenario/files/data.js';
import type { Faults } from './faults.js';
import { type Latencies, type Linked, latenciesOf } from './latency/between.js';

/** The network's own place in links. */
export const NETWORK = -1;

/** The world runs in windows of this length at most. */
const LONGEST_WINDOW_MS = 50;
/** The feed sends an event again when it was lost. */
const RESEND_MS = 1_000;
/** Probabilities are compared with a 32-bit hash. */
const CERTAIN = 2 ** 32;
/** Names the draws about one message and receiver apart; one for each attempt at `loss`. */
const salts = { copied: 0xc097, copy: 0xc098, loss: 0x1055 } as const;

export class Links {
  readonly #faults: Faults;
  readonly #loss: number;
  readonly #duplication: number;
  readonly #latencies: Latencies;
  /** Nothing travels faster: what is said in a window is not received in it. */
  readonly windowMs: number;

  constructor(scenario: Linked, { traces }: Pick<ScenarioData, 'traces'>, faults: Faults) {
    const { loss, duplication } = scenario.links;
    this.#faults = faults;
    this.#loss = Math.round(loss * CERTAIN);
    this.#duplication = Math.round(duplication * CERTAIN);
    this.#latencies = latenciesOf(scenario, traces);
    this.windowMs = Math.min(LONGEST_WINDOW_MS, this.#latencies.shortestMs);
  }

  get lossy(): boolean {
    return this.#loss > 0;
  }

  /** When a message (by its name) arrives that is sent once; infinite when it is lost. */
  arrival(name: number, from: number, to: number, at: number): number {
    if (this.fails(name, from, to, at)) return Number.POSITIVE_INFINITY;
    return at + this.#latencyMs(name, from, to, at);
  }

  /** Whether nothing that is sent once at `at` can fail to arrive. */
  sure(at: number): boolean {
    return this.#loss === 0 && !this.#faults.partitioned(at);
  }

  /** Whether a message that is sent once does not arrive. */
  fails(name: number, from: number, to: number, at: number): boolean {
    return this.#lost(name, to, 0) || this.#faults.cuts(from, to, at);
  }

  /** When an event of the feed arrives, which is sent again until it does. */
  delivery(name: number, to: number, at: number): number {
    const losses = this.losses(name, to);
    const sentAt = this.#faults.healedAt(to, at + losses * RESEND_MS);
    return sentAt + this.#latencyMs(name, NETWORK, to, sentAt);
  }

  /** How often an event of the feed is lost before it arrives. */
  losses(name: number, to: number): number {
    let losses = 0;
    while (this.#lost(name, to, losses)) losses += 1;
    return losses;
  }

  /** The name of the second copy of a request; null when it does not arrive twice. */
  copyOf(name: number): number | null {
    if (this.#duplication === 0) return null;
    const copied = mix(name, NETWORK, salts.copied) < this.#duplication;
    return copied ? mix(name, NETWORK, salts.copy) : null;
  }

  #lost(name: number, to: number, attempt: number): boolean {
    if (this.#loss === 0 || attempt >= MOST_LOSSES) return false;
    return mix(name, to, salts.loss + attempt) < this.#loss;
  }

  #latencyMs(name: number, from: number, to: number, at: number): number {
    return this.#latencies.of(from, to)(mix(name, to)) * this.#faults.slowness(from, to, at);
  }
}

/** Also where everything is lost, an event arrives in the end. */
const MOST_LOSSES = 30;
