/**
 * The result of a run: its figures, what its end cut short, the measures that scripts report, and
 * the digests that the same scenario and seed reproduce.
 */
import type { VerifierKind } from '../../engine/crypto/create-verifier.js';
import type { Verifier } from '../../engine/crypto/verifier.js';
import type { Network } from '../../engine/node/network.js';
import type { BlockStatus } from '../../engine/protocol/schema/primitives.js';
import type { Provenance } from '../../report/folder.js';
import { measures } from '../../report/shared/measures.js';
import type { DeciderFigures } from '../agents/deciders/adapter.js';
import type { World } from '../agents/port.js';
import type { ScriptReportBlock } from '../agents/script/interface.js';
import type { Reported, Scripts } from '../agents/script/scripts.js';
import { type Measures, type Row, sweepTables } from '../measure/dictionary.js';
import type { MessageFigures } from '../measure/messages.js';
import type { RunResults } from '../measure/results.js';
import { joinedByMs, leftByMs } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { MessageKind } from '../world/messages.js';
import type { RuleViolation } from '../world/observer.js';

/** `safety`: the auditor saw the network break one of its own rules. */
export type Verdict = 'pass' | 'no_progress' | 'safety';

/**
 * What ended a run: so many blocks, so much time, a condition of `length.until` (as
 * `until votes at_least 1000`), patience (`stalled`), a world in which nothing was due any more, or
 * a broken rule.
 */
export type EndedBy =
  | 'blocks'
  | 'virtual_ms'
  | `until ${string}`
  | 'stalled'
  | 'nothing_due'
  | 'safety';

/** When what is not to act acts. */
export const NEVER = 'never';

/** What became of an intervention. */
export interface Acted {
  /** What it is about and does, in words. */
  what: string;
  /** When it was to act, in words. */
  when: string;
  /** Time of the run at which it acted; null when the run ended before. */
  at_ms: number | null;
  /** The last entry of the log before it acted; null likewise. */
  entry: number | null;
  /** How much was otherwise: agents, memes, requests or values, by its kind. */
  did: number;
}

/** summary.json of a kept run. */
export interface SimResult extends Partial<Provenance> {
  seed: string;
  /** All defaults filled in. */
  scenario: Scenario;
  /** sha256 of each module that a group's strategy loads, by its path in the scenario. */
  modules: Record<string, string>;
  /** sha256 of each data file and prompt that the scenario names, by its path there. */
  files: Record<string, string>;
  /** Where the network is served, and how fast the agents' time passed; absent in a simulation. */
  url?: string;
  speed?: number;
  verifier: VerifierKind | 'server';
  verdict: Verdict;
  /** Which rule ended the run. One that was interrupted has no result. */
  ended_by: EndedBy;
  /** What the end cut short, in sentences: measures leave it out, or count it up to the end. */
  censored: string[];
  broken: RuleViolation | null;
  /** What became of the block that was watched; absent while it is open, or none was. */
  watched?: BlockStatus;
  /** Alliances that were active when that block was proposed; absent where it never was. */
  watched_alliances?: readonly string[];
  /** What became of each intervention of the scenario; absent where it has none. */
  interventions?: Acted[];
  /** Both are '' for a run on a server: its log is there, and others write to it too. */
  digest: string;
  log_digest: string;
  measures: Measures;
  /** Of each kind of message, as in messages.csv. */
  messages: Record<MessageKind, MessageFigures>;
  /** What external deciders cost, of a run that has some. */
  deciders?: DeciderFigures;
  /** What scripts measured themselves, of the run and by the names of their groups. */
  reported: Reported;
  /** Of each group, as in groups.csv. */
  groups: Row<'groups.csv'>[];
  /** Genesis included; on a server, those that came while the run went on. */
  entries: number;
  events: number;
  /** Signatures that the verifier found valid. */
  verified: number;
  commits: number;
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  virtual_ms: number;
  /** When the warm-up ended, milliseconds of the run: 0 without one, null when it did not end. */
  measured_from_ms: number | null;
  wall_ms: number;
  votes_per_s: number;
  peak_rss_bytes: number;
}

/** What is known of any run at its end. */
interface RunEnd
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
  finished: RunResults;
  /** Milliseconds since 1970, of the world's time. */
  startMs: number;
  endMs: number;
  wallMs: number;
  /** Which build made it. */
  made: Provenance | undefined;
}

/** What its network says of the run. */
type NetworkFigures = Pick<
  SimResult,
  'verifier' | 'digest' | 'log_digest' | 'entries' | 'events' | 'verified' | 'commits'
> &
  Partial<Pick<SimResult, 'url' | 'speed'>>;

export function createResult(end: RunEnd, network: NetworkFigures): SimResult {
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
export function getNetworkFigures(
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

interface Ended {
  scenario: Scenario;
  ended_by: EndedBy;
  acted: readonly Pick<Acted, 'what' | 'when' | 'at_ms'>[] | null;
  finished: { measures: Measures; measuredFromMs: number | null };
  startMs: number;
  endMs: number;
}

function censored(ended: Ended): string[] {
  const { measures, measuredFromMs } = ended.finished;
  const lasted = ended.endMs - ended.startMs;
  return [
    ...byEnding(ended),
    ...(measuredFromMs === null
      ? ['the warm-up did not end before the run did: nothing was measured']
      : []),
    ...counted(measures.never_joined, (agents) => `${agents} never got registered`, 'agent'),
    ...counted(
      measures.open_at_end,
      (blocks) => `${blocks} still in voting at the end: in no share or mean of closed blocks`,
      'block',
    ),
    ...counted(
      measures.alliances_at_end,
      (alliances) => `${alliances} still active at the end: their lifetime is counted up to there`,
      'alliance',
    ),
    ...comersBeyond(ended.scenario, lasted),
    ...faultsBeyond(ended.scenario, lasted),
    ...neverActed(ended.acted ?? []),
  ];
}

function byEnding({ ended_by, scenario }: Ended): string[] {
  if (ended_by === 'stalled') {
    const periods = `${scenario.patience_periods} voting periods`;
    const what =
      'the length of the scenario was not reached: counts and means are of a shorter run';
    return [`cut by patience: no block was decided for ${periods}, and ${what}`];
  }
  if (ended_by === 'nothing_due') {
    return ['nothing was due any more before the length of the scenario was reached'];
  }
  return ended_by === 'safety' ? ['ended where the network broke a rule'] : [];
}

function counted(count: number | null, text: (what: string) => string, one: string): string[] {
  if (count === null || count === 0) return [];
  return [text(`${count} ${one}${count === 1 ? '' : 's'}`)];
}

function comersBeyond({ agents }: Scenario, lastedMs: number): string[] {
  return agents.flatMap((group) => {
    const { join, leave } = group;
    return [
      ...beyond(`${group.group} was to join`, join?.start_ms, joinedByMs(group), lastedMs),
      ...beyond(`${group.group} was to leave`, leave?.at_ms, leftByMs(group) ?? 0, lastedMs),
    ];
  });
}

/** What begins at an instant and is over at another, where the end came before. */
function beyond(what: string, start: number | undefined, over: number, lastedMs: number): string[] {
  if (start === undefined || over <= lastedMs) return [];
  return [start >= lastedMs ? `${what} after the end` : `${what} in part after the end`];
}

function neverActed(acted: NonNullable<Ended['acted']>): string[] {
  return acted.flatMap(({ what, when, at_ms }, index) =>
    at_ms === null && when !== NEVER
      ? [`interventions.${index} (${what}) never acted: ${when}`]
      : [],
  );
}

/** Times of faults are counted from the start of the run. */
function faultsBeyond({ faults }: Scenario, lastedMs: number): string[] {
  return faults.flatMap(({ kind, start_ms, length_ms }, index) => {
    const fault = `faults.${index} (${kind})`;
    if (start_ms >= lastedMs) return [`${fault} was to begin after the end`];
    return start_ms + length_ms > lastedMs ? [`${fault} lasted beyond the end`] : [];
  });
}

/** Measures and columns that a measure of a script's own would stand beside. */
const taken: ReadonlySet<string> = new Set(
  [measures, ...Object.values(sweepTables)].flatMap((names) => Object.keys(names)),
);

const nothing = (): Reported => ({ run: {}, groups: {} });

/** @throws {ScenarioError} when a script throws, or gives what is no measure. */
export function collectReports(
  scripts: Scripts | null,
  world: World,
  finished: RunResults,
): Reported {
  if (!scripts?.reports) return nothing();
  // Rows are made as they are taken: they are taken twice here.
  const rows = [...finished.tables['blocks.csv']];
  finished.tables['blocks.csv'] = rows;
  const { population } = world.scenario;
  const ordinals = new Map(
    Array.from({ length: population }, (_, agent) => [world.agentId(agent), agent]),
  );
  const blocks = rows.map((row) => blockOf(row, ordinals));
  return scripts.report({ world, blocks: Object.freeze(blocks) }, taken);
}

function blockOf(row: Row<'blocks.csv'>, ordinals: ReadonlyMap<string, number>): ScriptReportBlock {
  return Object.freeze({
    number: Number(row.number),
    hash: String(row.block_hash),
    producer: ordinals.get(String(row.producer)) ?? -1,
    status: row.status as ScriptReportBlock['status'],
    soundness: row.soundness as number | null,
    warmup: row.warmup === 1,
    proposedMs: Number(row.proposed_ms),
    closedMs: row.closed_ms as number | null,
    votes: Number(row.votes),
    approve: Number(row.approve),
    reject: Number(row.reject),
    electorate: Number(row.electorate),
  });
}
