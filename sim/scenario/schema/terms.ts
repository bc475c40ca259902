/** Terms that the parts of the scenario schema share. */
import { Type } from '../../../engine/internal.js';

export const MOST_AGENTS = 200_000;
export const MOST_MS = 86_400_000_000;

export const strictly = { additionalProperties: false } as const;
/** A section that may be left out: its members have defaults. */
export const section = { ...strictly, default: {} } as const;

export const about = (description: string) => ({ description });

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

/** A kilobit a second is a bit a millisecond. */
export const UplinkKbps = (description: string) =>
  whole(1, 10_000_000, `kilobits a second that leave an uplink, ${description}`);

export const GroupName = (description: string) =>
  Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$', description });
