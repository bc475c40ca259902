/**
 * Links and uplinks decide when a message arrives, or that the message is lost. A link's effect is
 * a pure hash of the message's name and receiver, so nothing is stored for messages in flight. An
 * uplink sends an agent's messages one after another.
 */
import { mix, mixPair } from '../rng.js';
import type { ScenarioData } from '../scenario/files.js';
import { groupSizes } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from './faults.js';
import { createLatencies, type Latencies, type LinkSource } from './latency.js';

/** Network as an end of a link. */
export const NETWORK = -1;

const LONGEST_WINDOW_MS = 50;
/** Retransmission interval of the event feed. */
const RESEND_MS = 1_000;
/** Scale for comparing probabilities with 32-bit hashes. */
const CERTAIN = 2 ** 32;
const ofCertain = (share: number): number => Math.round(share * CERTAIN);
/** Hash constants by kind of draw. `loss` is combined with the attempt number. */
const salts = { copied: 0xc097, copy: 0xc098, loss: 0x1055 } as const;

export class Links {
  readonly #faults: Faults;
  /** Loss rates with start times. The last rate that has started applies. */
  readonly #losses: { from: number; loss: number }[];
  #duplication: number;
  /** Links with individual settings, or null. */
  #own: OwnLinks | null = null;
  readonly #latencies: Latencies;
  /**
   * Window length: the minimum latency, so that no message arrives in the window in which it was
   * sent.
   */
  readonly windowMs: number;

  constructor(scenario: LinkSource, { traces }: Pick<ScenarioData, 'traces'>, faults: Faults) {
    const { loss, duplication } = scenario.links;
    this.#faults = faults;
    this.#losses = [{ from: Number.NEGATIVE_INFINITY, loss: ofCertain(loss) }];
    this.#duplication = ofCertain(duplication);
    this.#latencies = createLatencies(scenario, traces);
    this.windowMs = Math.min(LONGEST_WINDOW_MS, this.#latencies.shortestMs);
  }

  get lossy(): boolean {
    return this.#own !== null || this.#losses.some(({ loss }) => loss > 0);
  }

  /** Returns the arrival time of a message that is sent once; infinite if the message is lost. */
  arrival(name: number, from: number, to: number, at: number): number {
    if (this.isPlain) return at + this.plainMs(name, from, to);
    if (this.fails(name, from, to, at)) return Number.POSITIVE_INFINITY;
    return at + this.#latencyMs(name, from, to, at);
  }

  /**
   * Returns the latency of a message if latency alone decides its arrival. V8 allocates memory for
   * a time or an unsigned hash that is passed to a function, but not for these integers.
   */
  plainMs(name: number, from: number, to: number): number {
    return this.#latencies.of(from, to)(mixPair(name, to) | 0);
  }

  /** True if latency alone decides the arrival of every message. */
  get isPlain(): boolean {
    return (
      this.#own === null &&
      this.#losses.length === 1 &&
      this.#losses[0]!.loss === 0 &&
      this.#faults.sparesLinks
    );
  }

  /** Returns true if no message sent at `at` can be lost. */
  sure(at: number): boolean {
    if (this.isPlain) return true;
    return this.#own === null && this.#loss(at) === 0 && !this.#faults.partitioned(at);
  }

  /** Returns true if a message that is sent once is lost. */
  fails(name: number, from: number, to: number, at: number): boolean {
    const loss = this.#lossBetween(from, to, at);
    return this.#lost(name, to, 0, loss) || this.#faults.cuts(from, to, at);
  }

  /** Returns true if all messages sent at `at` are lost. */
  severs(from: number, to: number, at: number): boolean {
    return this.#lossBetween(from, to, at) >= CERTAIN || this.#faults.cuts(from, to, at);
  }

  /** Returns the arrival time of a feed event, which is retransmitted until it arrives. */
  delivery(name: number, to: number, at: number): number {
    if (this.isPlain) return at + this.plainMs(name, NETWORK, to);
    const losses = this.losses(name, to, at);
    const sentAt = this.#faults.healedAt(to, at + losses * RESEND_MS);
    return sentAt + this.#latencyMs(name, NETWORK, to, sentAt);
  }

  /** Returns how many times a feed event is lost before its arrival. */
  losses(name: number, to: number, at: number): number {
    const loss = this.#lossBetween(NETWORK, to, at);
    let losses = 0;
    while (this.#lost(name, to, losses, loss)) losses += 1;
    return losses;
  }

  /** Returns the name of a request's duplicate, or null if there is no duplicate. */
  copyOf(name: number): number | null {
    if (this.#duplication === 0) return null;
    const copied = mix(name, NETWORK, salts.copied) < this.#duplication;
    return copied ? mix(name, NETWORK, salts.copy) : null;
  }

  setLoss(loss: number, from: number): void {
    this.#losses.push({ from, loss: ofCertain(loss) });
  }

  setDuplication(share: number): void {
    this.#duplication = ofCertain(share);
  }

  /** Sets one link's loss rate or latency factor from a given time on. */
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
    return this.#latencies.of(from, to)(mixPair(name, to)) * slowness;
  }
}

/** Maximum number of losses, so that feed events arrive eventually, even at a loss rate of 1. */
const MOST_LOSSES = 30;

interface OwnLink {
  from: number;
  /** Loss rate, scaled to 2^32. If absent, the rate is unchanged. */
  loss?: number;
  /** Latency factor. If absent, the factor is unchanged. */
  factor?: number;
}

const likeOthers: Omit<OwnLink, 'from'> = {};

/** Links that an intervention has changed, in both directions, from a given time on. */
class OwnLinks {
  readonly #links = new Map<string, OwnLink[]>();

  set(a: number, b: number, link: OwnLink): void {
    const key = keyOf(a, b);
    const before = this.#links.get(key) ?? [];
    this.#links.set(key, [...before, { ...before.at(-1), ...link }]);
  }

  /** Returns the settings for a message sent at `at`. */
  at(a: number, b: number, at: number): Omit<OwnLink, 'from'> {
    return this.#links.get(keyOf(a, b))?.findLast(({ from }) => from <= at) ?? likeOthers;
  }
}

const keyOf = (a: number, b: number) => (a < b ? `${a} ${b}` : `${b} ${a}`);

/*
 * Uplinks send an agent's messages one after another at a fixed rate. All arithmetic uses integers.
 * Only the departure time is rounded.
 */

/** Copies of a message that depart one after another. */
export interface Departure {
  /** Time at which the message was sent. */
  readonly at: number;
  /** Start of the first copy, in milliseconds. `beginBits` adds a number of bits. */
  readonly beginMs: number;
  readonly beginBits: number;
  /** Size of one copy in bits. */
  readonly bits: number;
  /** Rate in bits per millisecond. */
  readonly rate: number;
  /** Sender's next crash, which loses unsent copies; infinity without a crash. */
  readonly crashAt: number;
}

/** Returns a copy's departure (copies from 0), up to the next millisecond; infinite if lost. */
export function computeDeparture(departure: Departure, copy: number): number {
  const { beginMs, beginBits, bits, rate, crashAt } = departure;
  const end = beginBits + (copy + 1) * bits;
  const left = beginMs + whole(end, rate) + (end % rate > 0 ? 1 : 0);
  return left > crashAt ? Number.POSITIVE_INFINITY : left;
}

/** Returns the time in milliseconds that a copy waits before it starts to depart. */
export function waitMs({ at, beginMs, beginBits, bits, rate }: Departure, copy: number): number {
  return beginMs - at + (beginBits + copy * bits) / rate;
}

/** Divides integers. Subtracts the remainder first, because a quotient could be rounded up. */
const whole = (part: number, by: number): number => (part - (part % by)) / by;

export class Uplinks {
  /** Rate in bits per millisecond, by agent; 0 without a limit. */
  readonly #rates: Uint32Array;
  readonly #faults: Faults;
  /** By agent: end of the agent's queue. `#crashAt` is the agent's next crash as last computed. */
  readonly #freeMs: Float64Array;
  readonly #freeBits: Uint32Array;
  readonly #crashAt: Float64Array;

  constructor(rates: Uint32Array, faults: Faults) {
    this.#rates = rates;
    this.#faults = faults;
    this.#freeMs = new Float64Array(rates.length);
    this.#freeBits = new Uint32Array(rates.length);
    this.#crashAt = new Float64Array(rates.length).fill(Number.POSITIVE_INFINITY);
  }

  limits(agent: number): boolean {
    return this.#rates[agent]! > 0;
  }

  /** Queues a message behind the agent's earlier messages. */
  take(agent: number, at: number, bytes: number, copies: number): Departure {
    const rate = this.#rates[agent]!;
    const bits = 8 * bytes;
    // A crash has emptied the queue.
    const free = at >= this.#crashAt[agent]! || at > this.#freeMs[agent]!;
    const beginMs = free ? at : this.#freeMs[agent]!;
    const beginBits = free ? 0 : this.#freeBits[agent]!;
    const end = beginBits + copies * bits;
    const crashAt = this.#faults.nextCrash(agent, at);
    this.#freeMs[agent] = beginMs + whole(end, rate);
    this.#freeBits[agent] = end % rate;
    this.#crashAt[agent] = crashAt;
    return { at, beginMs, beginBits, bits, rate, crashAt };
  }
}

/** Creates a scenario's uplinks; null if no uplink is limited. */
export function createUplinks(scenario: Scenario, faults: Faults): Uplinks | null {
  const { links, agents, population } = scenario;
  const rates = new Uint32Array(population);
  let first = 0;
  for (const [index, size] of groupSizes(scenario).entries()) {
    rates.fill(agents[index]!.uplink_kbps ?? links.uplink_kbps ?? 0, first, first + size);
    first += size;
  }
  return rates.some((rate) => rate > 0) ? new Uplinks(rates, faults) : null;
}
