/** Terms that the parts of the scenario schema share. */
import { Type } from '../../../engine/internal.js';

/** A fraction of one. */
export const Share = (description: string, standard?: number) =>
  Type.Number({
    minimum: 0,
    maximum: 1,
    description: `share ${description}`,
    ...(standard === undefined ? {} : { default: standard }),
  });

/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number, description: string, standard?: number) =>
  Type.Integer({
    minimum,
    maximum,
    description,
    ...(standard === undefined ? {} : { default: standard }),
  });

export const GroupName = (description: string) =>
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$', description });
