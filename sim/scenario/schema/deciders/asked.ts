/** What all deciders outside of the process share: when they are asked, and how patiently. */
import { Type } from '../../../../engine/internal.js';
import { about, whole } from '../terms.js';

/** When a decider may be asked: the functions that a script may have. */
export const occasions = [
  ...(['start', 'hear', 'vote', 'produce', 'mingle', 'invited', 'wake', 'receive'] as const),
];

/** Names an environment variable. */
export const variableName = { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' } as const;

/** Of every decider. */
export const asked = {
  asks: Type.Array(Type.Enum(occasions), {
    minItems: 1,
    maxItems: occasions.length,
    uniqueItems: true,
    default: ['vote'],
    ...about('when it is asked; at all other times its agents act by their personality'),
  }),
  parameters: Type.Record(Type.String(), Type.Unknown(), {
    default: {},
    ...about('shown to it with each question'),
  }),
  timeout_ms: whole(1, 3_600_000, 'of the wall, for one call', 30_000),
  retries: whole(0, 10, 'calls after one that gave no answer that can be used', 2),
  backoff_ms: whole(0, 60_000, 'of the wall, before the second call; then twice as long', 500),
};
