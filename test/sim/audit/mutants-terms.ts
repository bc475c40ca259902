/** Type of a seeded bug, and networks that several bugs share. */
import type { GenesisOptions } from 'folkmoot';

export interface Mutant {
  name: string;
  /** Under dist/engine. */
  file: string;
  /** Text that occurs exactly once. */
  find: string;
  becomes: string;
  /** Networks in which the bug has an effect. */
  genesis?: Partial<GenesisOptions>;
  /** Safety rule that must find the bug without the model. */
  rule?: string;
}

export const bft = { policy: 'bft', weights: 'equal', voting_period_ms: 30_000 } as const;
/** Network without a limit on dormancy. */
export const whole = { dormant_share_max: 10_000 } as const;
