/**
 * Ablation by forks: the run once more up to the block, then many times on with other chance, in
 * pairs that have the same chance and differ in one thing that is left out.
 */
import { StoreError } from '../../../engine/internal.js';
import { type Job, type Outcome, runJobs } from '../../run/jobs/index.js';
import type { Intervention } from '../../scenario/schema/interventions/interventions.js';
import type { Scenario } from '../../scenario/schema/scenario.js';
import type { Candidate } from './candidates.js';
import {
  detectableWith,
  type Effect,
  effectOf,
  type Judgement,
  judgeLook,
  LEVEL,
  looksOf,
  type Pairs,
} from './effects.js';

export interface AblationOptions {
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
export async function ablate(
  scenario: Scenario,
  candidates: readonly Candidate[],
  options: AblationOptions,
): Promise<Ablation> {
  const { replicates, mostReplicates = replicates, margin = null } = options;
  const sizes = looksOf(replicates, Math.max(replicates, mostReplicates));
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
  const effect: Effect | typeof unknown = measured ? effectOf(pairs, looks) : unknown;
  const detectable = detectableWith(replicates, LEVEL / (looks * candidates));
  return { ...candidate, ...pairs, ...effect, intervention, acted, measured, detectable };
}

const unknown = { difference: null, low: null, high: null, p: null } as const;
