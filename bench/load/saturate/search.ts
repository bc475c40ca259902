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

const MOST_ATTEMPTS = 4;
/** R moves by less than a tenth on a machine that is as fast as before. */
const UNMOVED = 0.9;

export class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  #count = 0;
  /** R, as it was last measured. */
  #r = rawSpeed();
  #fastest = 0;
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

  /**
   * What fails is tried once more, and further while it may have been the machine: R was lower than
   * it had been. Null when the search is over.
   */
  async holdsAt(rate: number, bracket: number): Promise<boolean | null> {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
      const probe = await this.#probe(rate);
      if (!probe) return null;
      this.#hooks.onProbe?.(probe, bracket);
      if (probe.holds) return true;
      if (attempt >= 2 && !this.#slowed(probe)) return false;
    }
    return false;
  }

  #slowed({ r_before, r_after }: Probe): boolean {
    return Math.min(r_before ?? 0, r_after ?? 0) < UNMOVED * this.#fastest;
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
    this.#fastest = Math.max(this.#fastest, before ?? 0, this.#r ?? 0);
    const r = { r_before: before, r_after: this.#r };
    const probe = probeOf(result, { rate, objectives: this.#objectives, r });
    if (probe.holds) this.#held = result;
    this.#probes.push(probe);
    return probe;
  }

  /** Each probe has agents of its own: no message is sent twice. */
  async #run(rate: number, r: number | null): Promise<LoadResult | null> {
    this.#count += 1;
    const seed = `${this.#load.seed}/${this.#count}`;
    try {
      return await runLoad({ ...this.#load, rate, seed }, { ...this.#hooks, r });
    } catch (error) {
      if (!(error instanceof LoadError) || !this.#last) throw error;
      this.#end = error.message;
      this.#last = { ...this.#last, ended: this.#hooks.signal?.aborted ? 'interrupted' : 'failed' };
      return null;
    }
  }
}
