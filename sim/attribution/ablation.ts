/**
 * Attribution of a block of a kept run: the run is made again up to the block, and forked without
 * each candidate, a meme, an agent or an alliance, that may have mattered. A server's folder has no
 * run that could be made again.
 */

import { storedLines } from '../../engine/replay/lines.js';
import { type Store, StoreError } from '../../engine/store/store.js';
import { type KeptRun, readKept, readKeptResult } from '../fork/kept-run.js';
import type { DecisionLine } from '../measure/decisions.js';
import { type Job, type Outcome, runJobs } from '../run/jobs.js';
import { simulate } from '../run/simulate.js';
import { loadData } from '../scenario/files.js';
import { listExternals } from '../scenario/population.js';
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
import { collectEvidence, type Evidence, type MemeAbout } from './evidence.js';

/** What was asked for. */
export interface AttributionOptions {
  /** From where modules of scripts and data files are found. */
  folder?: string;
  kinds: readonly CandidateKind[];
  /** So many candidates are tried at most. */
  most: number;
  /** Pairs at the first look, and at most; the largest effect that counts as none. */
  replicates: number;
  mostReplicates?: number;
  margin?: number;
  jobs?: number;
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

export interface Attribution {
  /** What each vote that counted rested on. */
  decisions: DecisionLine[];
  /** Memes, agents and alliances that could be left out. */
  candidates: number;
  ablation: Ablation;
}

/**
 * @returns null for a folder that is no kept run.
 * @throws {ScenarioError} when the run is not the same again, a script or data file is another one
 * by now, or deciders outside of the simulation take part.
 * @throws {StoreError} when a fork does not end.
 */
export async function attribute(
  store: Store,
  run: string,
  named: string,
  { folder, kinds, most, ...options }: AttributionOptions,
): Promise<Attribution | null> {
  const result = readKeptResult(run);
  if (!result) return null;
  expectNobodyOutside(result.scenario);
  const kept = readKept(run, folder);
  const evidence = collectEvidence(store, run, named);
  const decisions = await runAgain(store, evidence, kept);
  const { traces } = loadData(result.scenario, kept.source);
  const { slowMs } = createLatencies(result.scenario, traces);
  const candidates = candidatesOf(evidence, decisions, kinds, slowMs);
  const ablation = await ablate(result.scenario, candidates.slice(0, most), {
    ...options,
    folder: kept.source,
    seed: result.seed,
    block: evidence.block.block_hash,
  });
  return { decisions, candidates: candidates.length, ablation };
}

/** With other chance they would see something else, and each fork would ask them all again. */
function expectNobodyOutside(scenario: Scenario): void {
  const groups = listExternals(scenario).map(
    ({ group, strategy }) => `${group} (${strategy.kind})`,
  );
  if (groups.length === 0) return;
  const why = `deciders outside of the simulation decide for ${groups.join(', ')}`;
  const how =
    'expected --mechanical, or folkmoot fork --replicates --record for one thing left out';
  throw new ScenarioError(`${why}, and each fork would ask them anew: ${how}`);
}

/*
 * After the run once more up to the block come many forks with other chance, in pairs that have the
 * same chance and differ in one candidate that is left out.
 */

interface AblationOptions {
  /** With which the run was made. */
  seed: string;
  /** From where modules of scripts and data files are found. */
  folder?: string;
  block: string;
  /** Pairs of each candidate at the first look. */
  replicates: number;
  /** Pairs at most: they are doubled while a candidate is open. Default: `replicates`. */
  mostReplicates?: number;
  /** Also tests that effects are smaller than this; a candidate that is shown to be is not open. */
  margin?: number;
  /** How many run at a time; default: one a core. */
  jobs?: number;
  signal?: AbortSignal;
  /** Called before the first fork, and after each. */
  onProgress?: (done: number, of: number) => void;
}

export interface AblationRow extends Omit<Candidate, 'fromMs' | 'intervention'>, Pairs, Judgement {
  /** What left it out, as a scenario has it. */
  intervention: Intervention;
  /** Pairs in which the intervention was in force when the block was proposed or discussed. */
  acted: number;
  /** It acted in all pairs. Where it did not, pairs say nothing of its effect: members are null. */
  measured: boolean;
  difference: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  /**
   * The smallest change of the chance that its pairs find with a probability of 0.8, when all pairs
   * that differ do so one way; null when no change is large enough.
   */
  detectable: number | null;
}

export interface Ablation {
  level: number;
  /** Pairs of each candidate at the first look, and at most. */
  replicates: number;
  most_replicates: number;
  /** The number of looks that share the level. */
  looks: number;
  /** The largest effect that counts as none; null: that was not tested. */
  margin: number | null;
  /** Runs that were made. */
  forks: number;
  /** The most certain first. */
  rows: AblationRow[];
}

interface Fork extends Job {
  /** Null is with everything. */
  candidate: number | null;
  fromMs: number;
  replicate: number;
}

interface Arm {
  finalized: boolean;
  acted: boolean;
}

/**
 * @param scenario of the run, to which interventions are added.
 * @throws {StoreError} `FAILED` when a run that was forked did not end.
 */
async function ablate(
  scenario: Scenario,
  candidates: readonly Candidate[],
  options: AblationOptions,
): Promise<Ablation> {
  const { replicates, mostReplicates = replicates, margin = null } = options;
  const sizes = planLooks(replicates, Math.max(replicates, mostReplicates));
  const testing = { looks: sizes.length, margin };
  const arms = new Map<string, Arm>();
  let rows: Measured[] = [];
  let judgements: Judgement[] = [];
  let from = 0;
  for (const to of sizes) {
    const open = candidates.filter((_, at) => isOpen(rows[at], judgements[at]));
    if (open.length === 0) break;
    await runForks([...forksOf(scenario, candidates, open, { ...options, from, to })], {
      ...{ arms, candidates, options },
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

/** More pairs may still say something of it. */
function isOpen(row: Measured | undefined, judgement: Judgement | undefined): boolean {
  if (!row || !judgement) return true;
  return row.measured && !judgement.significant && !judgement.within_margin;
}

interface Look {
  /** The ends of all forks so far, to which these are added. */
  arms: Map<string, Arm>;
  candidates: readonly Candidate[];
  options: AblationOptions;
}

async function runForks(forks: readonly Fork[], { arms, candidates, options }: Look) {
  const { jobs, signal, onProgress } = options;
  const of = arms.size + forks.length;
  onProgress?.(arms.size, of);
  await runJobs(forks, {
    ...(jobs === undefined ? {} : { jobs }),
    ...(signal ? { signal } : {}),
    onDone(fork, outcome) {
      arms.set(nameOf(fork), armOf(outcome, fork, candidates));
      onProgress?.(arms.size, of);
    },
  });
}

/** The most certain first. */
const sorted = (rows: readonly AblationRow[]): AblationRow[] =>
  [...rows].sort(
    (a, b) =>
      Number(b.measured) - Number(a.measured) ||
      (a.p_holm ?? 1) - (b.p_holm ?? 1) ||
      (a.p ?? 1) - (b.p ?? 1) ||
      Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0) ||
      b.votes - a.votes,
  );

/** Candidates that leave the run at the same moment share the runs with everything. */
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
    // Of the run's own seed: other runs have other futures.
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

/** A signature that is made and not checked is the same one. */
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
    throw new StoreError('FORK_FAILED', { which, reason: outcome.failure.message });
  }
  const { watched, watched_alliances: allied, interventions = [] } = outcome.result;
  const did = (interventions.at(-1)?.did ?? 0) > 0;
  // A block that was never proposed is not the block whose chance is estimated.
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
 * Candidates are memes about the block, its electors, and alliances that were active when it was
 * proposed. They are ranked by the run as it went: the best few are tried.
 */

type CandidateKind = 'meme' | 'agent' | 'alliance';

interface Candidate {
  kind: CandidateKind;
  id: string;
  name: string;
  /** Votes of the run that hang on it directly: by which it is tried before others. */
  votes: number;
  /** What leaves it out. */
  intervention: Intervention;
  /** From when on chance is drawn anew, milliseconds of the run: the last moment before it acts. */
  fromMs: number;
}

/** The lead is longer than a slow message by this: two windows, in which members are called. */
const WINDOWS_MS = 100;

/**
 * Kinds in turn, the best of each first.
 *
 * @param slowMs how long a slow message takes: members' leaving has to arrive before the proposal.
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

/** Before anybody has heard of it: nothing travels within the instant in which it is posted. */
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

/** Whose votes come first are heard by most. */
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
        sumOf(own, ({ meme_id }) => turned.get(meme_id) ?? 0) +
        (place === undefined ? 0 : 2 - place / votes.length),
      intervention: { kind: 'silence', whom: [{ agent: name }], at_ms: fromMs },
      fromMs,
    };
  });
}

/** Dissolved as late as its members can leave before the proposal, but once it is active. */
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

const sumOf = (memes: readonly MemeAbout[], of: (meme: MemeAbout) => number): number =>
  memes.reduce((sum, meme) => sum + of(meme), 0);

/** @throws {ScenarioError} when it is not the same again. */
async function runAgain(
  store: Store,
  evidence: Evidence,
  { result: { scenario, seed }, source: folder }: KeptRun,
): Promise<DecisionLine[]> {
  const { block } = evidence;
  const lines: DecisionLine[] = [];
  const again = await simulate(
    { ...scenario, measure: { ...scenario.measure, votes: false } },
    {
      seed,
      verifier: 'off',
      store: 'memory',
      audit: false,
      watch: block.block_hash,
      folder,
    },
    { onDecision: (line) => void (line.block === block.ordinal && lines.push(line)) },
  );
  const last = again.entries - 1;
  const [stored] = storedLines(store, last, last);
  if (stored?.logDigest === again.log_digest) return lines;
  const why = 'another version of folkmoot made it, or a script is not pure';
  throw new ScenarioError(`the run is not the same again, up to entry ${last}: ${why}`);
}
