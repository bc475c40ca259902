/**
 * How messages travel: when one arrives, or whether it is lost. All of it is a pure hash of the
 * message's name and who receives it, so that nothing is kept for a message under way.
 */
import { mix } from '../../rng.js';
import type { ScenarioData } from '../../scenario/files/data.js';
import type { Faults } from './faults.js';
import { type Latencies, type Linked, latenciesOf } from './latency/between.js';
import { OwnLinks } from './own-links.js';

/** The network's own place in links. */
export const NETWORK = -1;

/** The world runs in windows of this length at most. */
const LONGEST_WINDOW_MS = 50;
/** The feed sends an event again when it was lost. */
const RESEND_MS = 1_000;
/** Probabilities are compared with a 32-bit hash. */
const CERTAIN = 2 ** 32;
const ofCertain = (share: number): number => Math.round(share * CERTAIN);
/** Names the draws about one message and receiver apart; one for each attempt at `loss`. */
const salts = { copied: 0xc097, copy: 0xc098, loss: 0x1055 } as const;

export class Links {
  readonly #faults: Faults;
  /** The share that is lost, from an instant on; the last one counts that has begun. */
  readonly #losses: { from: number; loss: number }[];
  #duplication: number;
  /** Links that are not like others; null without any. */
  #own: OwnLinks | null = null;
  readonly #latencies: Latencies;
  /** Nothing travels faster: what is said in a window is not received in it. */
  readonly windowMs: number;

  constructor(scenario: Linked, { traces }: Pick<ScenarioData, 'traces'>, faults: Faults) {
    const { loss, duplication } = scenario.links;
    this.#faults = faults;
    this.#losses = [{ from: Number.NEGATIVE_INFINITY, loss: ofCertain(loss) }];
    this.#duplication = ofCertain(duplication);
    this.#latencies = latenciesOf(scenario, traces);
    this.windowMs = Math.min(LONGEST_WINDOW_MS, this.#latencies.shortestMs);
  }

  get lossy(): boolean {
    return this.#own !== null || this.#losses.some(({ loss }) => loss > 0);
  }

  /** When a message (by its name) arrives that is sent once; infinite when it is lost. */
  arrival(name: number, from: number, to: number, at: number): number {
    if (this.fails(name, from, to, at)) return Number.POSITIVE_INFINITY;
    return at + this.#latencyMs(name, from, to, at);
  }

  /** Whether nothing that is sent once at `at` can fail to arrive. */
  sure(at: number): boolean {
    return this.#own === null && this.#loss(at) === 0 && !this.#faults.partitioned(at);
  }

  /** Whether a message that is sent once does not arrive. */
  fails(name: number, from: number, to: number, at: number): boolean {
    const loss = this.#lossBetween(from, to, at);
    return this.#lost(name, to, 0, loss) || this.#faults.cuts(from, to, at);
  }

  /** Whether nothing that is sent at `at` arrives, whatever its name. */
  severs(from: number, to: number, at: number): boolean {
    return this.#lossBetween(from, to, at) >= CERTAIN || this.#faults.cuts(from, to, at);
  }

  /** When an event of the feed arrives, which is sent again until it does. */
  delivery(name: number, to: number, at: number): number {
    const losses = this.losses(name, to, at);
    const sentAt = this.#faults.healedAt(to, at + losses * RESEND_MS);
    return sentAt + this.#latencyMs(name, NETWORK, to, sentAt);
  }

  /** How often an event of the feed, first sent at `at`, is lost before it arrives. */
  losses(name: number, to: number, at: number): number {
    const loss = this.#lossBetween(NETWORK, to, at);
    let losses = 0;
    while (this.#lost(name, to, losses, loss)) losses += 1;
    return losses;
  }

  /** The name of the second copy of a request; null when it does not arrive twice. */
  copyOf(name: number): number | null {
    if (this.#duplication === 0) return null;
    const copied = mix(name, NETWORK, salts.copied) < this.#duplication;
    return copied ? mix(name, NETWORK, salts.copy) : null;
  }

  /** From `from` on another share of messages is lost. */
  setLoss(loss: number, from: number): void {
    this.#losses.push({ from, loss: ofCertain(loss) });
  }

  /** From now on another share of requests arrives twice. */
  setDuplication(share: number): void {
    this.#duplication = ofCertain(share);
  }

  /** From an instant on, what passes between two is lost or slow in a way of its own. */
  setOwn(a: number, b: number, change: { from: number; loss?: number; factor?: number }): void {
    const { from, loss, factor } = change;
    this.#own ??= new OwnLinks();
    this.#own.set(a, b, {
      from,
      ...(loss === undefined ? {} : { loss: ofCertain(loss) }),
      ...(factor === undefined ? {} : { factor }),
    });
  }

  #loss(at: number): number {
    const losses = this.#losses;
    if (losses.length === 1) return losses[0]!.loss;
    return losses.findLast(({ from }) => from <= at)!.loss;
  }

  #lossBetween(from: number, to: number, at: number): number {
    return this.#own?.at(from, to, at).loss ?? this.#loss(at);
  }

  #lost(name: number, to: number, attempt: number, loss: number): boolean {
    if (loss === 0 || attempt >= MOST_LOSSES) return false;
    return mix(name, to, salts.loss + attempt) < loss;
  }

  #latencyMs(name: number, from: number, to: number, at: number): number {
    const slowness =
      this.#faults.slowness(from, to, at) * (this.#own?.at(from, to, at).factor ?? 1);
    return this.#latencies.of(from, to)(mix(name, to)) * slowness;
  }
}

/** Also where everything is lost, an event arrives in the end. */
const MOST_LOSSES = 30;
