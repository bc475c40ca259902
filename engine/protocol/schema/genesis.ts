/** Network parameters, fixed in entry 0 and covered by every digest. */
import { type Static, Type } from '../bundled/typebox.js';
import { namePattern } from '../patterns.js';

/** Name of a rule in engine/rules/library, or `lines` or `module`. */
export const Policy = Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' });
export const Weights = Type.Enum(['equal', 'reputation', 'alliance_bonus']);

/** Terms of an inequality: weights, numbers of agents, vetoing groups, and the constant 1. */
const lineTerms = ['approve', 'reject', 'total', 'voted', 'electors', 'vetoes', 'one'] as const;

const termTexts: Record<(typeof lineTerms)[number], string> = {
  approve: 'factor of the approving weight',
  reject: 'factor of the rejecting weight',
  total: 'factor of all weight',
  voted: 'factor of the number of votes',
  electors: 'factor of the number of electors',
  vetoes: 'factor of the number of personality groups that veto',
  one: 'a constant',
};

/** With weights below 2^27, a sum of seven products is below 2^53. */
const Factor = (description: string) =>
  Type.Optional(Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description }));
type Factor = ReturnType<typeof Factor>;

/** An inequality, which holds if the sum of its products is greater than zero. */
export const RuleLine = Type.Object(
  {
    if: Type.Object(
      Object.fromEntries(lineTerms.map((term) => [term, Factor(termTexts[term])])) as {
        [T in (typeof lineTerms)[number]]: Factor;
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    over: Type.Optional(
      Type.Literal(true, { description: 'the line holds only at the end of voting' }),
    ),
    // biome-ignore lint/suspicious/noThenProperty: part of the published format
    then: Type.Enum(['finalized', 'rejected', 'expired'], { description: 'the decision' }),
  },
  { additionalProperties: false },
);
/** One of the inequalities of a rule that consists of lines. */
export type RuleLine = Static<typeof RuleLine>;

/** Largest module, as UTF-16 units. */
const SOURCE_LENGTH = 16_384;

/** Parameters, lines or text of the rule that `policy` names. */
export const RuleOptions = Type.Object(
  {
    parameters: Type.Optional(
      Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), Type.Integer(), {
        maxProperties: 16,
        additionalProperties: false,
      }),
    ),
    /** Inequalities of the policy `lines`. The first that holds decides. */
    lines: Type.Optional(Type.Array(RuleLine, { minItems: 1, maxItems: 16 })),
    /** JavaScript text of the policy `module`. */
    source: Type.Optional(Type.String({ minLength: 1, maxLength: SOURCE_LENGTH })),
  },
  { additionalProperties: false },
);
/** Parameters, lines or text of a decision rule. */
export type RuleOptions = Static<typeof RuleOptions>;

export const Genesis = Type.Object(
  {
    network_id: Type.String({ pattern: namePattern }),
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
    /** Absent if the rule has its default parameters. */
    rule: Type.Optional(RuleOptions),
    /** `none`: a simulation without signatures, which no server serves. Absent: signatures. */
    signatures: Type.Optional(Type.Literal('none')),
  },
  { additionalProperties: false },
);

/**
 * Decision rule. `bft`: more than two thirds of the weight finalize a block, and one third rejects
 * it. `majority`: more weight approves than rejects, with enough turnout. `veto`: as `bft`, but a
 * personality group of three or more can also reject a block by rejecting unanimously. For other
 * rules, see docs/rules.md.
 */
export type Policy = Static<typeof Policy>;
/** Vote weight: equal, by reputation, or with a bonus for allied agents. */
export type Weights = Static<typeof Weights>;
/** Parameters, fixed in entry 0. Periods are in milliseconds, shares in 1/10,000. @interface */
export type Genesis = Static<typeof Genesis>;

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
