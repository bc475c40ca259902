/**
 * Result of a run: figures, right-censored data, script measures, and the digests that are
 * reproducible from scenario and seed.
 */
import type { VerifierKind } from '../../engine/crypto/pool.js';
import type { Network } from '../../engine/node/network.js';
import type { UnrecordedNetwork } from '../../engine/node/unrecorded-network.js';
import type { BlockStatus } from '../../engine/protocol/schema/primitives.js';
import { describeTie } from '../../engine/rules/rule.js';
import type { Provenance } from '../../report/folder.js';
import { measures } from '../../report/shared/measures.js';
import type { DeciderFigures } from '../agents/deciders/adapter.js';
import type { AnsweredQuestion, Deciders } from '../agents/deciders/deciders.js';
import type { Deliberations } from '../agents/deliberation/deliberations.js';
import type { World } from '../agents/port.js';
import type { ScriptReportBlock } from '../agents/script/interface.js';
import type { Reported, Scripts } from '../agents/script/scripts.js';
import type { Finding } from '../audit/findings.js';
import { collectLabels, type ElectionUse, labelOption } from '../elections/rule-ballots.js';
import type { Collector } from '../measure/collector.js';
import { computeDeliberations } from '../measure/deliberation.js';
import { type Measures, type Row, sweepTables } from '../measure/dictionary.js';
import type { MessageFigures } from '../measure/messages.js';
import type { RunResults, TiedBlock } from '../measure/results.js';
import { conditionText, getConditions } from '../scenario/interventions.js';
import { joinedByMs, leftByMs } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { MessageKind } from '../world/messages.js';
import type { RuleViolation } from '../world/observer.js';

/**
 * `safety` means that the auditor found a rule violation. `conflict` means that honest agents
 * decided differently in the protocol of their scripts.
 */
export type Verdict = 'pass' | 'no_progress' | 'conflict' | 'safety';

/**
 * Reason why the run ended: its length, a condition in `length.until` (for example
 * `until votes at_least 1000`), patience (`stalled`), no pending event, or a rule violation.
 */
export type EndedBy =
  | 'blocks'
  | 'virtual_ms'
  | `until ${string}`
  | 'stalled'
  | 'nothing_due'
  | 'safety';

/** Moment of a disabled intervention. */
export const NEVER = 'never';

/** Result of an intervention. */
export interface Acted {
  /** Description of what the intervention does. */
  what: string;
  /** Description of when the intervention acts. */
  when: string;
  /** Run time at which the intervention acted; null if the run ended first. */
  at_ms: number | null;
  /** Last log entry before the intervention acted; null if it did not act. */
  entry: number | null;
  /** Number of changed agents, memes, requests or values, depending on the kind. */
  did: number;
}

/** Returns true for an intervention that the run ended before. */
export const isIdle = ({ at_ms, when }: Acted): boolean => at_ms === null && when !== NEVER;

/** Contents of summary.json. */
export interface SimResult extends Partial<Provenance> {
  seed: string;
  /** Scenario with all defaults. */
  scenario: Scenario;
  /** SHA-256 of each script module, by its path in the scenario. */
  modules: Record<string, string>;
  /** SHA-256 of each data file and prompt, by its path in the scenario. */
  files: Record<string, string>;
  /** Uses of the ballots of election data, by file. Absent without election data. */
  elections?: Record<string, ElectionUse>;
  /** Server URL and speed of agent time. Absent for simulations. */
  url?: string;
  speed?: number;
  verifier: VerifierKind | 'server';
  verdict: Verdict;
  /** Rule that ended the run. */
  ended_by: EndedBy;
  /** Descriptions of right-censored data, one sentence each. */
  censored: string[];
  broken: RuleViolation | null;
  /** Findings about scripts, by name. Absent without findings. */
  findings?: Finding[];
  /** Blocks whose choice the order of the options decided. Absent without such a block. */
  tied?: TiedBlock[];
  /** Watched block's status. Absent while the block is in voting, or if no block is watched. */
  watched?: BlockStatus;
  /** Alliances active when the watched block was proposed. Absent if it was not proposed. */
  watched_alliances?: readonly string[];
  /** Results of interventions. Absent without interventions. */
  interventions?: Acted[];
  /** Log digest. Empty without a log, and on a server, whose log has other clients' entries too. */
  digest: string;
  log_digest: string;
  /** Digest of all commands with outcomes, equal with and without a log. Absent on a server. */
  trace_digest?: string;
  measures: Measures;
  /** Figures by message kind, as in messages.csv. */
  messages: Record<MessageKind, MessageFigures>;
  /** Cost of external deciders, if any. */
  deciders?: DeciderFigures;
  /** Measures reported by scripts, for the run and by group. */
  reported: Reported;
  /** Figures by group, as in groups.csv. */
  groups: Row<'groups.csv'>[];
  /** Number of log entries, including genesis. On a server, the number during the run. */
  entries: number;
  events: number;
  /** Number of verified signatures. */
  verified: number;
  commits: number;
  /** Number of requests that were not applied, by reason. */
  refused: Record<string, number>;
  virtual_ms: number;
  /** End of the warm-up in milliseconds of run time; 0 without one, null if it did not end. */
  measured_from_ms: number | null;
  wall_ms: number;
  votes_per_s: number;
  peak_rss_bytes: number;
}

/** State at the end of a run of any kind. */
interface RunEnd extends Pick<SimResult, 'seed' | 'scenario' | 'verdict' | 'ended_by' | 'files'> {
  world: World & {
    refusals: ReadonlyMap<string, number>;
    broken?: RuleViolation | null;
    traceDigest?: string;
  };
  scripts: Scripts | null;
  elections: Record<string, ElectionUse>;
  /** Null without interventions. */
  interventions: { acted: Acted[] } | null;
  deciders: Pick<Deciders, 'answered' | 'figures' | 'files'> | null;
  /** Null without deliberations. */
  deliberations: Deliberations | null;
  /** Null if no block is watched. */
  watched: Collector['watched'];
  finished: RunResults;
  endMs: number;
  /** Start of the run from performance.now(). */
  started: number;
  made: Provenance | undefined;
}

type NetworkFigures = Pick<
  SimResult,
  'verifier' | 'digest' | 'log_digest' | 'entries' | 'events' | 'verified' | 'commits'
> &
  Partial<Pick<SimResult, 'url' | 'speed'>>;

/** @throws {ScenarioError} if a script throws or returns an invalid measure. */
export function createResult(end: RunEnd, network: NetworkFigures): SimResult {
  const { seed, scenario, files, verdict, ended_by, finished, world, deciders, watched } = end;
  const { url, speed, verifier, ...figures } = network;
  const { measures, messages } = finished;
  const acted = end.interventions?.acted;
  const virtual_ms = end.endMs - world.startMs;
  const reported = collectReports(end, finished);
  if (deciders) finished.calls = callRows(deciders.answered, world.startMs, finished);
  const wallMs = performance.now() - end.started;
  return {
    seed,
    ...(url === undefined ? {} : { url }),
    ...(speed === undefined ? {} : { speed }),
    scenario,
    modules: end.scripts?.modules ?? {},
    files: { ...files, ...deciders?.files },
    ...(Object.keys(end.elections).length === 0 ? {} : { elections: end.elections }),
    verifier,
    verdict,
    ended_by,
    censored: censored(end, acted ?? [], virtual_ms),
    ...(acted ? { interventions: acted } : {}),
    broken: world.broken ?? null,
    ...(finished.findings.length === 0 ? {} : { findings: [...finished.findings] }),
    ...(finished.tied.length === 0 ? {} : { tied: [...finished.tied] }),
    ...(watched?.status ? { watched: watched.status } : {}),
    ...(watched?.alliances ? { watched_alliances: watched.alliances } : {}),
    refused: Object.fromEntries([...world.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
    measures,
    messages,
    reported,
    ...(deciders ? { deciders: deciders.figures } : {}),
    groups: [...finished.tables['groups.csv']],
    ...figures,
    ...(world.traceDigest === undefined ? {} : { trace_digest: world.traceDigest }),
    virtual_ms,
    measured_from_ms: finished.measuredFromMs,
    wall_ms: Math.round(wallMs),
    votes_per_s: Math.round(((measures.votes ?? 0) * 1000) / wallMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    ...(end.made ?? {}),
  };
}

export function getNetworkFigures(
  network: Network | UnrecordedNetwork,
  { kind, verified }: { kind: VerifierKind; verified(): number },
): NetworkFigures {
  const { seq, event_seq, digest, log_digest } = network.read.position;
  return {
    verifier: kind,
    digest,
    log_digest,
    entries: seq + 1,
    events: event_seq,
    verified: verified(),
    commits: 'stats' in network ? network.stats.commits : 0,
  };
}

function censored(
  ended: Pick<RunEnd, 'scenario' | 'ended_by' | 'finished'>,
  acted: readonly Acted[],
  lasted: number,
): string[] {
  const { measures, measuredFromMs } = ended.finished;
  return [
    ...byEnding(ended),
    ...(measuredFromMs === null ? ['warm-up longer than the run: nothing was measured'] : []),
    ...counted(measures.never_joined, (agents) => `${agents} never registered`, 'agent'),
    ...counted(
      measures.open_at_end,
      (blocks) =>
        `${blocks} still in voting at the end, excluded from shares and means of closed blocks`,
      'block',
    ),
    ...counted(
      measures.alliances_at_end,
      (alliances) => `${alliances} still active at the end, lifetime counted up to the end`,
      'alliance',
    ),
    ...comersBeyond(ended.scenario, lasted),
    ...faultsBeyond(ended.scenario, lasted),
    ...neverActed(acted),
    ...(ended.ended_by.startsWith('until') ? [] : neverMet(ended.scenario)),
  ];
}

function byEnding({ ended_by, scenario }: Pick<RunEnd, 'ended_by' | 'scenario'>): string[] {
  if (ended_by === 'stalled') {
    const periods = `${scenario.patience_periods} voting periods`;
    const what = 'the run is shorter than the scenario asks for';
    return [`ended by patience: no block decided for ${periods}; ${what}`];
  }
  if (ended_by === 'nothing_due') {
    return ['no event left before the length of the scenario was reached'];
  }
  return ended_by === 'safety' ? ['ended at a rule violation'] : [];
}

function counted(count: number | null, text: (what: string) => string, one: string): string[] {
  if (count === null || count === 0) return [];
  return [text(`${count} ${one}${count === 1 ? '' : 's'}`)];
}

function comersBeyond({ agents }: Scenario, lastedMs: number): string[] {
  return agents.flatMap((group) => {
    const { join, leave } = group;
    return [
      ...beyond(`joining of ${group.group}`, join?.start_ms, joinedByMs(group), lastedMs),
      ...beyond(`departure of ${group.group}`, leave?.at_ms, leftByMs(group) ?? 0, lastedMs),
    ];
  });
}

/** Describes a period that starts or ends after the run. */
function beyond(what: string, start: number | undefined, over: number, lastedMs: number): string[] {
  if (start === undefined || over <= lastedMs) return [];
  return [start >= lastedMs ? `${what} after the end` : `${what} partly after the end`];
}

function neverActed(acted: readonly Acted[]): string[] {
  return acted.flatMap((one, index) =>
    isIdle(one) ? [`interventions.${index} (${one.what}) did not act: ${one.when}`] : [],
  );
}

function neverMet({ length }: Scenario): string[] {
  const conditions = getConditions(length).map(conditionText);
  return conditions.length === 0 ? [] : [`length.until was not met: ${conditions.join(', ')}`];
}

/** Describes faults that last beyond the run. Fault times are relative to the start of the run. */
function faultsBeyond({ faults }: Scenario, lastedMs: number): string[] {
  return faults.flatMap(({ kind, start_ms, length_ms }, index) => {
    const fault = `faults.${index} (${kind})`;
    if (start_ms >= lastedMs) return [`${fault} begins after the end`];
    return start_ms + length_ms > lastedMs ? [`${fault} lasts beyond the end`] : [];
  });
}

/** Names of existing measures and columns. Scripts cannot use these names. */
const taken: ReadonlySet<string> = new Set(
  [measures, ...Object.values(sweepTables)].flatMap((names) => Object.keys(names)),
);

const nothing = (): Reported => ({ run: {}, groups: {} });

/** Collects the measures of scripts and of deliberations, and adds the tables of the latter. */
function collectReports(end: RunEnd, finished: RunResults): Reported {
  const { scripts, deliberations, world, scenario } = end;
  if (!scripts?.reports && !deliberations) return nothing();
  // Copy the rows, because an iterable table can be read only once.
  const rows = [...finished.tables['blocks.csv']];
  finished.tables['blocks.csv'] = rows;
  const reported = scripts?.reports
    ? scripts.report({ world, blocks: Object.freeze(reportBlocks(rows, world)) }, taken)
    : nothing();
  if (!deliberations) return reported;
  const { startMs } = world;
  const groupOf = (agent: number) => world.groupOf(agent);
  const blocks = rows.map(({ number, block_hash, status, warmup }) => {
    const hash = String(block_hash);
    return { number: Number(number), hash, status: String(status), warmup: warmup === 1 };
  });
  const context = { scenario, deliberations, blocks, startMs, groupOf };
  const { run, groups, ...tables } = computeDeliberations(context);
  finished.deliberation = tables;
  for (const [group, figures] of Object.entries(groups)) {
    reported.groups[group] = { ...figures, ...reported.groups[group] };
  }
  return { ...reported, run: { ...run, ...reported.run } };
}

function callRows(
  answered: readonly AnsweredQuestion[],
  startMs: number,
  finished: RunResults,
): Row<'calls.csv'>[] {
  const blocks = [...finished.tables['blocks.csv']];
  finished.tables['blocks.csv'] = blocks;
  const numbers = new Map(blocks.map(({ block_hash, number }) => [block_hash, number]));
  return answered.map(({ agent, group, kind, number, block, at, ...one }) => ({
    ...{ agent, group, kind, number, block: numbers.get(block) ?? null, at_ms: at - startMs },
    ...{ calls: one.calls, cached: Number(one.cached), failure: one.failure },
    ...{ input_tokens: one.inputTokens, output_tokens: one.outputTokens },
    ...{ view: one.seen, thought: one.thought },
  }));
}

function reportBlocks(rows: readonly Row<'blocks.csv'>[], world: World): ScriptReportBlock[] {
  const { population } = world.scenario;
  const ordinals = new Map(
    Array.from({ length: population }, (_, agent) => [world.agentId(agent), agent]),
  );
  return rows.map((row) => blockOf(row, ordinals));
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
    choice: row.choice as string | null,
    standings: Object.freeze(JSON.parse(String(row.standings))) as ScriptReportBlock['standings'],
  });
}

/** Limit on the tied blocks that are listed. */
const LISTED = 5;

/** Formats the blocks whose choice the order of the options decided. */
export function describeTies({
  tied = [],
  elections = {},
}: Partial<Pick<SimResult, 'tied' | 'elections'>>): string[] {
  const labels = collectLabels(elections);
  const lines = tied
    .slice(0, LISTED)
    .map(
      (one) => `block ${one.number}: ${describeTie(one, (name) => labelOption({ labels }, name))}`,
    );
  return tied.length > LISTED ? [...lines, `${tied.length - LISTED} more blocks`] : lines;
}
