/**
 * Schema for a scenario and for a sweep over its values. Types, validation, defaults, the JSON
 * Schema for editors and docs/scenarios.md are derived from this schema. Names end with their unit.
 */
import { type Static, Type } from '../../../engine/protocol/bundled/typebox.js';
import { definePattern } from '../../../engine/protocol/patterns.js';
import { RuleLine, RuleOptions, Weights } from '../../../engine/protocol/schema/genesis.js';
import { policies } from '../../../engine/rules/bundled/policies.js';
import {
  about,
  Flag,
  GroupName,
  integerFrom,
  MOST_AGENTS,
  MOST_MS,
  numberFrom,
  OneOf,
  OptionNames,
  Seed,
  Share,
  section,
  strictly,
  Text,
  UplinkKbps,
} from './common.js';
import { Deliberation, Prompts, Role } from './deliberation.js';
import { Intervention, Length, Measure } from './interventions.js';
import { Fault, Links, Topology } from './network.js';
import { personalityNames, Traits } from './personalities.js';
import { Strategy } from './strategies.js';
import { Budget, Study } from './study.js';

const FactorValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

const columnName = definePattern(
  '^[a-z][a-z0-9_]{0,31}$',
  'a name of 1 to 32 lower-case letters, digits or underscores, with a letter first',
);

/** Factor that a sweep varies, at a path such as `agents.town.share` or `faults.0.length_ms`. */
export const Factor = Type.Object(
  {
    path: Text(200, 'such as agents.town.share'),
    name: Type.Optional(
      Type.String({ pattern: columnName, description: 'column name; default: the path' }),
    ),
    values: Type.Optional(
      Type.Array(FactorValue, {
        minItems: 1,
        maxItems: 1_000,
        description: 'values, for all designs',
      }),
    ),
    from: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: minimum' })),
    to: Type.Optional(Type.Number({ description: 'lhs, morris, sobol: maximum' })),
    whole: Type.Optional(Type.Boolean({ description: 'with from and to: integers only' })),
  },
  { ...strictly, ...about('a value of the scenario to vary') },
);

/** Sequential stopping: runs are added to a cell until its confidence interval is narrow. */
const SweepUntil = Type.Object(
  {
    half_width: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'half-width of the 95 % interval, in the unit of the response',
      }),
    ),
    percent: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 100,
        description: 'half-width in percent of the mean',
      }),
    ),
    response: Type.Optional(
      Type.String({ description: 'measure of the interval; default: the first of responses' }),
    ),
    most: integerFrom(10, 100_000, 'maximum runs per cell', 1_000),
  },
  { ...strictly, description: 'adds runs to a cell until its confidence interval is narrow' },
);

const Responses = Type.Array(Type.String(), {
  default: ['finalized_share'],
  minItems: 1,
  maxItems: 12,
  description:
    'measures in the report; those of scripts are named reported.NAME, or reported.NAME@GROUP ' +
    'for a group',
});

/** Default for `replicates`. Designs with many samples need only one run per cell. */
export const standardReplicates = (design: unknown): number =>
  design === 'morris' || design === 'sobol' ? 1 : 5;

export const Sweep = Type.Object(
  {
    design: OneOf(
      ['grid', 'list', 'lhs', 'morris', 'sobol'],
      'grid',
      'grid: all combinations of values; list: the nth value of every factor; ' +
        'lhs: Latin hypercube sample; morris: elementary effects; ' +
        'sobol: variance-based indices (Saltelli)',
    ),
    factors: Type.Array(Factor, { minItems: 1, maxItems: 10, description: 'varied values' }),
    samples: Type.Optional(
      integerFrom(1, 100_000, 'lhs: samples; morris: trajectories; sobol: rows of a matrix'),
    ),
    levels: Type.Optional(
      integerFrom(2, 100, 'morris: levels per factor, an even number; default: 4'),
    ),
    replicates: integerFrom(
      1,
      100_000,
      'runs per cell, each with its seed; default for morris and sobol: 1',
      5,
    ),
    until: Type.Optional(SweepUntil),
    baseline: Type.Optional(
      Type.Record(Type.String(), FactorValue, {
        description: 'grid, list: the cell to compare with, by the value of each factor',
      }),
    ),
    audit: OneOf(
      ['all', 'first', 'none'],
      'all',
      'audited runs of each cell; rule violations are detected only there',
    ),
    log: OneOf(
      ['none', 'full', 'keep'],
      'none',
      'full: compute the log of every run, and its digest; keep: also keep it, in logs/; ' +
        'the measures are the same',
    ),
    responses: Responses,
    study: Type.Optional(Study),
  },
  { ...strictly, description: 'design of the command sweep' },
);

export type Sweep = Static<typeof Sweep>;
export type Factor = Static<typeof Factor>;

const waves = {
  over_ms: integerFrom(0, MOST_MS, 'time over which the agents of a wave are spread', 2_000),
  waves: integerFrom(1, 10_000, 'number of waves; agents are divided in order', 1),
  every_ms: integerFrom(1, MOST_MS, 'interval between waves', 60_000),
};

const Join = Type.Object(
  { start_ms: integerFrom(0, MOST_MS, 'start of the first wave, in time of the run', 0), ...waves },
  { ...strictly, ...about('joining; default: within the first 2 s') },
);

const Leave = Type.Object(
  { at_ms: integerFrom(0, MOST_MS, 'departure of the first wave, in time of the run'), ...waves },
  { ...strictly, ...about('permanent departure; default: never') },
);

export const Group = Type.Object(
  {
    group: GroupName('name of the group; unique'),
    region: Type.Optional(GroupName('location, for links.between')),
    count: Type.Optional(integerFrom(0, MOST_AGENTS, 'number of agents; or use share')),
    share: Type.Optional(
      Share('of the population, rounded down; with neither count nor share, the rest'),
    ),
    personality: Type.Array(Type.Enum(personalityNames), {
      minItems: 1,
      maxItems: 100,
      default: [...personalityNames],
      ...about('personalities, assigned to the agents in turn'),
    }),
    capabilities: Type.Array(Type.Enum(['validator', 'producer']), {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      default: ['validator'],
      ...about('capabilities of all agents of the group'),
    }),
    producers: integerFrom(0, MOST_AGENTS, 'number of agents that are also producers', 0),
    uplink_kbps: Type.Optional(UplinkKbps('per agent; default: links.uplink_kbps')),
    join: Type.Optional(Join),
    leave: Type.Optional(Leave),
    traits: Type.Optional(Traits),
    strategy: Strategy,
    role: Type.Optional(Role),
  },
  { ...strictly, ...about('similar agents') },
);

export const Producing = Type.Object(
  {
    schedule: OneOf(
      ['open', 'round_robin', 'random'],
      'open',
      'open: any producer that knows no rival block after a random wait; round_robin and ' +
        'random: slots of block_interval_ms with one producer each',
    ),
    block_interval_ms: integerFrom(100, 3_600_000, 'interval between turns', 3_000),
    transactions: Type.Object(
      {
        least: integerFrom(0, 1_000, 'minimum per block', 1),
        most: integerFrom(0, 1_000, 'maximum per block', 5),
      },
      { ...section, ...about('number of transactions, drawn per block') },
    ),
    senders: OneOf(
      ['own', 'neighbours'],
      'own',
      "signers of a block's transactions: its producer, or the producer's neighbours",
    ),
    insist: Flag(
      'propose even while rival blocks are in voting, and retry as soon as the network has ' +
        'room',
    ),
    memes: Share('of blocks with a meme', 0.3),
    options: Type.Optional(
      OptionNames(
        'names of the options of each block, for rules that choose; default: those of the ' +
          'first strategy of kind ballots',
      ),
    ),
  },
  { ...section, ...about('block production') },
);

const rate = numberFrom(0, 1_000, "multiplies the agents' rates; 0 disables", 1);

const Social = Type.Object(
  {
    memes: Type.Object({ rate }, { ...section, ...about('memes about blocks in voting') }),
    discussion: Type.Object({ rate }, { ...section, ...about('remarks about blocks in voting') }),
    alliances: Type.Object(
      {
        rate,
        duration_ms: integerFrom(60_000, 2_592_000_000, 'duration of an alliance', 120_000),
        most: integerFrom(1, 5, 'alliances that an agent seeks', 2),
        invited: integerFrom(1, 31, 'maximum invitations at once', 3),
      },
      { ...section, ...about('alliances') },
    ),
    breaks: Type.Object({ rate }, { ...section, ...about('temporary absences, by status') }),
    occasion_ms: integerFrom(
      1_000,
      3_600_000,
      'minimum time between occasions of an agent',
      30_000,
    ),
  },
  { ...section, ...about('social behaviour') },
);

const Rule = Type.Object(
  {
    ...RuleOptions.properties,
    parameters: Type.Optional(
      Type.Unsafe<Record<string, number>>({
        ...RuleOptions.properties.parameters,
        ...about('integers by name; `folkmoot rule show NAME` lists the parameters of a rule'),
      }),
    ),
    lines: Type.Optional(
      Type.Array(RuleLine, {
        minItems: 1,
        maxItems: 16,
        ...about('lines: inequalities; the first that holds decides'),
      }),
    ),
    file: Type.Optional(Text(200, 'module: JavaScript file in the folder of the scenario')),
    source: Type.Optional(
      Type.String({ ...RuleOptions.properties.source, ...about('module: JavaScript text') }),
    ),
  },
  { ...about('parameters, lines or module of the decision rule') },
);

const Consensus = Type.Object(
  {
    policy: OneOf([...policies, 'lines', 'module'], 'bft', 'decision rule'),
    rule: Type.Optional(Rule),
    weights: OneOf([...Weights.enum], 'equal', 'weight of a vote'),
    voting_period_ms: integerFrom(100, 86_400_000, 'time after which a block expires', 30_000),
    min_validators: integerFrom(1, 1_000_000, 'minimum electorate of a block', 1),
    dormant_after: integerFrom(
      0,
      1_000,
      'consecutive missed failed periods before an agent is dormant; 0: never',
      3,
    ),
    dormant_share: Share('of the weight that can be dormant', 0.3333),
    leak_periods: integerFrom(
      0,
      1_000_000,
      'failed periods before the same share of the rest can be dormant; 0: never',
      20,
    ),
    participation: Share("majority: of the electorate's weight that must vote", 0.5),
    consistency: OneOf(
      ['conformity', 'off'],
      'conformity',
      'conformity: voting with the outcome raises reputation',
    ),
  },
  { ...section, ...about('fixed at genesis'), examples: [{ policy: 'majority' }] },
);

export const Scenario = Type.Object(
  {
    title: Text(100, 'title of the report'),
    question: Type.String({ default: '', maxLength: 2_000, ...about('research question') }),
    expect: OneOf(['pass', 'no_progress', 'conflict'], 'pass', 'expected verdict'),
    seed: Seed(100, 'seed of all random draws', '1'),
    signatures: OneOf(
      ['verified', 'unverified', 'none'],
      'verified',
      'verified; created but not verified; or none, recorded in genesis',
    ),
    limits: OneOf(
      ['off', 'spec'],
      'off',
      'spec: the rate limits of a server, with a separate address per agent',
    ),
    population: Type.Optional(
      integerFrom(1, MOST_AGENTS, 'total number of agents; default: the sum of the counts'),
    ),
    agents: Type.Array(Group, {
      ...{ minItems: 1, maxItems: 100, ...about('groups') },
      examples: [[{ group: 'town', count: 8, producers: 2 }]],
    }),
    producers: Producing,
    social: Social,
    topology: Topology,
    links: Links,
    faults: Type.Array(Fault, { maxItems: 100, default: [], ...about('faults') }),
    interventions: Type.Array(Intervention, {
      maxItems: 1_000,
      default: [],
      ...about('changes during the run'),
    }),
    consensus: Consensus,
    deliberation: Type.Optional(Deliberation),
    prompts: Type.Optional(Prompts),
    length: Length,
    patience_periods: integerFrom(
      1,
      100_000,
      'voting periods without a decided block, after all faults, that mean no_progress',
      20,
    ),
    measure: Measure,
    budget: Type.Optional(Budget),
    sweep: Type.Optional(Sweep),
  },
  { ...strictly, ...about('an experiment') },
);

/** Scenario with all defaults. See docs/scenarios.md for all keys. @interface */
export type Scenario = Static<typeof Scenario> & { population: number };
export type Group = Static<typeof Group>;
