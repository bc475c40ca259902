/**
 * How messages travel: when one arrives, or whether it is lost. All of it is a pure hash of seed,
 * message and link, so that nothing is kept for a message under way.
 */

import { mix } from '../../rng.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Faults } from './faults.js';
import { latencyOf, shortestMs } from './latency.js';

/** The network's own place in links. */
export const NETWORK = -1;

/** The world runs in windows of this length at most. */
const LONGEST_WINDOW_MS = 50;
/** The feed sends an event again when it was lost. */
const RESEND_MS = 1_000;
const MILLION = 1_000_000;
/** Names the draws of one message on one link apart. */
const salts = { loss: 0x1055, copy: 0xc097 } as const;

export class Links {
  readonly #seed: number;
  readonly #faults: Faults;
  readonly #lossPpm: number;
  readonly #duplicationPpm: number;
  readonly #draw: (hash: number) => number;
  /** Nothing travels faster: what is said in a window is not received in it. */
  readonly windowMs: number;

  constructor({ latency, loss, duplication }: Scenario['links'], seed: number, faults: Faults) {
    this.#seed = seed;
    this.#faults = faults;
    this.#lossPpm = Math.round(loss * MILLION);
    this.#duplicationPpm = Math.round(duplication * MILLION);
    this.#draw = latencyOf(latency);
    this.windowMs = Math.min(LONGEST_WINDOW_MS, shortestMs(latency));
  }

  /** When a message arrives that is sent once; infinite when it is lost. */
  arrival(message: number, from: number, to: number, at: number): number {
    if (this.#lost(message, from, to, 0) || this.#faults.cuts(from, to, at)) {
      return Number.POSITIVE_INFINITY;
    }
    return at + this.#latencyMs(message, from, to, at);
  }

  /** When an event of the feed arrives, which is sent again until it does. */
  delivery(message: number, to: number, at: number): number {
    const losses = this.losses(message, to);
    const sentAt = this.#faults.healedAt(to, at + losses * RESEND_MS);
    return sentAt + this.#latencyMs(message, NETWORK, to, sentAt);
  }

  /** How often an event of the feed was lost on its way. */
  losses(message: number, to: number): number {
    let losses = 0;
    while (this.#lost(message, NETWORK, to, losses)) losses += 1;
    return losses;
  }

  /** Whether a request arrives twice. */
  duplicated(message: number, from: number): boolean {
    if (this.#duplicationPpm === 0) return false;
    return mix(this.#seed, message, from, salts.copy) % MILLION < this.#duplicationPpm;
  }

  #lost(message: number, from: number, to: number, attempt: number): boolean {
    if (this.#lossPpm === 0 || attempt >= MOST_LOSSES) return false;
    return mix(this.#seed, message, from, to, salts.loss + attempt) % MILLION < this.#lossPpm;
  }

  #latencyMs(message: number, from: number, to: number, at: number): number {
    const latencyMs = this.#draw(mix(this.#seed, message, from, to));
    return latencyMs * this.#faults.slowness(from, to, at);
  }
}

/** Also where everything is lost, an event arrives in the end. */
const MOST_LOSSES = 30;
