/**
 * Shrinks a scenario that fails: takes every smaller one that still fails alike, until none does or
 * the tries are used up. Greedy, and the same each time.
 */
import { type JobLimits, JobWorker, type Outcome } from '../run/jobs/index.js';
import { ScenarioError } from '../scenario/problem.js';
import { completeScenario } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { differenceOf, digestOf, failureIn, isSame, type RunFailure } from './failures.js';
import { reducers } from './reduce.js';
import type { Raw } from './terms.js';

export interface ShrinkOptions extends JobLimits {
  /** Runs at the most. */
  tries: number;
  signal: AbortSignal;
  onTry?: (tried: number, agents: number) => void;
}

export interface Shrunk {
  raw: Raw;
  /** Of the smallest scenario: the same kind and sign. */
  failure: RunFailure;
  tries: number;
}

export async function shrink(
  raw: Raw,
  failure: RunFailure,
  options: ShrinkOptions,
): Promise<Shrunk> {
  const worker = new JobWorker(options);
  const best: Shrunk = { raw, failure, tries: 0 };
  const goesOn = () => best.tries < options.tries && !options.signal.aborted;
  const accept = async (candidate: Raw): Promise<boolean> => {
    const scenario = completed(candidate);
    if (!scenario) return false;
    best.tries += 1;
    const found = await failureOf(scenario, failure, worker, options.signal);
    // What ends a run early looks like a crash.
    if (options.signal.aborted || !found || !isSame(failure, found)) return false;
    Object.assign(best, { raw: candidate, failure: found });
    options.onTry?.(best.tries, scenario.population);
    return true;
  };
  try {
    for (let before: Raw | null = null; before !== best.raw && goesOn(); ) {
      before = best.raw;
      for (const reducer of reducers) {
        for (let index = 0; goesOn(); ) {
          const candidate = reducer(best.raw)[index];
          if (!candidate) break;
          if (!(await accept(candidate))) index += 1;
        }
      }
    }
  } finally {
    await worker.close();
  }
  return best;
}

/** A smaller scenario may be none: a group without producers, say. */
function completed(raw: Raw): Scenario | null {
  try {
    return completeScenario(raw);
  } catch (error) {
    if (error instanceof ScenarioError) return null;
    throw error;
  }
}

async function failureOf(
  scenario: Scenario,
  { kind }: RunFailure,
  worker: JobWorker,
  signal: AbortSignal,
): Promise<RunFailure | null> {
  const run = (): Promise<Outcome> => worker.run({ scenario, seed: scenario.seed }, signal);
  const outcome = await run();
  if (kind !== 'nondeterminism') return failureIn(scenario, outcome);
  return differenceOf(digestOf(outcome), digestOf(await run()));
}
