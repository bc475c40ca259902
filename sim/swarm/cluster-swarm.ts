/**
 * A swarm of simulated clusters: draws plans by seed, runs each until one fails, and shrinks that
 * plan. Runs a share of the plans twice, because a plan determines its run.
 */
import { type ClusterPlan, planReducers } from './cluster-plan.js';
import { type ClusterRun, type ClusterRunOptions, runCluster } from './cluster-world.js';
import { isSame, type RunFailure } from './failures.js';
import { shrinkGreedily } from './shrink.js';
import { StepWatch } from './step-watch.js';

export interface ClusterSwarmOptions {
  /** Number of plans, with the seeds from `first` on. */
  seeds: number;
  first: number;
  /** Returns the plan of a seed. */
  plan: (seed: number) => ClusterPlan;
  /** Runs each plan twice, and compares their draws. */
  checkDeterminism: boolean;
  signal: AbortSignal;
  /** Called before each plan. The swarm ends if the function returns false. */
  goesOn: () => boolean;
  onProgress(done: number): void;
  onShrink(tried: number, faults: number): void;
}

/** Failed plan, as drawn and as shrunk, with the run of the smallest plan. */
export interface ClusterSwarmFailure {
  drawn: ClusterPlan;
  failure: RunFailure;
  run: ClusterRun;
  tries: number;
}

export interface ClusterSwarmResult {
  ran: number;
  twice: number;
  steps: number;
  virtualMs: number;
  acknowledged: number;
  entries: number;
  /** Number of faults by kind. */
  faults: Record<string, number>;
  failure: ClusterSwarmFailure | null;
}

/** Interval at which a plan is run twice. */
const TWICE = 10;
const SHRINK_TRIES = 300;

/** Runs drawn plans, one at a time, and shrinks the first plan that fails. */
export async function clusterSwarm(options: ClusterSwarmOptions): Promise<ClusterSwarmResult> {
  const watch = new StepWatch();
  try {
    return await runAll(options, watch);
  } finally {
    watch.close();
  }
}

async function runAll(options: ClusterSwarmOptions, watch: StepWatch): Promise<ClusterSwarmResult> {
  const { seeds, first, signal, goesOn, onProgress } = options;
  const result: ClusterSwarmResult = {
    ...{ ran: 0, twice: 0, steps: 0, virtualMs: 0, acknowledged: 0, entries: 0 },
    ...{ faults: {}, failure: null },
  };
  for (let seed = first; seed < first + seeds; seed += 1) {
    if (signal.aborted || !goesOn()) break;
    const drawn = options.plan(seed);
    const isTwice = options.checkDeterminism || seed % TWICE === 0;
    watch.begin(seed);
    const { onStep } = watch;
    const { run, failure } = await judge(drawn, isTwice, {
      keepDraws: options.checkDeterminism,
      onStep,
    });
    result.ran += 1;
    if (isTwice) result.twice += 1;
    result.steps += run.steps;
    result.virtualMs += run.virtualMs;
    result.acknowledged += run.counts.acknowledged;
    result.entries += run.counts.entries;
    for (const { kind } of drawn.faults) result.faults[kind] = (result.faults[kind] ?? 0) + 1;
    onProgress(result.ran);
    if (!failure) continue;
    result.failure = await shrunk({ drawn, failure, run, tries: 0 }, options, onStep);
    break;
  }
  return result;
}

/** Runs a plan once or twice, and returns the first run with its failure. */
async function judge(
  plan: ClusterPlan,
  isTwice: boolean,
  options: ClusterRunOptions,
): Promise<{ run: ClusterRun; failure: RunFailure | null }> {
  const run = await runCluster(plan, options);
  if (run.failure || !isTwice) return { run, failure: run.failure };
  const again = await runCluster(plan, options);
  return { run, failure: findDifference(run, again) };
}

/** Compares two runs of one plan: first their draws, then all that happened. */
function findDifference(one: ClusterRun, other: ClusterRun): RunFailure | null {
  const length = Math.max(one.draws.length, other.draws.length);
  for (let at = 0; at < length; at += 1) {
    const [before, after] = [one.draws[at] ?? 'none', other.draws[at] ?? 'none'];
    if (before === after) continue;
    const message = `draw ${at} differs: ${before}; ${after}`;
    return { kind: 'nondeterminism', sign: 'draws', message };
  }
  if (one.digest === other.digest) return null;
  const at = one.timeline.findIndex((line, index) => line !== other.timeline[index]);
  const message = `the runs differ: ${one.timeline[at]}; ${other.timeline[at]}`;
  return { kind: 'nondeterminism', sign: 'timeline', message };
}

async function shrunk(
  found: ClusterSwarmFailure,
  { signal, onShrink }: ClusterSwarmOptions,
  onStep: () => void,
): Promise<ClusterSwarmFailure> {
  const best = { ...found };
  const { kind } = found.failure;
  await shrinkGreedily(found.drawn, planReducers, {
    goesOn: () => best.tries < SHRINK_TRIES && !signal.aborted,
    accept: async (plan) => {
      best.tries += 1;
      const isTwice = kind === 'nondeterminism';
      const { run, failure } = await judge(plan, isTwice, { keepDraws: isTwice, onStep });
      if (!failure || !isSame(found.failure, failure)) return false;
      Object.assign(best, { run, failure });
      onShrink(best.tries, plan.faults.length);
      return true;
    },
  });
  return best;
}
