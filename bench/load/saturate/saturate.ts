/**
 * How much a server takes: brackets between a rate that holds and one that fails, each sought anew,
 * with the machine's own speed beside every probe.
 */
import type { LoadOptions } from '../options.js';
import type { Bracket, LoadResult, Probe } from '../result.js';
import { findBracket, overlap, type Start, startNear } from './bracket.js';
import type { Objective } from './probe.js';
import { type SaturateHooks, Search } from './search.js';

export interface SaturateOptions {
  /** In the open loop; the search begins at its rate. */
  load: LoadOptions & { rate: number };
  objectives: readonly Objective[];
  /** Brackets that are sought. */
  repeat: number;
}

/** The first steps of a search double the rate. */
const DOUBLE = 2;
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
  return Math.max(...speeds) > (1 + MOVED) * Math.min(...speeds);
}

/** Judges brackets whose failing rate says nothing of the server: all its probes were bound. */
function boundOf(brackets: readonly Bracket[]): Pick<LoadResult, 'verdict' | 'reasons'> | null {
  const last = brackets.flatMap(({ fails, probes }): Probe[] => {
    const failed = probes.filter(({ rate }) => rate === fails);
    const isBound = failed.every(({ verdict }) => Object.hasOwn(limits, verdict));
    return isBound ? failed.slice(-1) : [];
  });
  const { verdict, reasons } = last.at(-1) ?? {};
  if (verdict === undefined) return null;
  const limit = `${limits[verdict as keyof typeof limits]} was the limit`;
  const where = `${limit} in ${last.length} of ${brackets.length} brackets`;
  // The probe's reason names the option that raises the limit of a workload.
  const why = verdict === 'WORKLOAD_BOUND' ? (reasons ?? []) : [];
  return { verdict, reasons: [where, ...why] };
}

const limits = { CLIENT_BOUND: 'the generator', WORKLOAD_BOUND: 'the workload' } as const;

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
