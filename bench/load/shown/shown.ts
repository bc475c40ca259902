/** A result as a page is given it: of a run that is over, whether it was watched or kept. */
import type { LoadSearch, LoadShown, LoadTarget } from '../../../api/view/load.js';
import { wholeSeconds } from '../figures/seconds.js';
import type { Bracket, LoadResult, Probe } from '../result.js';
import { cut } from './cut.js';
import { figuresShown } from './figures.js';
import { Steps } from './steps.js';

/** @param page where a browser sees the network that was loaded, where that is known */
export function resultShown(result: LoadResult, page: string | null = null): LoadShown {
  const { asked, server, r, saturation } = result;
  const ms = result.measured_s * 1_000;
  return {
    ...{ phase: 'over', said: '', passed_ms: ms, of_ms: asked.duration_s * 1_000 },
    ...{ asked, server: targetShown(server, page), r },
    verdict: verdictShown(result, result.ended),
    figures: figuresShown(result, new Steps().of(wholeSeconds(result))),
    search: saturation && searchShown(saturation),
  };
}

export function targetShown(server: LoadResult['server'], page: string | null): LoadTarget {
  const { url, version, limits_profile, durable, network_id } = server;
  const text = (value: string | null) => value && cut(value);
  return {
    ...{ url: cut(url), version: text(version), limits_profile: text(limits_profile) },
    ...{ durable, network_id: text(network_id), page },
  };
}

const MOST_REASONS = 20;

export const verdictShown = (
  { verdict, reasons }: Pick<LoadResult, 'verdict' | 'reasons'>,
  ended: LoadResult['ended'] | null,
) => ({ verdict, reasons: reasons.slice(0, MOST_REASONS).map(cut), ended });

/** A probe, and in which bracket it was, counted from 1. */
export interface Sought {
  bracket: number;
  probe: Probe;
}

const MOST_PROBES = 300;

export const probesShown = (
  all: readonly Sought[],
): Pick<LoadSearch, 'probes' | 'probes_omitted'> => ({
  probes: all.slice(-MOST_PROBES).map(({ bracket, probe }) => {
    const { rate, accepted_per_s, p99, holds, verdict, reasons, r_before } = probe;
    const reason = cut(reasons[0] ?? '');
    return { bracket, rate, accepted_per_s, p99, holds, verdict, reason, r_before };
  }),
  probes_omitted: Math.max(0, all.length - MOST_PROBES),
});

export const bracketsShown = (brackets: readonly Pick<Bracket, 'holds' | 'fails'>[]) =>
  brackets.slice(0, MOST_PROBES).map(({ holds, fails }) => ({ holds, fails }));

function searchShown({ slo, brackets }: NonNullable<LoadResult['saturation']>): LoadSearch {
  const all = brackets.flatMap(({ probes }, index) =>
    probes.map((probe) => ({ bracket: index + 1, probe })),
  );
  return {
    slo: slo.slice(0, MOST_REASONS).map(cut),
    repeat: brackets.length,
    rate: null,
    brackets: bracketsShown(brackets),
    ...probesShown(all),
  };
}
