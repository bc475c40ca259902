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
  agents: { least: 1, most: 200_000 },
  blocks: { least: 1, most: 1_000_000 },
} as const;

/** @throws {RangeError} naming the option that is out of bounds. */
export function completeOptions(wanted: Partial<SimOptions>): SimOptions {
  const options = { ...simDefaults, ...wanted };
  for (const [name, { least, most }] of Object.entries(simBounds)) {
    const value = options[name as keyof typeof simBounds];
    if (Number.isInteger(value) && value >= least && value <= most) continue;
    throw new RangeError(`${name} is ${value}; expected a whole number from ${least} to ${most}`);
  }
  return options;
}
