/** Active faults in a run, looked up for every message and call. */
import { selectAgents } from '../scenario/population.js';
import type { Fault, FaultOf } from '../scenario/schema/network.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Fault with its agents and its period in world time. `end` is exclusive. */
type Strike<K extends Fault['kind'] = Fault['kind']> = FaultOf<K> & {
  start: number;
  end: number;
  members: readonly number[];
  hits: Uint8Array;
};

type Down = Strike<'crash'> | Strike<'pause'>;

export class Faults {
  readonly strikes: readonly Strike[];
  readonly #cuts: Strike<'partition'>[];
  readonly #slow: Strike<'slow_link'>[];
  readonly #skewed: Strike<'clock_skew'>[];
  readonly #crashes: Strike<'crash'>[];
  readonly #downs: Down[];
  /** Time from which each agent is silenced. Null if no agent is silenced. */
  #silentFrom: Float64Array | null = null;
  readonly #population: number;

  constructor(scenario: Scenario, seed: string, startMs: number) {
    this.strikes = scenario.faults.map((fault, index) => {
      const members = selectAgents(scenario, fault.whom, index, seed);
      const hits = new Uint8Array(scenario.population);
      for (const member of members) hits[member] = 1;
      const start = startMs + fault.start_ms;
      return { ...fault, start, end: start + fault.length_ms, members, hits };
    });
    this.#population = scenario.population;
    this.#cuts = this.of('partition');
    this.#slow = this.of('slow_link');
    this.#skewed = this.of('clock_skew');
    this.#crashes = this.of('crash');
    this.#downs = [...this.#crashes, ...this.of('pause')];
  }

  of<K extends Fault['kind']>(kind: K): Strike<K>[] {
    return this.strikes.filter((strike): strike is Strike<K> => strike.kind === kind);
  }

  /** End of the last fault, or null. */
  get overAt(): number | null {
    return this.strikes.length === 0 ? null : Math.max(...this.strikes.map(({ end }) => end));
  }

  get sparesLinks(): boolean {
    return this.#silentFrom === null && this.#cuts.length === 0 && this.#slow.length === 0;
  }

  /** Loses all messages that the agent sends from `at` on. */
  silence(agent: number, at: number): void {
    this.#silentFrom ??= new Float64Array(this.#population).fill(Number.POSITIVE_INFINITY);
    this.#silentFrom[agent] = Math.min(this.#silentFrom[agent]!, at);
  }

  /** Returns true if any partition is active or any agent is silenced. */
  partitioned(at: number): boolean {
    if (this.#silentFrom !== null) return true;
    for (const cut of this.#cuts) if (during(cut, at)) return true;
    return false;
  }

  /** Returns true if a partition cuts the message off or its sender is silenced. */
  cuts(from: number, to: number, at: number): boolean {
    if (this.#silentFrom !== null && at >= this.#silentFrom[from]!) return true;
    for (const cut of this.#cuts) {
      if (!during(cut, at)) continue;
      const inside = cut.hits[from] === 1;
      if (inside === (cut.hits[to] === 1)) continue;
      if (cut.direction === 'both' || (cut.direction === 'out') === inside) return true;
    }
    return false;
  }

  /** Returns the time at which the feed reaches the agent again; `at` if it is not cut off. */
  healedAt(agent: number, at: number): number {
    let healed = at;
    for (const cut of this.#cuts) {
      const hears = cut.hits[agent] === 0 || cut.direction === 'out';
      if (!hears && during(cut, healed)) healed = cut.end;
    }
    // A different partition may have started in the meantime.
    return healed === at ? at : this.healedAt(agent, healed);
  }

  /** Returns the latency factor for slow links. */
  slowness(from: number, to: number, at: number): number {
    let factor = 1;
    for (const slow of this.#slow) {
      const hit = slow.hits[from] === 1 || slow.hits[to] === 1;
      if (hit && during(slow, at)) factor = Math.max(factor, slow.factor);
    }
    return factor;
  }

  skewMs(agent: number, at: number): number {
    let skew = 0;
    for (const one of this.#skewed)
      if (one.hits[agent] === 1 && during(one, at)) skew += one.skew_ms;
    return skew;
  }

  /** Returns true if the agent crashed within the interval. A crash discards planned calls. */
  crashedBetween(agent: number, planned: number, at: number): boolean {
    if (this.#crashes.length === 0) return false;
    return this.#crashes.some(
      ({ hits, start }) => hits[agent] === 1 && planned < start && start <= at,
    );
  }

  /** Returns the time of the agent's next crash, or infinity. */
  nextCrash(agent: number, after: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { hits, start } of this.#crashes) {
      if (hits[agent] === 1 && start > after) next = Math.min(next, start);
    }
    return next;
  }

  down(agent: number, at: number): Down | null {
    if (this.#downs.length === 0) return null;
    return this.#downs.find((one) => one.hits[agent] === 1 && during(one, at)) ?? null;
  }
}

function during({ start, end }: { start: number; end: number }, at: number): boolean {
  return start <= at && at < end;
}
