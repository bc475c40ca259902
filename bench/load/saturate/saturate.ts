/**
 * How much a server takes: brackets between a rate that holds and one that fails, each sought anew,
 * with the machine's own speed beside every probe.
 */
import { rawVerifications } from '../../raw.js';
import { LoadError } from '../error.js';
import type { LoadOptions } from '../options.js';
import type { Bracket, LoadResult, Probe } from '../result.js';
import { type LoadHooks, runLoad } from '../run/run.js';
import { findBracket, overlap, type Start, startNear } from './bracket.js';

/** What must hold besides the rate. */
export interface Objective {
  text: string;
  /** How a result misses it, or null. */
  missed(result: LoadResult): string | null;
}

export interface SaturateOptions {
  /** In the open loop; the search begins at its rate. */
  load: LoadOptions & { rate: number };
  objectives: readonly Objective[];
  /** Brackets that are sought. */
  repeat: number;
}

export interface SaturateHooks extends LoadHooks {
  onProbe?(probe: Probe, bracket: number): void;
}

/** The first steps of a search double the rate. */
const DOUBLE = 2;
const LEAST_SHARE = 0.99;
/** Of R, beyond which the machine is another one. */
const MOVED = 0.1;

/** @throws {LoadError} when it cannot begin, as a single run. */
export async function saturate(
  { load, objectives, repeat }: SaturateOptions,
  hooks: SaturateHooks = {},
): Promise<LoadResult> {
  const search = new Search(load, objectives, hooks);
  const brackets: Bracket[] = [];
  let start: Start = { rate: load.rate, step: DOUBLE };
  while (brackets.length < repeat && !search.ended) {
    const rates = await findBracket(start, (rate) => search.holdsAt(rate, brackets.length));
    const probes = search.takeProbes();
    if (probes.length > 0) brackets.push({ ...rates, unstable: speedMoved(probes), probes });
    start = startNear(rates);
  }
  return search.result(
    brackets,
    objectives.map(({ text }) => text),
  );
}

/** One after the other, probes of a server, and what was seen of it so far. */
class Search {
  readonly #load: LoadOptions;
  readonly #objectives: readonly Objective[];
  readonly #hooks: SaturateHooks;
  #probes: Probe[] = [];
  #count = 0;
  /** R, as it was last measured. */
  #r = rawVerifications();
  #held: LoadResult | null = null;
  #last: LoadResult | null = null;
  /** Why no further probe makes sense. */
  #end: string | null = null;

  constructor(load: LoadOptions, objectives: readonly Objective[], hooks: SaturateHooks) {
    this.#load = load;
    this.#objectives = objectives;
    this.#hooks = hooks;
  }

  get ended(): boolean {
    return this.#end !== null;
  }

  takeProbes(): Probe[] {
    const probes = this.#probes;
    this.#probes = [];
    return probes;
  }

  /** What fails is tried once more: it may have been the machine. Null when the search is over. */
  async holdsAt(rate: number, bracket: number): Promise<boolean | null> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const probe = await this.#probe(rate);
      if (!probe) return null;
      this.#hooks.onProbe?.(probe, bracket);
      if (probe.holds) return true;
    }
    return false;
  }

  result(brackets: Bracket[], slo: string[]): LoadResult {
    const base = this.#held ?? this.#last;
    if (!base) throw new LoadError(`nothing was measured: ${this.#end}`);
    const { verdict, reasons } = judge(brackets, this.#end);
    return {
      ...base,
      verdict,
      reasons: [...reasons, ...base.reasons],
      ended: this.#end === null ? 'complete' : (this.#last?.ended ?? 'failed'),
      saturation: { slo, brackets, overlap: overlap(brackets) },
    };
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
    this.#r = rawVerifications();
    const missed = this.#objectives.flatMap((objective) => objective.missed(result) ?? []);
    const kept = (result.arrivals.of_target ?? 0) >= LEAST_SHARE && result.verdict !== 'INVALID';
    const holds = kept && missed.length === 0;
    if (holds) this.#held = result;
    const probe: Probe = {
      rate,
      accepted_per_s: rate * (result.arrivals.of_target ?? 0),
      p99: slowestP99(result),
      holds,
      verdict: result.verdict,
      reasons: [...missed, ...result.reasons],
      r_before: before,
      r_after: this.#r,
    };
    this.#probes.push(probe);
    return probe;
  }

  /** Each probe has agents of its own: no message is sent twice. */
  async #run(rate: number, r: number): Promise<LoadResult | null> {
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

/** Of the operations of the schedule, the slowest one. */
function slowestP99({ operations }: LoadResult): number | null {
  const times = operations
    .filter(({ operation }) => !operation.endsWith('(beside)'))
    .flatMap(({ response }) => response.p99 ?? []);
  return times.length > 0 ? Math.max(...times) : null;
}

function speedMoved(probes: readonly Probe[]): boolean {
  const speeds = probes.flatMap(({ r_before, r_after }) => [r_before, r_after]);
  return Math.max(...speeds) > (1 + MOVED) * Math.min(...speeds);
}

/** What the brackets are worth together. */
function judge(
  brackets: readonly Bracket[],
  end: string | null,
): Pick<LoadResult, 'verdict' | 'reasons'> {
  if (end !== null) return { verdict: 'INVALID', reasons: [`the search ended early: ${end}`] };
  if (brackets.some(({ holds }) => holds === 0)) {
    return { verdict: 'INVALID', reasons: ['no rate held'] };
  }
  const bound = brackets.filter(({ fails, probes }) => {
    const failed = probes.filter(({ rate }) => rate === fails);
    return failed.length > 0 && failed.every(({ verdict }) => verdict === 'CLIENT_BOUND');
  });
  if (bound.length > 0) {
    const reason = `the generator was the limit in ${bound.length} of ${brackets.length} brackets`;
    return { verdict: 'CLIENT_BOUND', reasons: [reason] };
  }
  const moved = brackets.filter(({ unstable }) => unstable).length;
  const reasons = [
    ...(moved > 0 ? [`R moved by more than 10 % in ${moved} of ${brackets.length} brackets`] : []),
    ...(overlap(brackets) ? [] : ['the brackets share no rate']),
  ];
  return { verdict: reasons.length > 0 ? 'UNSTABLE' : 'VALID', reasons };
}
