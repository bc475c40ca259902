/**
 * Attribution of a block of a kept run: the run is made again, and forked without whatever may have
 * mattered. A server's folder has no run that could be made again.
 */
import type { Store } from '../../engine/internal.js';
import { keptResult, readKept } from '../fork/index.js';
import type { DecisionLine } from '../measure/index.js';
import { externalsIn } from '../scenario/external.js';
import { loadData } from '../scenario/files/data.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import { latenciesOf } from '../world/links/latency/between.js';
import { type Ablation, ablate } from './ablation/ablation.js';
import { type CandidateKind, candidatesOf } from './ablation/candidates.js';
import { runAgain } from './ablation/run-again.js';
import { evidenceOf } from './evidence.js';

export const candidateKinds = ['meme', 'agent', 'alliance'] as const;

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
  const result = keptResult(run);
  if (!result) return null;
  expectNobodyOutside(result.scenario);
  const kept = readKept(run, folder);
  const evidence = evidenceOf(store, run, named);
  const decisions = await runAgain(store, evidence, kept);
  const { traces } = loadData(result.scenario, kept.source);
  const { slowMs } = latenciesOf(result.scenario, traces);
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
  const groups = externalsIn(scenario).map(({ group, strategy }) => `${group} (${strategy.kind})`);
  if (groups.length === 0) return;
  const why = `deciders outside of the simulation decide for ${groups.join(', ')}`;
  const how =
    'expected --mechanical, or folkmoot fork --replicates --record for one thing left out';
  throw new ScenarioError(`${why}, and each fork would ask them anew: ${how}`);
}
