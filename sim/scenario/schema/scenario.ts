/**
 * The scenario: an experiment as a file. This one schema gives the type, the checks, all defaults,
 * the JSON Schema for editors and the reference in the docs. Names end in their unit.
 */
import { Policy, type Static, Type, Weights } from '../../../engine/internal.js';
import { Fault } from './faults.js';
import { Intervention } from './interventions/interventions.js';
import { Length, Measure } from './length.js';
import { Links } from './links.js';
import { personalityNames } from './personalities.js';
import { Strategy } from './strategies.js';
import { Sweep } from './sweep.js';
import {
  about,
  GroupName,
  MOST_AGENTS,
  MOST_MS,
  Share,
  section,
  strictly,
  UplinkKbps,
  whole,
} from './terms.js';
import { Topology } from './topology.js';
import { Traits } from './traits.js';

const waves = {
  over_ms: whole(0, MOST_MS, 'each of a wave at an instant of its own in this time', 2_000),
  waves: whole(1, 10_000, 'how many; its agents are dealt to them in order', 1),
  every_ms: whole(1, MOST_MS, 'from one wave to the next', 60_000),
};

const Join = Type.Object(
  { start_ms: whole(0, MOST_MS, 'when the first wave joins, time of the run', 0), ...waves },
  { ...strictly, ...about('when they join; left out: over the first 2 s') },
);

const Leave = Type.Object(
  { at_ms: whole(0, MOST_MS, 'when the first wave leaves for good, time of the run'), ...waves },
  { ...strictly, ...about('when they leave; left out: never') },
);

export const Group = Type.Object(
  {
    group: GroupName('names the group; unique'),
    region: Type.Optional(GroupName('where it is: links.between may name it')),
    count: Type.Optional(whole(0, MOST_AGENTS, 'how many agents; or give share')),
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
    producers: whole(0, MOST_AGENTS, 'how many of them are producers too', 0),
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
    block_interval_ms: whole(100, 3_600_000, 'spacing of turns', 3_000),
    transactions: Type.Object(
      {
        least: whole(0, 1_000, 'transactions in a block', 1),
        most: whole(0, 1_000, 'transactions in a block', 5),
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

export const Social = Type.Object(
  {
    memes: Type.Object({ rate }, { ...section, ...about('memes about blocks in voting') }),
    discussion: Type.Object({ rate }, { ...section, ...about('remarks about blocks in voting') }),
    alliances: Type.Object(
      {
        rate,
        duration_ms: whole(60_000, 2_592_000_000, 'how long one lasts', 120_000),
        most: whole(1, 5, 'alliances an agent wants to be in', 2),
        invited: whole(1, 31, 'the most it invites at once', 3),
      },
      { ...section, ...about('founding, joining and leaving alliances') },
    ),
    breaks: Type.Object({ rate }, { ...section, ...about('going away for a while, by status') }),
    occasion_ms: whole(1_000, 3_600_000, 'the least time between occasions of an agent', 30_000),
  },
  { ...section, ...about('life beside blocks') },
);

export const Consensus = Type.Object(
  {
    policy: Type.Enum([...Policy.enum], { default: 'bft', ...about('how votes decide') }),
    weights: Type.Enum([...Weights.enum], { default: 'equal', ...about('what a vote weighs') }),
    voting_period_ms: whole(100, 86_400_000, 'after which a block expires', 30_000),
    min_validators: whole(1, 1_000_000, 'electors that a block needs', 1),
    dormant_after: whole(0, 1_000, 'failed periods missed in a row; 0 = never', 3),
    dormant_share: Share('of the weight that may be dormant at most', 0.3333),
    leak_periods: whole(
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
      whole(1, MOST_AGENTS, 'agents in all; left out: the sum of the counts'),
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
    patience_periods: whole(
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
