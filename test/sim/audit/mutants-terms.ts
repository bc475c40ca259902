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

/** Builds bugs in one file: `place` is the code around `«was → is»`. */
export const bugIn =
  (file: string) =>
  (name: string, place: string, more: Pick<Mutant, 'genesis' | 'rule'> = {}): Mutant => {
    const [, head = '', was = '', is = '', tail = ''] = /^(.*)«(.*) → (.*)»(.*)$/.exec(place)!;
    // `seeded` compares the values, so a condition becomes a boolean.
    const value = is === 'true' || is === 'false' ? `Boolean(${was})` : was;
    const becomes = `${head}seeded(${value}, ${is})${tail}`;
    return { name, file, find: `${head}${was}${tail}`, becomes, ...more };
  };

export const bft = { policy: 'bft', weights: 'equal', voting_period_ms: 30_000 } as const;
/** Network without a limit on dormancy. */
export const whole = { dormant_share_max: 10_000 } as const;
