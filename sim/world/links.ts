/**
 * Links and uplinks: when a message arrives, or whether it is lost. What a link does to a message
 * is a pure hash of the message's name and its receiver, so that nothing is kept for a message
 * under way. By an uplink an agent's messages leave one after the other.
 */
import { mix } from '../rng.js';
import type { ScenarioData } from '../scenario/files.js';
import { groupSizes } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Faults } from './faults.js';
import { createLatencies, type Latencies, type LinkSource } from './latency.js';

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

interface OwnLink {
  from: number;
  /** Of 2^32; left out, as it was before. */
  loss?: number;
  /** Times the latency; left out, as it was before. */
  factor?: number;
}

const likeOthers: Omit<OwnLink, 'from'> = {};

/**
 * Links between two agents that an intervention makes different from all others, from an instant
 * on; in both directions.
 */
class OwnLinks {
  readonly #links = new Map<string, OwnLink[]>();

  set(a: number, b: number, link: OwnLink): void {
    const key = keyOf(a, b);
    const before = this.#links.get(key) ?? [];
    this.#links.set(key, [...before, { ...before.at(-1), ...link }]);
  }

  /** What holds for a message that is sent at an instant. */
  at(a: number, b: number, at: number): Omit<OwnLink, 'from'> {
    return this.#links.get(keyOf(a, b))?.findLast(({ from }) => from <= at) ?? likeOthers;
  }
}

const keyOf = (a: number, b: number) => (a < b ? `${a} ${b}` : `${b} ${a}`);

/*
 * The uplinks of agents: what one sends leaves one after the other, at so many bits a millisecond.
 * All of it is whole numbers, so nothing is rounded but the instant at which a message has left.
 */

/** A message on its way out, one copy behind the other. */
export interface Departure {
  /** When it was sent. */
  readonly at: number;
  /** When the first copy begins to leave: a whole millisecond, and so many bits into it. */
  readonly beginMs: number;
  readonly beginBits: number;
  /** Of one copy. */
  readonly bits: number;
  /** Bits a millisecond. */
  readonly rate: number;
  /** When its sender crashes next, and loses what has not left; infinite when it never does. */
  readonly crashAt: number;
}

/** When a copy, counted from 0, has left: the millisecond rounded up; infinite if it never has. */
export function computeDeparture(departure: Departure, copy: number): number {
  const { beginMs, beginBits, bits, rate, crashAt } = departure;
  const end = beginBits + (copy + 1) * bits;
  const left = beginMs + whole(end, rate) + (end % rate > 0 ? 1 : 0);
  return left > crashAt ? Number.POSITIVE_INFINITY : left;
}

/** How long a copy waits before it begins to leave, milliseconds. */
export function waitMs({ at, beginMs, beginBits, bits, rate }: Departure, copy: number): number {
  return beginMs - at + (beginBits + copy * bits) / rate;
}

/** What is left over is taken away first: a quotient alone could be rounded up. */
const whole = (part: number, by: number): number => (part - (part % by)) / by;

export class Uplinks {
  /** By agent: bits a millisecond; 0 where there is no limit. */
  readonly #rates: Uint32Array;
  readonly #faults: Faults;
  /** By agent: when its uplink is free, as in a departure; and its next crash, as last seen. */
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

  /** Queues a message of an agent with a limit behind those that it has sent before. */
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

/** The uplinks of a scenario; null where none has a limit. */
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
