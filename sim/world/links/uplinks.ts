/**
 * The uplinks of agents: what one sends leaves one after the other, at so many bits a millisecond.
 * All of it is whole numbers, so nothing is rounded but the instant at which a message has left.
 */
import { groupSizes } from '../../scenario/population.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Faults } from './faults.js';

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
export function leftAt(departure: Departure, copy: number): number {
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
export function uplinksOf(scenario: Scenario, faults: Faults): Uplinks | null {
  const { links, agents, population } = scenario;
  const rates = new Uint32Array(population);
  let first = 0;
  for (const [index, size] of groupSizes(scenario).entries()) {
    rates.fill(agents[index]!.uplink_kbps ?? links.uplink_kbps ?? 0, first, first + size);
    first += size;
  }
  return rates.some((rate) => rate > 0) ? new Uplinks(rates, faults) : null;
}
