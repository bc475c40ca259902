/**
 * The scenario: an experiment as a file, with the sweep over its values. This one schema gives the
 * type, the checks, all defaults, the JSON Schema for editors and the reference in the docs. Names
 * end in their unit.
 */
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { Policy, Weights } from '../../../engine/protocol/schema/genesis.js';
import {
  about,
  GroupName,
  integerFrom,
  MOST_AGENTS,
  MOST_MS,
  Share,
  section,
  strictly,
  UplinkKbps,
} from './common.js';
import { Intervention, Length, Measure } from './interventions.js';
import { Fault, Links, Topology } from './network.js';
import { personalityNames, Traits } from './personalities.js';
import { Strategy } from './strategies.js';

const FactorValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

/** `path` as in `agents.town.share` or `faults.0.length_ms`. */
export const Factor = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 200, description: 'as in agents.town.share' }),
    name: Type.Optional(
      Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$', description: 'its column; else the path' }),
    ),
    values: Type.Optional(
      Type.Array(FactorValue, {
        minItems: 1,
        maxItems: 1_000,
        description: 'its values, of any design',
      }),
    ),
    from: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: least value' })),
    to: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: largest value' })),
    whole: Type.Optional(Type.Boolean({ description: 'of a range: whole numbers only' })),
  },
  { additionalProperties: false, description: 'one value of the scenario that is varied' },
);

/** When a cell has runs enough. */
const SweepUntil = Type.Object(
  {
    half_width: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'half of the 95 % interval, in its unit' }),
    ),
    percent: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'the same, of the mean' }),
    ),
    response: Type.Optional(
      Type.String({ description: 'whose interval; left out, the first of responses' }),
    ),
    most: integerFrom(10, 100_000, 'runs a cell at most, however wide its interval is', 1_000),
  },
  { ...strictly, description: 'runs are added to a cell until its interval is narrow' },
);

const Responses = Type.Array(Type.String(), {
  default: ['finalized_share'],
  minItems: 1,
  maxItems: 12,
  description: 'the measures that the report draws; of scripts, as reported.NAME',
});

/** What `replicates` is when it is left out; a design of many samples needs one. */
export const standardReplicates = (design: unknown): number =>
  design === 'morris' || design === 'sobol' ? 1 : 5;

export const Sweep = Type.Object(
  {
    design: Type.Enum(['grid', 'list', 'lhs', 'morris', 'sobol'], {
      default: 'grid',
      description:
        'grid: every combination of values; list: the nth values of all factors together; ' +
        'lhs: a Latin hypercube of samples; morris: elementary effects along trajectories; ' +
        'sobol: indices of variance, by matrices of Saltelli',
    }),
    factors: Type.Array(Factor, { minItems: 1, maxItems: 10, description: 'what is varied' }),
    samples: Type.Optional(
      integerFrom(1, 100_000, 'lhs: how many; morris: trajectories; sobol: rows of a matrix'),
    ),
    levels: Type.Optional(integerFrom(2, 100, 'morris: levels of a factor, an even number; 4')),
    replicates: integerFrom(1, 100_000, 'runs a cell, each with a seed; of morris and sobol 1', 5),
    until: Type.Optional(SweepUntil),
    baseline: Type.Optional(
      Type.Record(Type.String(), FactorValue, {
        description: 'grid, list: a cell, by a value of each factor; others are compared with it',
      }),
    ),
    audit: Type.Enum(['all', 'first', 'none'], {
      default: 'all',
      description: 'which runs of a cell are audited: a rule is seen broken in these only',
    }),
    responses: Responses,
  },
  { ...strictly, description: 'for the command sweep' },
);

export type Sweep = Static<typeof Sweep>;
export type Factor = Static<typeof Factor>;

/*
 * The scenario: an experiment as a file. This one schema gives the type, the checks, all defaults,
 * the JSON Schema for editors and the reference in the docs. Names end in their unit.
 */

const waves = {
  over_ms: integerFrom(0, MOST_MS, 'each of a wave at an instant of its own in this time', 2_000),
  waves: integerFrom(1, 10_000, 'how many; its agents are dealt to them in order', 1),
  every_ms: integerFrom(1, MOST_MS, 'from one wave to the next', 60_000),
};

const Join = Type.Object(
  { start_ms: integerFrom(0, MOST_MS, 'when the first wave joins, time of the run', 0), ...waves },
  { ...strictly, ...about('when they join; left out: over the first 2 s') },
);

const Leave = Type.Object(
  {
    at_ms: integerFrom(0, MOST_MS, 'when the first wave leaves for good, time of the run'),
    ...waves,
  },
  { ...strictly, ...about('when they leave; left out: never') },
);

export const Group = Type.Object(
  {
    group: GroupName('names the group; unique'),
    region: Type.Optional(GroupName('where it is: links.between may name it')),
    count: Type.Optional(integerFrom(0, MOST_AGENTS, 'how many agents; or give share')),
    share: Type.Optional(Share('of the population, rounded down; with neither, the rest')),
    personality: Type.Array(Type.Enum(personalityNames), {
      minItems: 1,
      maxItems: 100,
      default: [...personalityNames],
      ...about('dealt to its agents in turn'),
    }),
    capabilities: Type.Array(Type.Enum(['validator', 'producer']), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['validator'],
      ...about('of all its agents'),
    }),
    producers: integerFrom(0, MOST_AGENTS, 'how many of them are producers too', 0),
    uplink_kbps: Type.Optional(UplinkKbps('of each; left out: as links.uplink_kbps')),
    join: Type.Optional(Join),
    leave: Type.Optional(Leave),
    traits: Type.Optional(Traits),
    strategy: Strategy,
  },
  { ...strictly, ...about('agents that are alike') },
);

export const Producing = Type.Object(
  {
    schedule: Type.Enum(['open', 'round_robin', 'random'], {
      default: 'open',
      ...about(
        'open: whoever sees no rival after a wait by chance; round_robin and random: slots of ' +
          'block_interval_ms, each of one producer',
      ),
    }),
    block_interval_ms: integerFrom(100, 3_600_000, 'spacing of turns', 3_000),
    transactions: Type.Object(
      {
        least: integerFrom(0, 1_000, 'transactions in a block', 1),
        most: integerFrom(0, 1_000, 'transactions in a block', 5),
      },
      { ...section, ...about('how many, drawn for each block') },
    ),
    senders: Type.Enum(['own', 'neighbours'], {
      default: 'own',
      ...about("who signs a block's transactions: its producer, or its neighbours"),
    }),
    insist: Type.Boolean({
      default: false,
      ...about(
        'they propose also while rivals are in voting and, where there was no room, again as ' +
          'soon as they are told to',
      ),
    }),
    memes: Share('of blocks that carry a meme', 0.3),
  },
  { ...section, ...about('how blocks are made') },
);

const rate = Type.Number({
  minimum: 0,
  maximum: 1_000,
  default: 1,
  ...about("times the agents' own rates; 0 turns it off"),
});

const Social = Type.Object(
  {
    memes: Type.Object({ rate }, { ...section, ...about('memes about blocks in voting') }),
    discussion: Type.Object({ rate }, { ...section, ...about('remarks about blocks in voting') }),
    alliances: Type.Object(
      {
        rate,
        duration_ms: integerFrom(60_000, 2_592_000_000, 'how long one lasts', 120_000),
        most: integerFrom(1, 5, 'alliances an agent wants to be in', 2),
        invited: integerFrom(1, 31, 'the most it invites at once', 3),
      },
      { ...section, ...about('founding, joining and leaving alliances') },
    ),
    breaks: Type.Object({ rate }, { ...section, ...about('going away for a while, by status') }),
    occasion_ms: integerFrom(
      1_000,
      3_600_000,
      'the least time between occasions of an agent',
      30_000,
    ),
  },
  { ...section, ...about('life beside blocks') },
);

const Consensus = Type.Object(
  {
    policy: Type.Enum([...Policy.enum], { default: 'bft', ...about('how votes decide') }),
    weights: Type.Enum([...Weights.enum], { default: 'equal', ...about('what a vote weighs') }),
    voting_period_ms: integerFrom(100, 86_400_000, 'after which a block expires', 30_000),
    min_validators: integerFrom(1, 1_000_000, 'electors that a block needs', 1),
    dormant_after: integerFrom(0, 1_000, 'failed periods missed in a row; 0 = never', 3),
    dormant_share: Share('of the weight that may be dormant at most', 0.3333),
    leak_periods: integerFrom(
      0,
      1_000_000,
      'failed periods until as much of the rest may; 0 = never',
      20,
    ),
    participation: Share("of the electors' weight that has to vote under majority", 0.5),
    consistency: Type.Enum(['conformity', 'off'], {
      default: 'conformity',
      ...about('whether voting as the outcome went earns reputation'),
    }),
  },
  { ...section, ...about('fixed at genesis') },
);

export const Scenario = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 100, ...about('shown on top of the report') }),
    question: Type.String({ default: '', maxLength: 2_000, ...about('what the run is to answer') }),
    expect: Type.Enum(['pass', 'no_progress'], {
      default: 'pass',
      ...about('the verdict that the text promises'),
    }),
    seed: Type.String({
      minLength: 1,
      maxLength: 100,
      default: '1',
      ...about('whatever is drawn by chance follows from it'),
    }),
    signatures: Type.Enum(['verified', 'unverified', 'none'], {
      default: 'verified',
      ...about('verified; made but not checked; or not even made, which genesis then says'),
    }),
    limits: Type.Enum(['off', 'spec'], {
      default: 'off',
      ...about("spec: a server's rate limits, each agent at an address of its own"),
    }),
    population: Type.Optional(
      integerFrom(1, MOST_AGENTS, 'agents in all; left out: the sum of the counts'),
    ),
    agents: Type.Array(Group, { minItems: 1, maxItems: 100, ...about('the groups') }),
    producers: Producing,
    social: Social,
    topology: Topology,
    links: Links,
    faults: Type.Array(Fault, {
      maxItems: 100,
      default: [],
      ...about('what goes wrong, and when'),
    }),
    interventions: Type.Array(Intervention, {
      maxItems: 1_000,
      default: [],
      ...about('what is made to be otherwise, from when on'),
    }),
    consensus: Consensus,
    length: Length,
    patience_periods: integerFrom(
      1,
      100_000,
      'voting periods without a decided block, faults aside, that mean no_progress',
      20,
    ),
    measure: Measure,
    sweep: Type.Optional(Sweep),
  },
  { ...strictly, ...about('an experiment') },
);

/**
 * An experiment: all defaults filled in. docs/scenarios.md has every key.
 *
 * @interface
 */
export type Scenario = Static<typeof Scenario> & { population: number };
export type Group = Static<typeof Group>;
