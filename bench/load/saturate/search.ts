/** Probes of a server, one after the other, and what was seen of it so far. */
import { rawSpeed } from '../../raw.js';
import { LoadError } from '../error.js';
import type { LoadOptions } from '../options.js';
import type { LoadResult, Probe } from '../result.js';
import { type LoadHooks, runLoad } from '../run/run.js';
import { type Objective, probeOf } from './probe.js';

export interface SaturateHooks extends LoadHooks {
  onProbe?(probe: Probe, bracket: number): void;
}

/** Probes that agree decide a rate: two of at most three, so that no single moment does. */
const AGREEING = 2;

export class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  /** R, as it was last measured. */
  #r = rawSpeed();
  #held: LoadResult | null = null;
  #last: LoadResult | null = null;
  /** Why no further probe makes sense. */
  #end: string | null = null;

  constructor(load: LoadOptions, objectives: readonly Objective[], hooks: SaturateHooks) {
    this.#load = load;
    this.#objectives = objectives;
    this.#hooks = hooks;
  }

  takeProbes(): Probe[] {
    const probes = this.#probes;
    this.#probes = [];
    return probes;
  }

  /** Whether a rate holds, as most of its probes say; null when the search is over. */
  async holdsAt(rate: number, bracket: number): Promise<boolean | null> {
    const said = { held: 0, failed: 0 };
    while (said.held < AGREEING && said.failed < AGREEING) {
      const probe = await this.#probe(rate);
      if (!probe) return null;
      this.#hooks.onProbe?.(probe, bracket);
      said[probe.holds ? 'held' : 'failed'] += 1;
    }
    return said.held === AGREEING;
  }

  /** Why it ended early, or null. */
  get end(): string | null {
    return this.#end;
  }

  /** Of the last probe that held, or of the last. @throws {LoadError} when there was none. */
  result(): LoadResult {
    const base = this.#held ?? this.#last;
    if (!base) throw new LoadError(`nothing was measured: ${this.#end}`);
    return { ...base, ended: this.#end === null ? 'complete' : (this.#last?.ended ?? 'failed') };
  }

  async #probe(rate: number): Promise<Probe | null> {
    const before = this.#r;
    const result = await this.#run(rate, before);
    if (!result) return null;
    this.#last = result;
    if (result.ended !== 'complete') {
      this.#end = result.reasons[0] ?? result.ended;
      return null;
    }
    this.#r = rawSpeed();
    const r = { r_before: before, r_after: this.#r };
    const probe = probeOf(result, { rate, objectives: this.#objectives, r });
    if (probe.holds) this.#held = result;
    this.#probes.push(probe);
    return probe;
  }

  /** With the agents of the first probe: more of them would make it another network. */
  async #run(rate: number, r: number | null): Promise<LoadResult | null> {
    try {
      return await runLoad({ ...this.#load, rate }, { ...this.#hooks, r });
    } catch (error) {
      if (!(error instanceof LoadError) || !this.#last) throw error;
      this.#end = error.message;
      this.#last = { ...this.#last, ended: this.#hooks.signal?.aborted ? 'interrupted' : 'failed' };
      return null;
    }
  }
}
