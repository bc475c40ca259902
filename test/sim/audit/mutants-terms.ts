/** What a seeded bug is, and the networks that several of them show in. */
import type { GenesisOptions } from 'folkmoot';

export interface Mutant {
  name: string;
  /** Under dist/engine. */
  file: string;
  /** Stands there exactly once. */
  find: string;
  becomes: string;
  /** The networks in which it shows. */
  genesis?: Partial<GenesisOptions>;
  /** The safety rule that must find it, without the model. */
  rule?: string;
}

export const bft = { policy: 'bft', weights: 'equal', voting_period_ms: 30_000 } as const;
/** Dormancy takes as many as it may. */
export const whole = { dormant_share_max: 10_000 } as const;
