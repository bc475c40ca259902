/** How long a run is, what of it is measured, and what can end it before. */
import { Type } from '../../../engine/internal.js';
import { about, GroupName, MOST_MS, section, strictly, whole } from './terms.js';

/** Of a measure: a count or a fraction. */
const value = { minimum: 0, maximum: 2 ** 40 };

/** What a condition can look at: whatever can be said while the run goes on. */
export const conditionMeasures = [
  'proposed',
  'finalized',
  'rejected',
  'expired',
  'orphaned',
  'decided',
  'closed',
  'votes',
  'memes',
  'transactions',
  'finalized_share',
  'rejected_share',
  'expired_share',
  'orphaned_share',
  'agreement',
  'influence',
  'alliances_active',
  'reputation_mean',
] as const;

export type ConditionMeasure = (typeof conditionMeasures)[number];

export const Condition = Type.Object(
  {
    measure: Type.Enum([...conditionMeasures], {
      ...about(
        'what is looked at, after the warm-up; decided: finalized or rejected; shares: of the ' +
          'blocks closed so far',
      ),
    }),
    group: Type.Optional(GroupName('whose reputation_mean; left out: of the whole network')),
    reaches: Type.Optional(whole(1, 2 ** 40, 'short for at_least')),
    at_least: Type.Optional(
      Type.Number({ ...value, ...about('it holds at this value and above') }),
    ),
    at_most: Type.Optional(Type.Number({ ...value, ...about('it holds at this value and below') })),
    held_ms: Type.Optional(
      whole(0, MOST_MS, 'and has held for so long without a break; left out: 0'),
    ),
    held_blocks: Type.Optional(
      whole(0, 1_000_000, 'and so many blocks have closed meanwhile; left out: 0'),
    ),
  },
  { ...strictly, ...about('a condition') },
);

export const Length = Type.Object(
  {
    blocks: Type.Optional(whole(1, 1_000_000, 'ends when so many blocks have closed')),
    virtual_ms: Type.Optional(whole(1, MOST_MS, 'ends at this time of the world')),
    until: Type.Optional(
      Type.Union([Condition, Type.Array(Condition, { minItems: 1, maxItems: 20 })], {
        ...about('ends when this condition is met, or one of these'),
      }),
    ),
  },
  { ...section, ...about('whichever comes first; 100 blocks when none is given') },
);

export const Measure = Type.Object(
  {
    every_ms: whole(100, 3_600_000, 'spacing of the time series', 5_000),
    votes: Type.Boolean({ default: false, ...about('write votes.csv, a row for each vote') }),
    decisions: Type.Boolean({
      default: false,
      ...about('write decisions.ndjson: what each vote rested on'),
    }),
    warmup_ms: Type.Optional(
      whole(1, MOST_MS, 'nothing before this time of the run is in any measure'),
    ),
    warmup_blocks: Type.Optional(
      whole(1, 1_000_000, 'nothing until so many blocks have closed is; or give warmup_ms'),
    ),
  },
  { ...section, ...about('what is written beside the totals') },
);
