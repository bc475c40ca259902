/**
 * Attributes a block's outcome. The run is repeated up to the block and then forked without each
 * candidate: a meme, an agent or an alliance. Attribution works only for saved runs, not for a
 * server's data folder.
 */
import { storedLines } from '../../engine/replay/lines.js';
import type { Store } from '../../engine/store/store.js';
import { forkError, type KeptRun, readKept, readKeptResult } from '../fork/kept-run.js';
import type { DecisionLine } from '../measure/decisions.js';
import { type Job, type Outcome, runJobs } from '../run/jobs.js';
import { simulate } from '../run/simulate.js';
import { loadData } from '../scenario/files.js';
import { Names } from '../scenario/interventions.js';
import { describeExternals } from '../scenario/population.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Intervention } from '../scenario/schema/interventions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { createLatencies } from '../world/latency.js';
import {
  computeEffect,
  detectableWith,
  type Effect,
  type Judgement,
  judgeLook,
  LEVEL,
  type Pairs,
  planLooks,
} from './effects.js';
import { collectEvidence, type Evidence } from './evidence.js';
import { forkRecorded, type RecordedForks, type RecordedOptions } from './recorded.js';

export interface AttributionOptions {
  /** Folder that contains script modules and data files. */
  folder?: string;
  kinds: readonly CandidateKind[];
  /** Maximum number of candidates to test. */
  most: number;
  /** Pairs per candidate at the first look. */
  replicates: number;
  /** Most pairs, doubled at each look until the result is clear. Default: `replicates`. */
  mostReplicates?: number;
  /** Margin of an additional equivalence test. A candidate with a smaller effect is decided. */
  margin?: number;
  /** Number of parallel runs; default: one per core. */
  jobs?: number;
  /** Answers of external deciders. Without them, a run with external deciders is refused. */
  recorded?: RecordedOptions;
  signal?: AbortSignal;
  /** Called before the first fork and after each fork. */
  onProgress?: (done: number, of: number) => void;
}

export interface Attribution {
  /** Reasons for each counted vote. */
  decisions: DecisionLine[];
  /** Number of memes, agents and alliances that could be omitted. */
  candidates: number;
  /** Null for a run with external deciders, which has `recorded` instead. */
  ablation: Ablation | null;
  /** Forks without each candidate, with recorded answers; null without external deciders. */
  recorded: RecordedForks | null;
}

/**
 * @returns null if the folder is not a saved run.
 * @throws {ScenarioError} if the run cannot be reproduced, if a script or data file has changed, or
 * if the run uses external deciders and may not ask them.
 * @throws {StoreError} if a fork fails.
 */
export async function attribute(
  store: Store,
  run: string,
  hash: string,
  { folder, kinds, most, recorded, ...options }: AttributionOptions,
): Promise<Attribution | null> {
  const result = readKeptResult(run);
  if (!result) return null;
  const isRecorded = describeExternals(result.scenario) !== '';
  if (isRecorded && !recorded?.record) throw needsRecord(result.scenario);
  const kept = readKept(run, folder);
  const evidence = collectEvidence(store, hash);
  const decisions = await runAgain(store, evidence, kept);
  const { traces } = loadData(result.scenario, kept.source);
  const { slowMs } = createLatencies(result.scenario, traces);
  const candidates = candidatesOf(evidence, decisions, kinds, slowMs);
  const tested = candidates.slice(0, most);
  const found = { decisions, candidates: candidates.length };
  if (isRecorded) {
    const { onProgress, signal } = options;
    const { scenario, seed } = result;
    const { block_hash: block, ordinal } = evidence.block;
    const common = { scenario, seed, folder: run, source: kept.source, block, ordinal };
    const names = new Names(scenario);
    const placed = tested.map((one) => {
      return { ...one, ordinal: one.kind === 'agent' ? names.ordinalOf(one.name) : null };
    });
    const about = { ...common, status: evidence.status, decisions, onProgress, signal };
    return { ...found, ablation: null, recorded: await forkRecorded(about, placed, recorded!) };
  }
  const ablation = await ablate(result.scenario, tested, {
    ...options,
    folder: kept.source,
    seed: result.seed,
    block: evidence.block.block_hash,
  });
  return { ...found, ablation, recorded: null };
}

/** Creates the error for a run whose deciders may not be asked. */
function needsRecord(scenario: Scenario): ScenarioError {
  const why = `external deciders decide for ${describeExternals(scenario)}`;
  const how = 'use --record to ask about changed views, or --mechanical for the log only';
  return new ScenarioError(`${why}, and forks may need new answers; ${how}`);
}

/*
 * The run is repeated up to the block, and then forked many times with different randomness. Forks
 * are paired. Both forks in a pair use identical randomness and differ in one candidate, which is
 * omitted in one of the two forks.
 */

interface AblationOptions extends Omit<AttributionOptions, 'kinds' | 'most'> {
  seed: string;
  block: string;
}

export interface AblationRow
  extends Omit<Candidate, 'fromMs'>,
    Pairs,
    Judgement,
    Record<keyof Effect, number | null> {
  /** Number of pairs with the intervention in effect when the block was proposed or discussed. */
  acted: number;
  /**
   * True if the intervention was in effect in all pairs. If false, the pairs do not measure the
   * effect, and the result members are null.
   */
  measured: boolean;
  /**
   * Smallest change in probability that the test detects with power 0.8, if all discordant pairs
   * differ in the same direction; null if no change is large enough.
   */
  detectable: number | null;
}

export interface Ablation {
  level: number;
  /** Pairs per candidate at the first look, and the maximum. */
  replicates: number;
  most_replicates: number;
  /** Number of looks that share the significance level. */
  looks: number;
  /** Equivalence margin; null if equivalence was not tested. */
  margin: number | null;
  forks: number;
  /** Rows sorted by certainty. */
  rows: AblationRow[];
}

interface Fork extends Job {
  /** Candidate that the fork omits. Null for the fork without an omission. */
  candidate: number | null;
  fromMs: number;
  replicate: number;
}

interface Arm {
  finalized: boolean;
  acted: boolean;
}

/** @param scenario to add interventions to. @throws {StoreError} `FAILED` if a fork fails. */
async function ablate(
  scenario: Scenario,
  candidates: readonly Candidate[],
  options: AblationOptions,
): Promise<Ablation> {
  const { replicates, mostReplicates = replicates, margin = null } = options;
  const { jobs, signal, onProgress } = options;
  const sizes = planLooks(replicates, Math.max(replicates, mostReplicates));
  const testing = { looks: sizes.length, margin };
  const arms = new Map<string, Arm>();
  let rows: Measured[] = [];
  let judgements: Judgement[] = [];
  let from = 0;
  for (const to of sizes) {
    const open = candidates.filter((_, at) => isOpen(rows[at], judgements[at]));
    if (open.length === 0) break;
    const forks = [...forksOf(scenario, candidates, open, { ...options, from, to })];
    const of = arms.size + forks.length;
    onProgress?.(arms.size, of);
    await runJobs(forks, {
      ...{ jobs, signal },
      onDone(fork, outcome) {
        arms.set(nameOf(fork), armOf(outcome, fork, candidates));
        onProgress?.(arms.size, of);
      },
    });
    rows = candidates.map((candidate, at) =>
      open.includes(candidate)
        ? rowOf(candidate, at, { ...testing, pairs: to, candidates: candidates.length }, arms)
        : rows[at]!,
    );
    judgements = judgeLook(
      rows.map((row) => (row.measured ? row : null)),
      judgements,
      testing,
    );
    from = to;
  }
  return {
    level: LEVEL,
    ...{ replicates, most_replicates: sizes.at(-1)!, ...testing, forks: arms.size },
    rows: sorted(rows.map((row, at) => ({ ...row, ...judgements[at]! }))),
  };
}

type Measured = Omit<AblationRow, keyof Judgement>;

/** True if more pairs could change the result. */
function isOpen(row: Measured | undefined, judgement: Judgement | undefined): boolean {
  if (!row || !judgement) return true;
  return row.measured && !judgement.significant && !judgement.within_margin;
}

const sorted = (rows: readonly AblationRow[]): AblationRow[] =>
  [...rows].sort(
    (a, b) =>
      Number(b.measured) - Number(a.measured) ||
      (a.p_holm ?? 1) - (b.p_holm ?? 1) ||
      (a.p ?? 1) - (b.p ?? 1) ||
      Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0) ||
      b.votes - a.votes,
  );

/** Yields the forks. Candidates with the same start share the forks without an omission. */
function* forksOf(
  scenario: Scenario,
  candidates: readonly Candidate[],
  open: readonly Candidate[],
  { seed, folder, block, from, to }: AblationOptions & { from: number; to: number },
): Iterable<Fork> {
  const common = { seed, audit: false, watch: block, ...(folder === undefined ? {} : { folder }) };
  const moments = new Set(open.map(({ fromMs }) => fromMs));
  const asked = new Set(open);
  for (let replicate = from; replicate < to; replicate += 1) {
    // Derive this from the run's seed, so that different runs have different futures.
    const chance = `${seed}/why/${replicate}`;
    for (const fromMs of moments) {
      const whole = forkOf(scenario, { fromMs, chance }, []);
      yield { ...common, scenario: whole, candidate: null, fromMs, replicate };
    }
    for (const [candidate, one] of candidates.entries()) {
      if (!asked.has(one)) continue;
      const { fromMs, intervention } = one;
      const without = forkOf(scenario, { fromMs, chance }, [intervention]);
      yield { ...common, scenario: without, candidate, fromMs, replicate };
    }
  }
}

/** Returns a fork's scenario, without verifying signatures, which does not change the entries. */
function forkOf(
  scenario: Scenario,
  { fromMs, chance }: { fromMs: number; chance: string },
  added: readonly Intervention[],
): Scenario {
  const redraw = { kind: 'redraw', seed: chance, at_ms: fromMs } as const;
  return {
    ...scenario,
    signatures: scenario.signatures === 'none' ? 'none' : 'unverified',
    measure: { ...scenario.measure, votes: false, decisions: false },
    interventions: [...scenario.interventions, redraw, ...added],
  };
}

const nameOf = ({ candidate, fromMs, replicate }: Omit<Fork, keyof Job>): string =>
  `${candidate ?? `all ${fromMs}`} ${replicate}`;

function armOf(
  outcome: Outcome,
  { candidate, replicate }: Fork,
  candidates: readonly Candidate[],
): Arm {
  if ('failure' in outcome) {
    const which = `replicate ${replicate}${candidate === null ? '' : ` of ${candidate}`}`;
    throw forkError('FORK_FAILED', { which, reason: outcome.failure.message });
  }
  const { watched, watched_alliances: allied, interventions = [] } = outcome.result;
  const did = (interventions.at(-1)?.did ?? 0) > 0;
  // Without a proposal, there is no block to measure.
  const left = candidate === null ? null : candidates[candidate]!;
  const inForce = left?.kind === 'alliance' ? !allied?.includes(left.id) : true;
  const acted = did && allied !== undefined && inForce;
  return { finalized: watched === 'finalized', acted };
}

function rowOf(
  { intervention, fromMs, ...candidate }: Candidate,
  at: number,
  { pairs: replicates, candidates, looks }: { pairs: number; candidates: number; looks: number },
  arms: ReadonlyMap<string, Arm>,
): Measured {
  const pairs: Pairs = { pairs: replicates, both: 0, only_with: 0, only_without: 0 };
  let acted = 0;
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    const whole = arms.get(nameOf({ candidate: null, fromMs, replicate }))!;
    const without = arms.get(nameOf({ candidate: at, fromMs, replicate }))!;
    if (without.acted) acted += 1;
    if (whole.finalized && without.finalized) pairs.both += 1;
    else if (whole.finalized) pairs.only_with += 1;
    else if (without.finalized) pairs.only_without += 1;
  }
  const measured = acted === replicates;
  const effect: Effect | typeof unknown = measured ? computeEffect(pairs, looks) : unknown;
  const detectable = detectableWith(replicates, LEVEL / (looks * candidates));
  return { ...candidate, ...pairs, ...effect, intervention, acted, measured, detectable };
}

const unknown = { difference: null, low: null, high: null, p: null } as const;

/*
 * Candidates are memes about the block, its electors, and alliances that were active at its
 * proposal. Candidates are ranked by the original run, and the highest-ranked few are tested.
 */

type CandidateKind = 'meme' | 'agent' | 'alliance';

interface Candidate {
  kind: CandidateKind;
  id: string;
  name: string;
  /** Number of votes in the run that depend directly on the candidate. This is the rank. */
  votes: number;
  /** Intervention that omits the candidate. */
  intervention: Intervention;
  /** Time of the redraw, in virtual milliseconds: the last moment before the candidate acts. */
  fromMs: number;
}

/** Added to a slow message's latency, because members act only in the next windows: two windows. */
const WINDOWS_MS = 100;

/**
 * Returns the candidates, alternating between kinds, with the best candidates of each kind first.
 *
 * @param slowMs a slow message's latency. Members' departures must arrive before the proposal.
 */
function candidatesOf(
  evidence: Evidence,
  lines: readonly DecisionLine[],
  kinds: readonly CandidateKind[],
  slowMs: number,
): Candidate[] {
  const { block, startedAt } = evidence;
  const proposedMs = block.proposed_at - startedAt;
  const of: Record<CandidateKind, () => Candidate[]> = {
    meme: () => memesOf(evidence, lines),
    agent: () => agentsOf(evidence, lines, proposedMs),
    alliance: () => alliancesOf(evidence, proposedMs, slowMs + WINDOWS_MS),
  };
  const ranked = kinds.map((kind) => of[kind]().sort((a, b) => b.votes - a.votes));
  const longest = Math.max(0, ...ranked.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    ranked.flatMap((list) => list[at] ?? []),
  ).flat();
}

/**
 * Returns memes as candidates. A meme is muted before any agent receives it, because no message
 * arrives at the instant of posting.
 */
function memesOf({ memes, startedAt }: Evidence, lines: readonly DecisionLine[]): Candidate[] {
  const turned = turnedBy(lines);
  return memes.map((meme) => {
    const fromMs = meme.posted_at - startedAt + 1;
    return {
      kind: 'meme',
      id: meme.meme_id,
      name: `by ${meme.author}`,
      votes: turned.get(meme.meme_id) ?? 0,
      intervention: { kind: 'mute', meme: meme.meme_id, at_ms: fromMs },
      fromMs,
    };
  });
}

/** Returns agents as candidates. Early votes reach the most agents, so early voters rank higher. */
function agentsOf(
  { electors, votes, memes }: Evidence,
  lines: readonly DecisionLine[],
  proposedMs: number,
): Candidate[] {
  const turned = turnedBy(lines);
  const order = new Map(votes.map(({ elector }, place) => [elector, place]));
  return electors.map(({ agent_id, name }, elector) => {
    const place = order.get(elector);
    const own = memes.filter(({ creator }) => creator === agent_id);
    const fromMs = proposedMs + 1;
    return {
      kind: 'agent',
      id: agent_id,
      name,
      votes:
        own.reduce((sum, { meme_id }) => sum + (turned.get(meme_id) ?? 0), 0) +
        (place === undefined ? 0 : 2 - place / votes.length),
      intervention: { kind: 'silence', whom: [{ agent: name }], at_ms: fromMs },
      fromMs,
    };
  });
}

/**
 * Returns alliances as candidates. An alliance is dissolved as late as possible, because it must be
 * active but its members must leave before the proposal.
 */
function alliancesOf(
  { alliances, electors, votes, startedAt }: Evidence,
  proposedMs: number,
  leadMs: number,
): Candidate[] {
  const voters = new Set(votes.map(({ elector }) => electors[elector]!.agent_id));
  return alliances.map(({ alliance_id, purpose, members, since }) => ({
    kind: 'alliance',
    id: alliance_id,
    name: purpose,
    votes: members.filter((id) => voters.has(id)).length,
    intervention: {
      kind: 'dissolve',
      alliance: alliance_id,
      at_ms: Math.max(since - startedAt + 1, proposedMs - leadMs),
    },
    fromMs: proposedMs + 1,
  }));
}

function turnedBy(lines: readonly DecisionLine[]): Map<string, number> {
  const turned = new Map<string, number>();
  for (const { turned_by } of lines) {
    for (const id of turned_by ?? []) turned.set(id, (turned.get(id) ?? 0) + 1);
  }
  return turned;
}

/**
 * Repeats the run up to the block, and returns the decisions about the block.
 * @throws {ScenarioError} if the run cannot be reproduced.
 */
async function runAgain(
  store: Store,
  evidence: Evidence,
  { folder: run, result: { scenario, seed }, source: folder }: KeptRun,
): Promise<DecisionLine[]> {
  const { block } = evidence;
  const lines: DecisionLine[] = [];
  const again = await simulate(
    { ...scenario, measure: { ...scenario.measure, votes: false } },
    {
      ...{ seed, verifier: 'off', store: 'memory', audit: false, watch: block.block_hash, folder },
      ...(describeExternals(scenario) === '' ? {} : { deciders: { cassette: run } }),
    },
    { onDecision: (line) => void (line.block === block.ordinal && lines.push(line)) },
  );
  const last = again.entries - 1;
  const [stored] = storedLines(store, last, last);
  if (stored?.logDigest === again.log_digest) return lines;
  const why = 'another version of folkmoot made it, or a script is not deterministic';
  throw new ScenarioError(`run not reproducible up to entry ${last}; ${why}`);
}
