/**
 * Finds a server's highest sustainable rate. A search narrows a bracket of rates until the highest
 * one is outside with a chance of at most 5 %. R is measured with every probe.
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

const DOUBLE = 2;
/** Probes of a repetition on an undisturbed machine, which starts near the last bracket. */
const PROBES_OF_REPETITION = 3;
/** Change in R above which the machine's speed counts as changed. */
const MOST_MOVED = 0.1;

export async function saturate(
  { load, objectives, repeat }: SaturateOptions,
  hooks: SaturateHooks = {},
): Promise<LoadResult> {
  const search = new Search(load, objectives, hooks);
  const brackets: Bracket[] = [];
  let start: Start = { rate: load.rate, step: DOUBLE };
  while (brackets.length < repeat && search.end === null) {
    const later = PROBES_OF_REPETITION * (repeat - brackets.length - 1);
    const rates = await findBracket(start, (rate, left) =>
      search.probeAt(rate, brackets.length, left + later),
    );
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
 * Finds failing rates that generator or workload caused. The verdict is null unless all are such.
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
  /** @param leftMs expected time until the end of the search */
  onProbe?(probe: Probe, bracket: number, leftMs: number): void;
}

/** Fraction of the highest R below which other programs are assumed to use the machine. */
const UNDISTURBED = 0.95;
/** Measurements of R, half a second each, before a probe starts on a disturbed machine. */
const MOST_WAITS = 10;

class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  #count = 0;
  #spentMs = 0;
  #r: number | null = null;
  #fastest = 0;
  #held: LoadResult | null = null;
  #last: LoadResult | null = null;
  /** Reason to stop the search, or null. */
  end: string | null = null;

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

  /** Probes a rate; null when the search is over. @param left probes after it, as expected */
  async probeAt(
    rate: number,
    bracket: number,
    left: number,
  ): Promise<{ holds: boolean; disturbed: boolean } | null> {
    await this.#undisturbed();
    this.#hooks.onProbing?.(rate, bracket);
    const beginMs = performance.now();
    const probe = await this.#probe(rate);
    if (!probe) return null;
    this.#spentMs += performance.now() - beginMs;
    this.#count += 1;
    this.#hooks.onProbe?.(probe, bracket, left * (this.#spentMs / this.#count));
    const disturbed = this.#isLow(probe.r_before) || this.#isLow(probe.r_after);
    return { holds: probe.holds, disturbed };
  }

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

  /** Returns the result of the last probe that held, or else of the last one. @throws {Failure} */
  result(): LoadResult {
    const base = this.#held ?? this.#last;
    if (!base) throw loadError('NOTHING_MEASURED', { reason: this.end ?? 'no probe ran' });
    return { ...base, ended: this.end === null ? 'complete' : (this.#last?.ended ?? 'failed') };
  }

  async #probe(rate: number): Promise<Probe | null> {
    const before = this.#r;
    const result = await this.#run(rate, before);
    if (!result) return null;
    this.#last = result;
    if (result.ended !== 'complete') {
      this.end = result.reasons[0] ?? result.ended;
      return null;
    }
    this.#measureSpeed();
    const r = { r_before: before, r_after: this.#r };
    const probe = toProbe(result, { rate, objectives: this.#objectives, r });
    if (probe.holds) this.#held = result;
    this.#probes.push(probe);
    return probe;
  }

  /** Runs with the same agents at every rate, because more would be a different network. */
  async #run(rate: number, r: number | null): Promise<LoadResult | null> {
    try {
      return await runLoad({ ...this.#load, rate }, { ...this.#hooks, r });
    } catch (error) {
      if (!(error instanceof Failure) || error.source !== 'server' || !this.#last) throw error;
      this.end = error.message;
      this.#last = { ...this.#last, ended: this.#hooks.signal?.aborted ? 'interrupted' : 'failed' };
      return null;
    }
  }
}

interface Objective {
  text: string;
  missed(result: LoadResult): string | null;
}

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
  const holds = kept && missed.length === 0;
  return {
    ...{ rate, accepted_per_s: rate * share, p99: p99.of(result), holds, verdict, ...r },
    reasons: [...missed, ...reasons],
  };
}

interface Rates {
  /** Highest rate that held; 0 if no rate held. */
  holds: number;
  /** Lowest failing rate above `holds`; null if no rate failed. */
  fails: number | null;
}

/** A bracket with the chance that the highest sustainable rate is outside of it. */
export interface Estimate extends Rates {
  error: number;
}

export interface Start {
  rate: number;
  /** Factor from the first rate to the second. Each further step squares the factor, up to 2. */
  step: number;
  /** Factor by which the highest rate may differ from `rate`, if an earlier bracket is known. */
  spread?: number;
}

/** Ratio of the failing rate to the holding rate at which a bracket is narrow enough. */
export const RESOLUTION = 1.1;
export const MOST_ERROR = 0.05;
const DOUBLING = 2;
const LEAST_RATE = 1;
const MOST_RATE = 1_000_000;
/** Probes of a bracket, after which it ends with the error that is left. */
const MOST_PROBES = 40;

/**
 * Chances that a probe holds above the highest rate, or fails below it, as on a disturbed machine.
 */
const MISLEADS = { holds: 0.01, fails: 0.05, disturbed: 0.4 } as const;

/**
 * Decline of the chances with the distance, so that one disturbed failure does not lead upwards.
 */
const FAR = 0.7;
/** Distance of the rates on which the chances are computed. */
const GRID = 0.005;
/** The highest rate may lie beyond the rates that are probed. */
const BEYOND = 2;
const points = Math.ceil(Math.log((BEYOND ** 2 * MOST_RATE) / LEAST_RATE) / GRID) + 1;
const rateAt = (index: number) => (LEAST_RATE / BEYOND) * Math.exp(index * GRID);

/**
 * The chances of all rates to be the highest sustainable one, after Horstein ("Sequential
 * transmission using noiseless feedback", 1963): each probe multiplies them by its likelihood, and
 * the next probe divides what is left.
 */
class Bisection {
  readonly #chances: Float64Array;
  readonly #start: Start;
  readonly #rates = new Set<number>();
  #count = 0;

  constructor(start: Start) {
    const { rate, spread } = start;
    this.#start = start;
    this.#chances = Float64Array.from({ length: points }, (_, index) => {
      const distance = Math.abs(Math.log(rateAt(index) / rate));
      if (spread === undefined) return Math.exp(-FAR * distance);
      return distance <= Math.log(spread) ? 1 : 1e-3;
    });
  }

  add(rate: number, holds: boolean, isDisturbed: boolean): void {
    const { holds: holdsAbove, fails, disturbed } = MISLEADS;
    const failsBelow = isDisturbed ? disturbed : fails;
    this.#count += 1;
    this.#rates.add(rate);
    let sum = 0;
    for (const [index, chance] of this.#chances.entries()) {
      const isBelow = rate <= rateAt(index);
      const failing = isBelow ? failsBelow : 1 - holdsAbove;
      const next = chance * (holds ? 1 - failing : failing);
      this.#chances[index] = next;
      sum += next;
    }
    for (const [index, chance] of this.#chances.entries()) this.#chances[index] = chance / sum;
  }

  /** Returns the probed rates around the median. */
  get estimate(): Estimate {
    const sorted = [...this.#rates].sort((a, b) => a - b);
    const median = this.#median();
    const holds = sorted.filter((rate) => rate <= median).at(-1) ?? 0;
    const fails = sorted.find((rate) => rate > median) ?? null;
    return { holds, fails, error: 1 - this.#between(holds, fails ?? Number.POSITIVE_INFINITY) };
  }

  /** Returns the rate of the next probe; null if the bracket is narrow and certain enough. */
  next(): number | null {
    const { rate, step } = this.#start;
    if (this.#count === 0) return rate;
    const { holds, fails, error } = this.estimate;
    if (holds >= MOST_RATE || this.#count >= MOST_PROBES) return null;
    const factor = Math.min(DOUBLING, step ** (2 ** (this.#count - 1)));
    if (fails === null) return Math.min(MOST_RATE, holds * factor);
    if (fails > Math.max(holds * RESOLUTION, LEAST_RATE)) {
      return holds === 0 ? Math.max(LEAST_RATE, fails / factor) : Math.sqrt(holds * fails);
    }
    if (error <= MOST_ERROR || holds === 0) return null;
    // The side with the larger chance of an error is probed again.
    const below = this.#between(0, holds);
    return below > error - below ? holds : fails;
  }

  get left(): number {
    const { holds, fails, error } = this.estimate;
    const ratio = holds > 0 && fails !== null ? fails / holds : DOUBLING;
    const halvings = Math.log2(Math.max(1, Math.log(ratio) / Math.log(RESOLUTION)));
    return Math.ceil(halvings) + (error > MOST_ERROR ? 1 : 0);
  }

  #median(): number {
    let sum = 0;
    const index = this.#chances.findIndex((chance) => {
      sum += chance;
      return sum >= 0.5;
    });
    return rateAt(index < 0 ? points - 1 : index);
  }

  #between(from: number, to: number): number {
    return this.#chances.reduce((sum, chance, index) => {
      const rate = rateAt(index);
      return rate >= from && rate < to ? sum + chance : sum;
    }, 0);
  }
}

/** Finds a bracket. @param probe result of a probe at a rate; null ends the search. */
export async function findBracket(
  start: Start,
  probe: (rate: number, left: number) => Promise<{ holds: boolean; disturbed: boolean } | null>,
): Promise<Estimate> {
  const bisection = new Bisection(start);
  for (let rate = bisection.next(); rate !== null; rate = bisection.next()) {
    const found = await probe(rate, bisection.left);
    if (found === null) break;
    bisection.add(rate, found.holds, found.disturbed);
  }
  return bisection.estimate;
}

export function startNear({ holds, fails }: Rates): Start {
  return { rate: holds > 0 ? holds : (fails ?? LEAST_RATE), step: RESOLUTION, spread: 3 };
}

export function overlap(brackets: readonly Rates[]): boolean {
  const highest = Math.max(...brackets.map(({ holds }) => holds));
  const lowest = Math.min(...brackets.map(({ fails }) => fails ?? Number.POSITIVE_INFINITY));
  return highest <= lowest;
}
