/** The options of a run, their defaults and bounds. */
import type { Policy, VerifierKind, Weights } from '../engine/index.js';

export interface SimOptions {
  seed: string;
  agents: number;
  /** Blocks that must have closed when the run ends. */
  blocks: number;
  policy: Policy;
  weights: Weights;
  verifier: VerifierKind;
  /** Keeps log, state and tables there. */
  out?: string;
}

export const simDefaults: SimOptions = {
  seed: '1',
  agents: 1_000,
  blocks: 100,
  policy: 'bft',
  weights: 'equal',
  verifier: 'pool',
};

export const simBounds = {
  agents: { least: 1, most: 1_000_000 },
  blocks: { least: 1, most: 1_000_000 },
} as const;
