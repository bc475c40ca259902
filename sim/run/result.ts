/** What a run gives: its figures, and the digests that the same scenario and seed reproduce. */
import type { VerifierKind } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { Measures } from '../measure/dictionary.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { RuleViolation } from '../world/virtual/watch.js';

/** `safety`: the auditor saw the network break one of its own rules. */
export type Verdict = 'pass' | 'no_progress' | 'safety';

/** summary.json of a kept run. */
export interface SimResult extends Partial<Provenance> {
  seed: string;
  /** All defaults filled in. */
  scenario: Scenario;
  /** sha256 of each module that a group's strategy loads, by its path in the scenario. */
  modules: Record<string, string>;
  /** Where the network is served, and how fast the agents' time passed; absent in a simulation. */
  url?: string;
  speed?: number;
  verifier: VerifierKind | 'server';
  verdict: Verdict;
  broken: RuleViolation | null;
  /** Both are '' for a run on a server: its log is there, and others write to it too. */
  digest: string;
  log_digest: string;
  measures: Measures;
  /** Genesis included; on a server, those that came while the run went on. */
  entries: number;
  events: number;
  /** Signatures that the verifier found valid. */
  verified: number;
  commits: number;
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  virtual_ms: number;
  wall_ms: number;
  votes_per_s: number;
  peak_rss_bytes: number;
}
