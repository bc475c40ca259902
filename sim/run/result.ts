/** What a run gives: its figures, and the digests that the same scenario and seed reproduce. */
import type { BlockStatus, VerifierKind } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import type { DeciderFigures } from '../agents/deciders/index.js';
import type { Reported } from '../agents/script/index.js';
import type { MessageFigures } from '../measure/collect/traffic.js';
import type { Measures, Row } from '../measure/dictionary.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { MessageKind } from '../world/messages.js';
import type { RuleViolation } from '../world/virtual/watch.js';

/** `safety`: the auditor saw the network break one of its own rules. */
export type Verdict = 'pass' | 'no_progress' | 'safety';

/**
 * What ended a run: so many blocks, so much time, a condition of `length.until` (as
 * `until votes at_least 1000`), patience (`stalled`), a world in which nothing was due any more, or
 * a broken rule.
 */
export type EndedBy =
  | 'blocks'
  | 'virtual_ms'
  | `until ${string}`
  | 'stalled'
  | 'nothing_due'
  | 'safety';

/** When what is not to act acts. */
export const NEVER = 'never';

/** What became of an intervention. */
export interface Acted {
  /** What it is about and does, in words. */
  what: string;
  /** When it was to act, in words. */
  when: string;
  /** Time of the run at which it acted; null when the run ended before. */
  at_ms: number | null;
  /** The last entry of the log before it acted; null likewise. */
  entry: number | null;
  /** How much was otherwise: agents, memes, requests or values, by its kind. */
  did: number;
}

/** summary.json of a kept run. */
export interface SimResult extends Partial<Provenance> {
  seed: string;
  /** All defaults filled in. */
  scenario: Scenario;
  /** sha256 of each module that a group's strategy loads, by its path in the scenario. */
  modules: Record<string, string>;
  /** sha256 of each data file and prompt that the scenario names, by its path there. */
  files: Record<string, string>;
  /** Where the network is served, and how fast the agents' time passed; absent in a simulation. */
  url?: string;
  speed?: number;
  verifier: VerifierKind | 'server';
  verdict: Verdict;
  /** Which rule ended the run. One that was interrupted has no result. */
  ended_by: EndedBy;
  /** What the end cut short, in sentences: measures leave it out, or count it up to the end. */
  censored: string[];
  broken: RuleViolation | null;
  /** What became of the block that was watched; absent while it is open, or none was. */
  watched?: BlockStatus;
  /** Alliances that were active when that block was proposed; absent where it never was. */
  watched_alliances?: readonly string[];
  /** What became of each intervention of the scenario; absent where it has none. */
  interventions?: Acted[];
  /** Both are '' for a run on a server: its log is there, and others write to it too. */
  digest: string;
  log_digest: string;
  measures: Measures;
  /** Of each kind of message, as in messages.csv. */
  messages: Record<MessageKind, MessageFigures>;
  /** What external deciders cost, of a run that has some. */
  deciders?: DeciderFigures;
  /** What scripts measured themselves, of the run and by the names of their groups. */
  reported: Reported;
  /** Of each group, as in groups.csv. */
  groups: Row<'groups.csv'>[];
  /** Genesis included; on a server, those that came while the run went on. */
  entries: number;
  events: number;
  /** Signatures that the verifier found valid. */
  verified: number;
  commits: number;
  /** Requests that were not done, by reason. */
  refused: Record<string, number>;
  virtual_ms: number;
  /** When the warm-up ended, milliseconds of the run: 0 without one, null when it did not end. */
  measured_from_ms: number | null;
  wall_ms: number;
  votes_per_s: number;
  peak_rss_bytes: number;
}
