/**
 * Before a sweep with scripts, or a shard of one: its first run is made twice, in processes and
 * by verifiers of their own. A script that draws its own chance would otherwise be found by whoever
 * runs the sweep again.
 */
import { compareRuns, type Determinism } from '../compare/index.js';
import { JobWorker, jobDefaults, usesDeciders } from '../run/jobs/index.js';
import { scriptModules } from '../scenario/files/modules.js';
import type { Extent } from './extent.js';
import { type Plan, type SweepTask, tasksOf } from './plan.js';

/** A first run that was made twice. */
export interface FirstRun {
  task: SweepTask;
  determinism: Determinism;
  /** The modules that take part in it. */
  scripts: string[];
}

class WithoutResult extends Error {}

interface Limits {
  wallMs?: number;
  signal?: AbortSignal;
}

/** Null where no script takes part, or one of the two has no result: the sweep will say so. */
export async function checkFirstRun(
  { plan, replicates, share }: Extent<Plan>,
  limits: Limits,
): Promise<FirstRun | null> {
  const { wallMs = jobDefaults.wallMs, signal = new AbortController().signal } = limits;
  const [task] = tasksOf(plan, (cell) => replicates.of(cell), share);
  // There may be more shards than runs.
  if (!task) return null;
  const scripts = scriptModules(task.scenario);
  // What others decide is recorded, and not to be asked twice.
  if (scripts.length === 0 || usesDeciders(task)) return null;
  const worker = new JobWorker({ ...jobDefaults, wallMs });
  try {
    const determinism = await compareRuns(async (verifier, out) => {
      const outcome = await worker.run({ ...task, keep: { out, verifier } }, signal);
      if ('failure' in outcome) throw new WithoutResult(outcome.failure.message);
      return outcome.result;
    });
    return { task, determinism, scripts };
  } catch (error) {
    if (signal.aborted || error instanceof WithoutResult) return null;
    throw error;
  } finally {
    await worker.close();
  }
}

/** In a line, or null when it is the same again. */
export function differenceText({ determinism, scripts }: FirstRun): string | null {
  const { difference } = determinism;
  if (!difference) return null;
  const details = Object.entries(difference.details).map(([name, text]) => `${name} ${text}`);
  const where = [difference.where, ...details].join('; ');
  return `the run is not the same again, with ${scripts.join(', ')}: it parts at ${where}`;
}
