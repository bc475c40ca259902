/**
 * Finds a server's highest sustainable rate. Each search narrows a bracket between a rate that
 * holds and a rate that fails. Searches are independent of each other, and R is measured with every
 * probe.
 */
import { setImmediate } from 'node:timers/promises';
import { Failure } from '../../engine/protocol/messages.js';
import { rawSpeed } from '../raw/raw.js';
import { findFigure } from './figures.js';
import { loadError, note } from './messages.js';
import type { LoadOptions } from './options.js';
import type { Bracket, LoadResult, Probe } from './result.js';
import { type LoadHooks, runLoad } from './run.js';
import { worsening } from './verdict.js';

interface SaturateOptions {
  /** Open-loop options. The search starts at this rate. */
  load: LoadOptions & { rate: number };
  objectives: readonly Objective[];
  repeat: number;
}

/** Factor between the first rates in a search. */
const DOUBLE = 2;
/** Change in R above which the machine's speed counts as changed. */
const MOST_MOVED = 0.1;

/** @throws {Failure} if the first run cannot start. */
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
  const { verdict, reasons } = judgeSearch(brackets, search.end, result.ended);
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

/**
 * Finds the failing rates that the generator or the workload, and not the server, caused. Returns
 * the verdict of the last one if all failing rates are such, and otherwise only the reasons.
 */
function boundOf(brackets: readonly Bracket[]): {
  verdict: LoadResult['verdict'] | null;
  reasons: string[];
} {
  const failed = brackets.flatMap(({ fails, probes }) =>
    fails === null ? [] : [probes.filter(({ rate }) => rate === fails)],
  );
  const bound = failed
    .filter((probes) => probes.every(({ verdict }) => Object.hasOwn(limits, verdict)))
    .flatMap((probes) => probes.slice(-1));
  const reasons = Object.entries(limits).flatMap(([name, key]) => {
    const count = bound.filter(({ verdict }) => verdict === name).length;
    return count > 0 ? [note(key, { count, all: brackets.length }).text] : [];
  });
  const last = bound.at(-1);
  if (!last || bound.length < failed.length) return { verdict: null, reasons };
  // The probe's reason names the option that raises the workload's limit.
  const why = last.verdict === 'WORKLOAD_BOUND' ? last.reasons : [];
  return { verdict: last.verdict, reasons: [...reasons, ...why] };
}

const limits = { CLIENT_BOUND: 'GENERATOR_LIMIT', WORKLOAD_BOUND: 'WORKLOAD_BRACKETS' } as const;

export function judgeSearch(
  brackets: readonly Bracket[],
  end: string | null,
  ended: LoadResult['ended'],
): Pick<LoadResult, 'verdict' | 'reasons'> {
  if (end !== null) {
    const verdict = ended === 'interrupted' ? 'INCOMPLETE' : 'INVALID';
    return { verdict, reasons: [note('SEARCH_ENDED', { reason: end }).text] };
  }
  if (brackets.some(({ holds }) => holds === 0)) {
    return { verdict: 'INVALID', reasons: [note('NO_RATE_HELD', {}).text] };
  }
  const { verdict, reasons: limited } = boundOf(brackets);
  if (verdict !== null) return { verdict, reasons: limited };
  const count = brackets.filter(({ unstable }) => unstable).length;
  const doubts = [
    ...(count > 0 ? [note('SPEED_CHANGED', { count, all: brackets.length }).text] : []),
    ...(overlap(brackets) ? [] : [note('NO_OVERLAP', {}).text]),
  ];
  return { verdict: doubts.length > 0 ? 'UNSTABLE' : 'VALID', reasons: [...doubts, ...limited] };
}

export interface SaturateHooks extends LoadHooks {
  onProbing?(rate: number, bracket: number): void;
  onProbe?(probe: Probe, bracket: number): void;
}

/**
 * Maximum number of probes per rate, and the number of failures on an undisturbed machine that make
 * a rate fail.
 */
const MOST_PROBES = 6;
const FAILURES = 2;
/** Fraction of the highest R below which other programs are assumed to use the machine. */
const UNDISTURBED = 0.95;
/**
 * Maximum number of R measurements, half a second each, before a probe starts on a disturbed
 * machine anyway.
 */
const MOST_WAITS = 10;

class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  #r: number | null = null;
  #fastest = 0;
  #held: LoadResult | null = null;
  #last: LoadResult | null = null;
  /** Reason to stop the search, or null. */
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
   * Returns true if a rate holds; null when the search is over. Other programs can only make a
   * server slower, so one probe that holds proves the rate, and a failure counts only if the
   * machine was undisturbed before and after.
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

  /** Waits until the machine is undisturbed, up to a limit. */
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

  get end(): string | null {
    return this.#end;
  }

  /**
   * Returns the result of the last probe that held, or else of the last probe. @throws {Failure}
   * if there was no probe.
   */
  result(): LoadResult {
    const base = this.#held ?? this.#last;
    if (!base) throw loadError('NOTHING_MEASURED', { reason: this.#end ?? 'no probe ran' });
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

  /**
   * Runs with the same agents at every rate, because more agents would make a different network.
   */
  async #run(rate: number, r: number | null): Promise<LoadResult | null> {
    try {
      return await runLoad({ ...this.#load, rate }, { ...this.#hooks, r });
    } catch (error) {
      if (!(error instanceof Failure) || error.source !== 'server' || !this.#last) throw error;
      this.#end = error.message;
      this.#last = { ...this.#last, ended: this.#hooks.signal?.aborted ? 'interrupted' : 'failed' };
      return null;
    }
  }
}

/** A requirement in addition to the rate. */
interface Objective {
  text: string;
  /** Returns the violation, or null. */
  missed(result: LoadResult): string | null;
}

/** R before and after a run. */
type Speeds = Pick<Probe, 'r_before' | 'r_after'>;

const LEAST_SHARE = 0.99;
const p99 = findFigure('p99')!;

export function toProbe(
  result: LoadResult,
  { rate, objectives, r }: { rate: number; objectives: readonly Objective[]; r: Speeds },
): Probe {
  const { arrivals, verdict, reasons } = result;
  const share = arrivals.of_target ?? 0;
  // If the queue grows or the server slows down, the rate would fail in a longer run.
  const trend = worsening(result);
  const missed = [
    ...objectives.flatMap((objective) => objective.missed(result) ?? []),
    ...(trend === null ? [] : [trend.text]),
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
  /** Highest rate that held; 0 if no rate held. */
  holds: number;
  /** Lowest failing rate above `holds`; null if no rate failed. */
  fails: number | null;
}

interface Start {
  rate: number;
  /** Factor from the first rate to the second. Each further step squares the factor, up to 2. */
  step: number;
}

/**
 * Ratio at which a bracket is narrow enough: the failing rate is at most 10 % above the holding
 * rate.
 */
export const RESOLUTION = 1.1;
const DOUBLING = 2;
const LEAST_RATE = 1;
const MOST_RATE = 1_000_000;

/** Finds a bracket. @param holdsAt probes a rate; null ends the search. */
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

/** Starts the next search near the last bracket. */
export function startNear({ holds, fails }: Rates): Start {
  return { rate: holds > 0 ? holds : (fails ?? LEAST_RATE), step: RESOLUTION };
}

/** Returns true if all brackets have a rate in common. */
export function overlap(brackets: readonly Rates[]): boolean {
  const highest = Math.max(...brackets.map(({ holds }) => holds));
  const lowest = Math.min(...brackets.map(({ fails }) => fails ?? Number.POSITIVE_INFINITY));
  return highest <= lowest;
}
