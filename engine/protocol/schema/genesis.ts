/** Genesis: the parameters of a network, fixed in entry 0 and part of every digest. */
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
    /** Expired blocks missed in a row that make a validator dormant; 0 = never. */
    dormant_after: Type.Integer({ minimum: 0, maximum: 1_000 }),
    /** Weight of all active validators of which dormancy may take so much, in 1/10,000. */
    dormant_share_max: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /** Failed voting periods in a row after which it may take as much of the rest; 0 = never. */
    leak_periods: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
    /** Turnout that `majority` asks for, in 1/10,000 of the electorate's weight. */
    participation_bps: Type.Integer({ minimum: 0, maximum: 10_000 }),
    /** `conformity` rewards voting as the majority did; `off` leaves decision_consistency alone. */
    consistency: Type.Enum(['conformity', 'off']),
    /** `none`: a simulation whose agents sign nothing; no server serves it. Left out: all sign. */
    signatures: Type.Optional(Type.Literal('none')),
  },
  { additionalProperties: false },
);

/**
 * How votes decide. `bft`: more than two thirds of the weight finalize, a third rejects.
 * `majority`: more for than against, with enough turnout. `veto`: as `bft`, and a personality group
 * of three or more that rejects as one rejects the block.
 */
export type Policy = Static<typeof Policy>;
/** What a vote weighs: the same for all, by reputation, or more for allied agents. */
export type Weights = Static<typeof Weights>;
/**
 * The parameters of a network, fixed in entry 0: periods in milliseconds, shares in 1/10,000.
 *
 * @interface
 */
export type Genesis = Static<typeof Genesis>;

/** The values of the parameter `policy`. */
export const policies = Policy.enum;
/** The values of the parameter `weights`. */
export const weightings = Weights.enum;

/** Every parameter but the network's name has a default. */
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
