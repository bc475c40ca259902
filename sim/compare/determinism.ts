/** Determinism check: runs a scenario twice and finds the first difference. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import type { LastingResult } from '../run/jobs.js';
import type { SimOptions } from '../run/options.js';
import type { SimResult } from '../run/result.js';
import { simulate } from '../run/simulate.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { type RunDifference, requireDifference } from './logs.js';

/** Verifiers to compare. The result must not depend on the verifier or its number of threads. */
export const comparedVerifiers = ['pool', 'inline'] as const;
type Compared = (typeof comparedVerifiers)[number];

/** Result of a determinism check. */
export interface Determinism {
  same: boolean;
  /** Digest of the first run. */
  digest: string;
  /** Null if both runs are identical. */
  difference: RunDifference | null;
}

/** Runs the scenario with the given verifier and saves the run in the folder. */
export type MakeRun = (verifier: Compared, folder: string) => Promise<SimResult>;

/**
 * Runs a scenario twice in this process, with different verifiers, and compares everything that
 * must be equal: entries, events, digests, verdict and measures. The check finds scripts that use
 * their own randomness or read a clock. `folkmoot sim --check-determinism` makes the two runs in
 * separate processes.
 *
 * @throws {ScenarioError} if a script cannot be loaded, throws, or returns an invalid command.
 * @throws {StoreError} if no temporary folder can be written.
 *
 * @example
 * ```ts
 * import { completeScenario } from 'folkmoot/sim';
 * import { checkDeterminism } from 'folkmoot/testing';
 *
 * const agents = [{ group: 'town', count: 20, producers: 2 }];
 * const scenario = completeScenario({ title: 'Small', agents, length: { blocks: 2 } });
 * const { same, difference } = await checkDeterminism(scenario, { seed: '7' });
 * console.log(same, difference); // true null
 * ```
 */
export function checkDeterminism(
  scenario: Scenario,
  options: Pick<SimOptions, 'seed' | 'folder' | 'audit'> = {},
): Promise<Determinism> {
  return compareRuns((verifier, out) => simulate(scenario, { ...options, verifier, out }));
}

/** Compares runs made by the caller, for example in separate processes. */
export async function compareRuns(make: MakeRun): Promise<Determinism> {
  const folder = await mkdtemp(join(tmpdir(), 'folkmoot-check-'));
  try {
    const runs: Made[] = [];
    for (const verifier of comparedVerifiers) {
      const kept = join(folder, verifier);
      runs.push({ verifier, folder: kept, result: await make(verifier, kept) });
    }
    const [a, b] = runs as [Made, Made];
    const difference = await differenceOf(a, b);
    return { same: difference === null, digest: a.result.digest, difference };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Made {
  verifier: Compared;
  folder: string;
  result: SimResult;
}

async function differenceOf(a: Made, b: Made): Promise<RunDifference | null> {
  const same = a.result.digest === b.result.digest && a.result.log_digest === b.result.log_digest;
  if (!same) return requireDifference(sideOf(a), sideOf(b));
  const found = resultDifference(a.result, b.result);
  if (!found) return null;
  const where = 'entries and events are the same, but results differ';
  return { where, details: { field: found.path, [a.verifier]: found.a, [b.verifier]: found.b } };
}

/** Members that must be equal in both runs. */
const sameMembers = [
  ...(['trace_digest', 'verdict', 'broken', 'measures', 'reported'] as const),
  ...(['entries', 'events', 'refused', 'virtual_ms'] as const),
];

/** Returns the first difference in what must be equal in both runs, or null. */
export function resultDifference(...results: [LastingResult, LastingResult]) {
  const [a, b] = results.map((result) =>
    Object.fromEntries(sameMembers.map((name) => [name, result[name] ?? null])),
  );
  return jsonDifference(a, b);
}

const sideOf = ({ verifier, folder }: Made) => ({ name: verifier, folder });
