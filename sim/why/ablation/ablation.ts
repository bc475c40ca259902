/**
 * Ablation by forks: the run once more up to the block, then many times on with other chance, in
 * pairs that have the same chance and differ in one thing that is left out.
 */
import { StoreError } from '../../../engine/internal.js';
import { type Job, type Outcome, runJobs } from '../../run/jobs/index.js';
import type { Intervention } from '../../scenario/schema/interventions/interventions.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Candidate } from './candidates.js';
import { detectableWith, type Effect, effectOf, holm, type Pairs } from './effects.js';

/** The chance that something is found where nothing has an effect, over all that is tried. */
const LEVEL = 0.05;

export interface AblationOptions {
  /** With which the run was made. */
  seed: string;
  /** From where modules of scripts and data files are found. */
  folder?: string;
  block: string;
  replicates: number;
  /** How many run at a time; default: one a core. */
  jobs?: number;
  signal?: AbortSignal;
  /** Called before the first fork, and after each. */
  onProgress?: (done: number, of: number) => void;
}

export interface AblationRow extends Omit<Candidate, 'fromMs' | 'intervention'>, Pairs {
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
  p_holm: number | null;
  significant: boolean;
}

export interface Ablation {
  level: number;
  replicates: number;
  /** Runs that were made. */
  forks: number;
  /**
   * The smallest change of the chance that a candidate's pairs find with a probability of 0.8, when
   * all pairs that differ do so one way; null when no change is large enough.
   */
  detectable: number | null;
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
export async function ablate(
  scenario: Scenario,
  candidates: readonly Candidate[],
  options: AblationOptions,
): Promise<Ablation> {
  const forks = [...forksOf(scenario, candidates, options)];
  const arms = new Map<string, Arm>();
  const { jobs, signal, onProgress } = options;
  onProgress?.(0, forks.length);
  await runJobs(forks, {
    ...(jobs === undefined ? {} : { jobs }),
    ...(signal ? { signal } : {}),
    onDone(fork, outcome) {
      arms.set(nameOf(fork), armOf(outcome, fork, candidates));
      onProgress?.(arms.size, forks.length);
    },
  });
  const rows = candidates.map((candidate, at) => rowOf(candidate, at, options.replicates, arms));
  const { replicates } = options;
  const detectable = detectableWith(replicates, LEVEL / Math.max(1, rows.length));
  return { level: LEVEL, replicates, forks: forks.length, detectable, rows: judged(rows) };
}

/** All count in Holm's correction, also those that are not measured: as if nothing was found. */
function judged(rows: readonly Omit<AblationRow, 'p_holm' | 'significant'>[]): AblationRow[] {
  const adjusted = holm(rows.map(({ p }) => p ?? 1));
  const all = rows.map((row, at) => {
    const p_holm = row.measured ? adjusted[at]! : null;
    return { ...row, p_holm, significant: p_holm !== null && p_holm <= LEVEL };
  });
  return all.sort(
    (a, b) =>
      Number(b.measured) - Number(a.measured) ||
      (a.p_holm ?? 1) - (b.p_holm ?? 1) ||
      (a.p ?? 1) - (b.p ?? 1) ||
      Math.abs(b.difference ?? 0) - Math.abs(a.difference ?? 0) ||
      b.votes - a.votes,
  );
}

/** Candidates that leave the run at the same moment share the runs with everything. */
function* forksOf(
  scenario: Scenario,
  candidates: readonly Candidate[],
  { seed, folder, block, replicates }: AblationOptions,
): Iterable<Fork> {
  const common = { seed, audit: false, watch: block, ...(folder === undefined ? {} : { folder }) };
  const moments = new Set(candidates.map(({ fromMs }) => fromMs));
  for (let replicate = 0; replicate < replicates; replicate += 1) {
    for (const fromMs of moments) {
      const whole = forkOf(scenario, fromMs, replicate, []);
      yield { ...common, scenario: whole, candidate: null, fromMs, replicate };
    }
    for (const [candidate, { fromMs, intervention }] of candidates.entries()) {
      const without = forkOf(scenario, fromMs, replicate, [intervention]);
      yield { ...common, scenario: without, candidate, fromMs, replicate };
    }
  }
}

/** A signature that is made and not checked is the same one. */
function forkOf(
  scenario: Scenario,
  fromMs: number,
  replicate: number,
  added: readonly Intervention[],
): Scenario {
  const redraw = { kind: 'redraw', seed: `why/${replicate}`, at_ms: fromMs } as const;
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
    throw new StoreError('FAILED', `a fork, ${which}, did not end: ${outcome.failure.message}`);
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
  replicates: number,
  arms: ReadonlyMap<string, Arm>,
) {
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
  const effect: Effect | typeof unknown = measured ? effectOf(pairs) : unknown;
  return { ...candidate, ...pairs, ...effect, intervention, acted, measured };
}

const unknown = { difference: null, low: null, high: null, p: null } as const;
