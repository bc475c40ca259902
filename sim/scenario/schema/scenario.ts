/**
 * The scenario: an experiment as a file. This one schema gives the type, the checks, all defaults,
 * the JSON Schema for editors and the reference in the docs. Names end in their unit.
 */
import { Policy, type Static, Type, Weights } from '../../../engine/internal.js';
import { Fault } from './faults.js';
import { personalityNames } from './personalities.js';
import { Strategy } from './strategies.js';
import { Sweep } from './sweep.js';
import { GroupName, Share, whole } from './terms.js';

const limits = { agents: 200_000, milliseconds: 86_400_000_000 } as const;
const percent = { minimum: 0, maximum: 100 };
const strictly = { additionalProperties: false } as const;
/** A section that may be left out: its members have defaults. */
const section = { ...strictly, default: {} } as const;

const about = (description: string) => ({ description });

export const Traits = Type.Object(
  {
    technical: Type.Optional(Type.Integer({ ...percent, ...about('weight of what is in it') })),
    social: Type.Optional(
      Type.Integer({ ...percent, ...about("weight of the neighbours' votes") }),
    ),
    meme: Type.Optional(Type.Integer({ ...percent, ...about('weight of the memes heard') })),
    random: Type.Optional(Type.Integer({ ...percent, ...about('weight of a whim') })),
    threshold: Type.Optional(
      Type.Integer({ ...percent, ...about('approves at this mean opinion and above') }),
    ),
    care: Type.Optional(Share('of its transactions that are sound when it produces')),
    memes: Type.Optional(Share('of blocks it hears of that it makes a meme about')),
    remarks: Type.Optional(Share('of its votes that it also argues for aloud')),
    invites: Type.Optional(Share('of occasions on which it invites neighbours to an alliance')),
    accepts: Type.Optional(Share('of invitations that it accepts')),
    abstains: Type.Optional(Share('of blocks on which it does not vote')),
    think_ms: Type.Optional(whole(0, 3_600_000, 'the most it thinks before it votes')),
  },
  { ...strictly, ...about("what differs from the personality's own traits") },
);

export const Group = Type.Object(
  {
    group: GroupName('names the group; unique'),
    count: Type.Optional(whole(0, limits.agents, 'how many agents; or give share')),
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
    producers: whole(0, limits.agents, 'how many of them are producers too', 0),
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

export const Topology = Type.Object(
  {
    kind: Type.Enum(['complete', 'ring', 'small_world', 'scale_free', 'groups'], {
      default: 'small_world',
      ...about(
        'who hears whom: everybody (2,000 agents at most); a ring; a ring with some links ' +
          'rewired (Watts and Strogatz); preferential attachment (Barabasi and Albert); a ring ' +
          'inside each group, with some links rewired to other groups',
      ),
    }),
    degree: whole(2, 1_000, 'mean neighbours of an agent; even', 8),
    rewired: Share('of links that lead elsewhere, in small_world and groups', 0.1),
  },
  { ...section, ...about('the social graph, along which votes and memes are heard') },
);

export const Links = Type.Object(
  {
    latency: Type.Object(
      {
        distribution: Type.Enum(['constant', 'uniform', 'normal', 'exponential'], {
          default: 'uniform',
          ...about('drawn for each message and link by itself'),
        }),
        mean_ms: whole(1, 600_000, 'mean time a message needs', 200),
        spread_ms: whole(
          0,
          600_000,
          'uniform: half the width; normal, exponential: standard deviation',
          100,
        ),
      },
      { ...section, ...about('never under 10 ms; a wide spread is cut off there') },
    ),
    loss: Share('of messages that are lost; the feed of events sends again', 0),
    duplication: Share('of requests that arrive twice', 0),
  },
  { ...section, ...about('between agents, and between an agent and the network') },
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

export const Length = Type.Object(
  {
    blocks: Type.Optional(whole(1, 1_000_000, 'ends when so many blocks have closed')),
    virtual_ms: Type.Optional(whole(1, limits.milliseconds, 'ends at this time of the world')),
    until: Type.Optional(
      Type.Object(
        {
          measure: Type.Enum(['finalized', 'rejected', 'expired', 'orphaned', 'votes', 'memes'], {
            ...about('what is counted'),
          }),
          reaches: whole(1, 2 ** 40, 'ends when the count is this'),
        },
        strictly,
      ),
    ),
  },
  { ...section, ...about('whichever comes first; 100 blocks when none is given') },
);

export const Measure = Type.Object(
  {
    every_ms: whole(100, 3_600_000, 'spacing of the time series', 5_000),
    votes: Type.Boolean({ default: false, ...about('write votes.csv, a row for each vote') }),
  },
  { ...section, ...about('what is written beside the totals') },
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
      whole(1, limits.agents, 'agents in all; left out: the sum of the counts'),
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
    consensus: Consensus,
    length: Length,
    patience_periods: whole(
      1,
      100_000,
      'voting periods without a finalized block, faults aside, that mean no_progress',
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
export type Traits = Static<typeof Traits>;
