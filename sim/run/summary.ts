/** The result of a run, the same in virtual time and on a live network. */
import type { BlockStatus, Network, Verifier, VerifierKind } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { Finished } from '../measure/index.js';
import { censored } from './ending/censored.js';
import type { Acted, SimResult } from './result.js';

/** What is known of any run at its end. */
export interface RunEnd
  extends Pick<
    SimResult,
    | 'seed'
    | 'scenario'
    | 'modules'
    | 'files'
    | 'verdict'
    | 'ended_by'
    | 'broken'
    | 'reported'
    | 'deciders'
  > {
  /** What became of the scenario's interventions; null where it has none. */
  acted: Acted[] | null;
  /** Of the block that was watched. */
  watched?: BlockStatus | null | undefined;
  watched_alliances?: readonly string[] | null | undefined;
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
  const { seed, scenario, modules, files, verdict, ended_by, broken, finished, wallMs } = end;
  const { url, speed, verifier, ...figures } = network;
  const { measures, messages } = finished;
  return {
    seed,
    ...(url === undefined ? {} : { url }),
    ...(speed === undefined ? {} : { speed }),
    scenario,
    modules,
    files,
    verifier,
    verdict,
    ended_by,
    censored: censored(end),
    ...(end.acted === null ? {} : { interventions: end.acted }),
    broken,
    ...(end.watched ? { watched: end.watched } : {}),
    ...(end.watched_alliances ? { watched_alliances: end.watched_alliances } : {}),
    refused: Object.fromEntries([...end.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
    measures,
    messages,
    reported: end.reported,
    ...(end.deciders ? { deciders: end.deciders } : {}),
    groups: [...finished.tables['groups.csv']],
    ...figures,
    virtual_ms: end.endMs - end.startMs,
    measured_from_ms: finished.measuredFromMs,
    wall_ms: Math.round(wallMs),
    votes_per_s: Math.round(((measures.votes ?? 0) * 1000) / wallMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    ...(end.made ?? {}),
  };
}

/** Of a network in this process. */
export function figuresOf(
  { read, stats }: Network,
  { kind, verifier }: { kind: VerifierKind; verifier: Verifier },
): NetworkFigures {
  const { seq, event_seq, digest, log_digest } = read.position;
  return {
    verifier: kind,
    digest,
    log_digest,
    entries: seq + 1,
    events: event_seq,
    verified: verifier.stats.verified,
    commits: stats.commits,
  };
}
