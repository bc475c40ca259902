/** Network parameters, fixed in entry 0 and covered by every digest. */
import { type Static, Type } from '../bundled/typebox.js';

export const Policy = Type.Enum(['bft', 'majority', 'veto']);
export const Weights = Type.Enum(['equal', 'reputation', 'alliance_bonus']);

export const Genesis = Type.Object(
  {
    network_id: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$' }),
    policy: Policy,
    weights: Weights,
    voting_period_ms: Type.Integer({ minimum: 1, maximum: 86_400_000 }),
    min_validators: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    /** Consecutive absences from expired blocks that make a validator dormant; 0: never. */
    dormant_after: Type.Integer({ minimum: 0, maximum: 1_000 }),
    /** Largest share of the active validators' weight that may be dormant, in 1/10,000. */
    dormant_share_max: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /**
     * Consecutive failed voting periods after which the same share of the remaining weight may
     * become dormant; 0: never.
     */
    leak_periods: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    /** Turnout that `majority` needs, in 1/10,000 of the electorate's weight. */
    participation_bps: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /** `conformity` rewards votes with the majority; `off` keeps decision_consistency constant. */
    consistency: Type.Enum(['conformity', 'off']),
    /** `none`: a simulation without signatures, which no server serves. Absent: signatures. */
    signatures: Type.Optional(Type.Literal('none')),
  },
  { additionalProperties: false },
);

/**
 * Decision rule. `bft`: more than two thirds of the weight finalize a block, and one third rejects
 * it. `majority`: more weight approves than rejects, with enough turnout. `veto`: as `bft`, but a
 * personality group of three or more can also reject a block by rejecting unanimously.
 */
export type Policy = Static<typeof Policy>;
/** Vote weight: equal, by reputation, or with a bonus for allied agents. */
export type Weights = Static<typeof Weights>;
/**
 * Network parameters, fixed in entry 0. Periods are in milliseconds, shares in 1/10,000.
 *
 * @interface
 */
export type Genesis = Static<typeof Genesis>;

/** Allowed values of the parameter `policy`. */
export const policies = Policy.enum;
/** Allowed values of the parameter `weights`. */
export const weightings = Weights.enum;

/** Defaults for all parameters except `network_id`. */
export const genesisDefaults: Omit<Genesis, 'network_id'> = {
  policy: 'bft',
  weights: 'equal',
  voting_period_ms: 30_000,
  min_validators: 1,
  dormant_after: 3,
  dormant_share_max: 3_333,
  leak_periods: 20,
  participation_bps: 5_000,
  consistency: 'conformity',
};
