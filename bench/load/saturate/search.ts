/** Probes of a server, one after the other, and what was seen of it so far. */
import { setImmediate } from 'node:timers/promises';
import { rawSpeed } from '../../raw/raw.js';
import { LoadError } from '../error.js';
import type { LoadOptions } from '../options.js';
import type { LoadResult, Probe } from '../result.js';
import { type LoadHooks, runLoad } from '../run/run.js';
import { type Objective, probeOf } from './probe.js';

export interface SaturateHooks extends LoadHooks {
  /** A probe begins. */
  onProbing?(rate: number, bracket: number): void;
  onProbe?(probe: Probe, bracket: number): void;
}

/** Probes of a rate at most, and how often it fails on an undisturbed machine to have failed. */
const MOST_PROBES = 6;
const FAILURES = 2;
/** Of the highest R: below it something else is at work on the machine. */
const UNDISTURBED = 0.95;
/** How often R is measured, half a second each, until a probe begins all the same. */
const MOST_WAITS = 10;

export class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  /** R, as it was last measured. */
  #r: number | null = null;
  #fastest = 0;
  #held: LoadResult | null = null;
  #last: LoadResult | null = null;
  /** Why no further probe makes sense. */
  #end: string | null = null;

  constructor(load: LoadOptions, objectives: readonly Objective[], hooks: SaturateHooks) {
    this.#load = load;
    this.#objectives = objectives;
    this.#hooks = hooks;
    this.#measureSpeed();
  }

  takeProbes(): Probe[] {
    const probes = this.#probes;
    this.#probes = [];
    return probes;
  }

  /**
   * Whether a rate holds; null when the search is over. Other work on the machine only ever makes a
   * server slower: one probe that holds shows that it can, and a failure counts when the machine
   * was undisturbed before and after.
   */
  async holdsAt(rate: number, bracket: number): Promise<boolean | null> {
    let failures = 0;
    for (let probes = 0; probes < MOST_PROBES && failures < FAILURES; probes += 1) {
      await this.#undisturbed();
      this.#hooks.onProbing?.(rate, bracket);
      const probe = await this.#probe(rate);
      if (!probe) return null;
      this.#hooks.onProbe?.(probe, bracket);
      if (probe.holds) return true;
      if (!this.#isLow(probe.r_before) && !this.#isLow(probe.r_after)) failures += 1;
    }
    return false;
  }

  /** Waits until other work on the machine is over, for a while. */
  async #undisturbed(): Promise<void> {
    for (let waits = 0; waits < MOST_WAITS && this.#isLow(this.#r); waits += 1) {
      if (this.#hooks.signal?.aborted) return;
      await setImmediate();
      this.#measureSpeed();
    }
  }

  #isLow(r: number | null): boolean {
    return r !== null && r < UNDISTURBED * this.#fastest;
  }

  #measureSpeed(): void {
    this.#r = rawSpeed();
    this.#fastest = Math.max(this.#fastest, this.#r ?? 0);
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
    this.#measureSpeed();
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
