/** Options and hooks for a run in virtual time, and its network's genesis. */
import type { KnownGraph } from '../../api/contract/run.js';
import type { GenesisOptions } from '../../engine/admit/genesis.js';
import type { VerifierKind } from '../../engine/crypto/pool.js';
import type { Network } from '../../engine/node/network.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Provenance } from '../../report/folder.js';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import type { GivenModules } from '../agents/script/scripts.js';
import type { DecisionLine } from '../measure/decisions.js';
import { scenarioError } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Progress } from './ending.js';

/** 2025-01-01T00:00:00Z, the start of all runs in virtual time. */
export const START_MS = 1_735_689_600_000;

/** Run options. Only seed, folder, deciders, log and watch affect the result. */
export interface SimOptions {
  /** Replaces the scenario's seed. Keys derive from it: the same seed gives the same agents. */
  seed?: string;
  /** Signature verifier. Scenarios without verified signatures use `off`. */
  verifier?: VerifierKind;
  /** Most threads of the verifier `pool`. Default: all cores but two. */
  verifyThreads?: number;
  /** Folder in which to save log, state and tables. */
  out?: string;
  /** Base folder for script modules. */
  folder?: string;
  /** Store used without `out`: a temporary LMDB, or memory. */
  store?: 'lmdb' | 'memory';
  /** False disables the auditor. */
  audit?: boolean;
  /**
   * `none` runs without a log: no requests, digests or store. All measures are the same, and the
   * result has the same `trace_digest`, but an empty `digest`. Excludes `out`, `verifier`, `store`
   * and watching. Default: `full`.
   */
  log?: 'full' | 'none';
  /** Hash of a block at whose closing the run ends. The result's `watched` is its status. */
  watch?: string;
  /** Time limit per script call in milliseconds of wall time. Default: 10 s. */
  scriptMs?: number;
  /** Script modules that the caller has prepared for many runs. @internal */
  modules?: GivenModules;
  /** Source of external deciders' answers. Required if the scenario uses external deciders. */
  deciders?: DeciderOptions;
}

/** Run hooks. */
export interface SimHooks {
  /** Called when more blocks have closed. The reported state is durable. */
  onProgress?: (progress: Progress) => void;
  /** Receives notes for the user, one line each. */
  onNote?: (note: string) => void;
  /** Ends the run early with `Interrupted`. */
  signal?: AbortSignal;
  /** Called with the reasons for each accepted vote. */
  onDecision?: (line: DecisionLine) => void;
  /** Provenance, saved with the result. */
  made?: Provenance;
  /**
   * Called with the network before the run, and awaited. The returned function is called and
   * awaited before the network closes. Observers must not write.
   */
  onNetwork?: (network: Network) => Promise<() => Promise<void>>;
  /** Called once with the social graph and the labels of options, before the run. */
  onGraph?: (graph: KnownGraph, labels: Record<string, string>) => void;
  /**
   * Awaited before each window of virtual time. The window starts at `now` or later (Unix time in
   * milliseconds). Delays do not change the log.
   */
  pace?: (now: number) => Promise<void> | undefined;
  /** Awaited when all windows are done and durable, while the network is still open. */
  onOver?: () => Promise<void> | undefined;
}

/** Hooks that inject faults in tests. */
export interface FaultHooks extends SimHooks {
  /** Changes requests in flight. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}

export function toGenesisOptions({ consensus, signatures }: Scenario): GenesisOptions {
  const { participation, dormant_share, rule, ...rest } = consensus;
  const { file, ...options } = rule ?? {};
  if (file !== undefined) throw scenarioError('UNKNOWN_FOLDER', { file });
  return {
    network_id: 'folkmoot-sim',
    ...rest,
    dormant_share_max: Math.round(dormant_share * 10_000),
    participation_bps: Math.round(participation * 10_000),
    ...(rule ? { rule: options } : {}),
    ...(signatures === 'none' ? { signatures } : {}),
  };
}
