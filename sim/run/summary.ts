/** The result of a run, the same in virtual time and on a live network. */
import type { Provenance } from '../../report/provenance.js';
import type { Finished } from '../measure/index.js';
import type { SimResult } from './result.js';

/** What is known of any run at its end. */
export interface RunEnd
  extends Pick<SimResult, 'seed' | 'scenario' | 'modules' | 'verdict' | 'broken'> {
  /** Requests that were not done, by reason. */
  refusals: ReadonlyMap<string, number>;
  finished: Finished;
  /** Milliseconds since 1970, of the world's time. */
  startMs: number;
  endMs: number;
  wallMs: number;
  /** Which build made it. */
  made: Provenance | undefined;
}

/** What its network says of the run. */
export type NetworkFigures = Pick<
  SimResult,
  'verifier' | 'digest' | 'log_digest' | 'entries' | 'events' | 'verified' | 'commits'
> &
  Partial<Pick<SimResult, 'url' | 'speed'>>;

export function resultOf(end: RunEnd, network: NetworkFigures): SimResult {
  const { seed, scenario, modules, verdict, broken, finished, wallMs } = end;
  const { url, speed, verifier, ...figures } = network;
  const { measures } = finished;
  return {
    seed,
    ...(url === undefined ? {} : { url }),
    ...(speed === undefined ? {} : { speed }),
    scenario,
    modules,
    verifier,
    verdict,
    broken,
    refused: Object.fromEntries([...end.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
    measures,
    ...figures,
    virtual_ms: end.endMs - end.startMs,
    wall_ms: Math.round(wallMs),
    votes_per_s: Math.round(((measures.votes ?? 0) * 1000) / wallMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    ...(end.made ?? {}),
  };
}
