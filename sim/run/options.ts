/** The options and hooks of a run in virtual time, and the genesis of its network. */
import type { KnownGraph } from '../../api/contract/run.js';
import type { VerifierKind } from '../../engine/crypto/create-verifier.js';
import type { Network } from '../../engine/node/network.js';
import type { GenesisOptions } from '../../engine/node/open-store.js';
import type { SignedRequest } from '../../engine/protocol/schema/entry.js';
import type { Provenance } from '../../report/folder.js';
import type { DeciderOptions } from '../agents/deciders/deciders.js';
import type { DecisionLine } from '../measure/decisions.js';
import type { Scenario } from '../scenario/schema/scenario.js';
import type { Progress } from './ending.js';

/** 2025-01-01T00:00:00Z: a run begins at the same instant whenever it runs. */
export const START_MS = 1_735_689_600_000;

/** How a run is made: nothing of it changes what comes out, but seed, folder and deciders. */
export interface SimOptions {
  /** Instead of the scenario's. */
  seed?: string;
  /** Who checks signatures; a scenario whose signatures are not verified takes `off`. */
  verifier?: VerifierKind;
  /** Keeps log, state and tables there. */
  out?: string;
  /** Where script modules are found. */
  folder?: string;
  /** Without `out`: an LMDB that is gone afterwards, or memory. */
  store?: 'lmdb' | 'memory';
  /** Leaves the auditor out. */
  audit?: boolean;
  /** Ends the run when this block has closed: `watched` of the result says how. */
  watch?: string;
  /** What one call of a script may take, in milliseconds of the wall; default: 10 s. */
  scriptMs?: number;
  /** Where the answers of external deciders come from; a scenario that has some needs it. */
  deciders?: DeciderOptions;
}

/** What looks on while a run is made. */
export interface SimHooks {
  /** Called when more blocks have closed; what it shows is durable. */
  onProgress?: (progress: Progress) => void;
  /** What whoever runs it should know, in one line. */
  onNote?: (note: string) => void;
  /** Ends the run early, with `Interrupted`. */
  signal?: AbortSignal;
  /** Called with what each vote that counted rested on. */
  onDecision?: (line: DecisionLine) => void;
  /** What made the run: kept with its result. */
  made?: Provenance;
  /**
   * Called with the network before anything happens on it, and waited for; what it gives is called,
   * and waited for, before the network closes. Whoever looks must not write.
   */
  onNetwork?: (network: Network) => Promise<() => Promise<void>>;
  /** Called once with who hears whom, before anything happens. */
  onGraph?: (graph: KnownGraph) => void;
  /**
   * Waited for before each window of virtual time, which begins at `now` or later (milliseconds
   * since 1970): how long that takes changes no entry.
   */
  pace?: (now: number) => Promise<void> | undefined;
  /** Waited for once all windows are over, and durable: the network is still open. */
  onOver?: () => Promise<void> | undefined;
}

/** The same, and faults for tests. */
export interface FaultHooks extends SimHooks {
  /** Changes requests on their way. */
  inTransit?: (request: SignedRequest) => SignedRequest;
}

export function toGenesisOptions({ consensus, signatures }: Scenario): GenesisOptions {
  const { participation, dormant_share, ...rest } = consensus;
  return {
    network_id: 'folkmoot-sim',
    ...rest,
    dormant_share_max: Math.round(dormant_share * 10_000),
    participation_bps: Math.round(participation * 10_000),
    ...(signatures === 'none' ? { signatures } : {}),
  };
}
