/**
 * The highest rate that a server takes: brackets between a rate that holds and one that fails, each
 * sought anew, with the machine's own speed beside every probe.
 */

import { setImmediate } from 'node:timers/promises';
import { rawSpeed } from '../raw/raw.js';
import { findFigure } from './figures.js';
import type { LoadOptions } from './options.js';
import type { Bracket, LoadResult, Probe } from './result.js';
import { type LoadHooks, runLoad } from './run.js';
import { LoadError } from './server.js';
import { worsening } from './verdict.js';

interface SaturateOptions {
  /** In the open loop; the search begins at its rate. */
  load: LoadOptions & { rate: number };
  objectives: readonly Objective[];
  /** Brackets that are sought. */
  repeat: number;
}

/** The first steps of a search double the rate. */
const DOUBLE = 2;
/** Of R, beyond which the machine is another one. */
const MOST_MOVED = 0.1;

/** @throws {LoadError} when it cannot begin, as a single run. */
export async function saturate(
  { load, objectives, repeat }: SaturateOptions,
  hooks: SaturateHooks = {},
): Promise<LoadResult> {
  const search = new Search(load, objectives, hooks);
  const brackets: Bracket[] = [];
  let start: Start = { rate: load.rate, step: DOUBLE };
  while (brackets.length < repeat && search.end === null) {
    const rates = await findBracket(start, (rate) => search.holdsAt(rate, brackets.length));
    const probes = search.takeProbes();
    if (probes.length > 0) brackets.push({ ...rates, unstable: speedMoved(probes), probes });
    start = startNear(rates);
  }
  const result = search.result();
  const { verdict, reasons } = verdictOf(brackets, search.end);
  const slo = objectives.map(({ text }) => text);
  return {
    ...result,
    verdict,
    reasons: [...reasons, ...result.reasons],
    saturation: { slo, brackets, overlap: overlap(brackets) },
  };
}

function speedMoved(probes: readonly Probe[]): boolean {
  const speeds = probes.flatMap(({ r_before, r_after }) => [r_before ?? [], r_after ?? []].flat());
  return Math.max(...speeds) > (1 + MOST_MOVED) * Math.min(...speeds);
}

/** Judges brackets whose failing rate says nothing of the server: all its probes were bound. */
function boundOf(brackets: readonly Bracket[]): Pick<LoadResult, 'verdict' | 'reasons'> | null {
  const last = brackets.flatMap(({ fails, probes }): Probe[] => {
    const failed = probes.filter(({ rate }) => rate === fails);
    const isBound = failed.every(({ verdict }) => Object.hasOwn(limitNames, verdict));
    return isBound ? failed.slice(-1) : [];
  });
  const { verdict, reasons } = last.at(-1) ?? {};
  if (verdict === undefined) return null;
  const limit = `${limitNames[verdict as keyof typeof limitNames]} was the limit`;
  const where = `${limit} in ${last.length} of ${brackets.length} brackets`;
  // The probe's reason names the option that raises the limit of a workload.
  const why = verdict === 'WORKLOAD_BOUND' ? (reasons ?? []) : [];
  return { verdict, reasons: [where, ...why] };
}

const limitNames = { CLIENT_BOUND: 'the generator', WORKLOAD_BOUND: 'the workload' } as const;

/** What the brackets are worth together. */
function verdictOf(
  brackets: readonly Bracket[],
  end: string | null,
): Pick<LoadResult, 'verdict' | 'reasons'> {
  if (end !== null) return { verdict: 'INVALID', reasons: [`the search ended early: ${end}`] };
  if (brackets.some(({ holds }) => holds === 0)) {
    return { verdict: 'INVALID', reasons: ['no rate held'] };
  }
  const bound = boundOf(brackets);
  if (bound) return bound;
  const moved = brackets.filter(({ unstable }) => unstable).length;
  const reasons = [
    ...(moved > 0 ? [`R moved by more than 10 % in ${moved} of ${brackets.length} brackets`] : []),
    ...(overlap(brackets) ? [] : ['the brackets share no rate']),
  ];
  return { verdict: reasons.length > 0 ? 'UNSTABLE' : 'VALID', reasons };
}

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

class Search {
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
    const probe = toProbe(result, { rate, objectives: this.#objectives, r });
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

/** What must hold besides the rate. */
interface Objective {
  text: string;
  /** How a result misses it, or null. */
  missed(result: LoadResult): string | null;
}

/** R around a run. */
type Speeds = Pick<Probe, 'r_before' | 'r_after'>;

const LEAST_SHARE = 0.99;
const p99 = findFigure('p99')!;

export function toProbe(
  result: LoadResult,
  { rate, objectives, r }: { rate: number; objectives: readonly Objective[]; r: Speeds },
): Probe {
  const { arrivals, verdict, reasons } = result;
  const share = arrivals.of_target ?? 0;
  // A line that grows all along, or a server that tires, has only not failed yet.
  const tiring = worsening(result);
  const missed = [
    ...objectives.flatMap((objective) => objective.missed(result) ?? []),
    ...(tiring === null ? [] : [tiring]),
  ];
  const kept = share >= LEAST_SHARE && verdict !== 'INVALID';
  return {
    rate,
    accepted_per_s: rate * share,
    p99: p99.of(result),
    holds: kept && missed.length === 0,
    verdict,
    reasons: [...missed, ...reasons],
    ...r,
  };
}

interface Rates {
  /** The highest rate that held; 0 when none did. */
  holds: number;
  /** The lowest above it that failed; null when none did. */
  fails: number | null;
}

interface Start {
  rate: number;
  /** How far the second step goes; each further one goes twice as far, up to doubling. */
  step: number;
}

/** A bracket is found when what fails is at most a tenth above what holds. */
export const RESOLUTION = 1.1;
const DOUBLING = 2;
const LEAST_RATE = 1;
const MOST_RATE = 1_000_000;

/**
 * @param holdsAt asks the server; null ends the search with what is known by then.
 */
export async function findBracket(
  { rate: first, step: firstStep }: Start,
  holdsAt: (rate: number) => Promise<boolean | null>,
): Promise<Rates> {
  let holds = 0;
  let fails: number | null = null;
  let step = firstStep;
  let rate = first;
  for (;;) {
    const held = await holdsAt(rate);
    if (held === null) return { holds, fails };
    if (held) holds = rate;
    else fails = rate;
    if (fails !== null && fails <= Math.max(holds * RESOLUTION, LEAST_RATE)) break;
    if (holds >= MOST_RATE) break;
    if (fails === null) rate = Math.min(MOST_RATE, holds * step);
    else if (holds === 0) rate = Math.max(LEAST_RATE, fails / step);
    else rate = Math.sqrt(holds * fails);
    step = Math.min(DOUBLING, step * step);
  }
  return { holds, fails };
}

/** The next bracket is sought around the last one. */
export function startNear({ holds, fails }: Rates): Start {
  return { rate: holds > 0 ? holds : (fails ?? LEAST_RATE), step: RESOLUTION };
}

/** Whether there is a rate that all of them have between what holds and what fails. */
export function overlap(brackets: readonly Rates[]): boolean {
  const highest = Math.max(...brackets.map(({ holds }) => holds));
  const lowest = Math.min(...brackets.map(({ fails }) => fails ?? Number.POSITIVE_INFINITY));
  return highest <= lowest;
}
