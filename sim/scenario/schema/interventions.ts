/** Schema for length, end conditions, measurement and interventions. */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import { digestPattern, idPattern } from '../../../engine/protocol/patterns.js';
import {
  about,
  Flag,
  GroupName,
  integerFrom,
  MOST_AGENTS,
  MOST_MS,
  Seed,
  Share,
  section,
  strictly,
  Text,
} from './common.js';
import { Selector } from './network.js';
import { Traits } from './personalities.js';
import { Strategy } from './strategies.js';

/** Value of a measure: a count or a fraction. */
const value = { minimum: 0, maximum: 2 ** 40 };

/** Measures whose values are known during the run. */
const conditionMeasures = [
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
  'slots_decided',
  'slot_conflicts',
] as const;

export type ConditionMeasure = (typeof conditionMeasures)[number];

export const Condition = Type.Object(
  {
    measure: Type.Enum([...conditionMeasures], {
      ...about(
        'measure to compare, after the warm-up; decided: finalized or rejected; shares: of the ' +
          'blocks closed so far; slots: since the start',
      ),
    }),
    group: Type.Optional(GroupName('group of reputation_mean; default: the whole network')),
    reaches: Type.Optional(integerFrom(1, 2 ** 40, 'short for at_least')),
    at_least: Type.Optional(Type.Number({ ...value, ...about('true at this value and above') })),
    at_most: Type.Optional(Type.Number({ ...value, ...about('true at this value and below') })),
    held_ms: Type.Optional(
      integerFrom(0, MOST_MS, 'minimum time without interruption; default: 0'),
    ),
    held_blocks: Type.Optional(
      integerFrom(0, 1_000_000, 'minimum number of blocks closed in that time; default: 0'),
    ),
  },
  { ...strictly, ...about('a condition') },
);

export const Length = Type.Object(
  {
    blocks: Type.Optional(integerFrom(1, 1_000_000, 'number of closed blocks that ends the run')),
    virtual_ms: Type.Optional(integerFrom(1, MOST_MS, 'virtual time that ends the run')),
    until: Type.Optional(
      Type.Union([Condition, Type.Array(Condition, { minItems: 1, maxItems: 20 })], {
        ...about('condition, or list of conditions, any of which ends the run'),
      }),
    ),
  },
  {
    ...section,
    ...about('end of the run, at the first of these; default: 100 blocks'),
    examples: [{ blocks: 100 }],
  },
);

export const Measure = Type.Object(
  {
    every_ms: integerFrom(100, 3_600_000, 'interval of the time series', 5_000),
    votes: Flag('write votes.csv, one row per vote'),
    decisions: Flag('write decisions.ndjson, the reasons of each vote'),
    warmup_ms: Type.Optional(
      integerFrom(1, MOST_MS, 'time of the run before which nothing is measured'),
    ),
    warmup_blocks: Type.Optional(
      integerFrom(
        1,
        1_000_000,
        'number of closed blocks before which nothing is measured; instead of warmup_ms',
      ),
    ),
  },
  { ...section, ...about('output in addition to the totals') },
);

const AgentName = (description: string) =>
  Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: MOST_AGENTS - 1 }),
      Type.String({ minLength: 1, maxLength: 64 }),
    ],
    { description },
  );

/** Number within the run, from 0, or an id. */
const Numbered = (pattern: string, description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: 2 ** 32 }), Type.String({ pattern })], {
    description,
  });

const Block = Numbered(digestPattern, 'block number as in blocks.csv, or hash');
const Meme = Numbered(idPattern('meme'), 'number of memes posted before it, or id');
const Alliance = Numbered(idPattern('ally'), 'number of alliances proposed before it, or id');

export const Whom = Type.Object(
  {
    agent: Type.Optional(AgentName('one agent: ordinal, or name as in agents.csv')),
    group: Type.Optional(GroupName('group to select from; default: all agents')),
    alliance: Type.Optional(Alliance),
    count: Selector.properties.count,
    share: Selector.properties.share,
  },
  {
    ...strictly,
    ...about('one agent, the members of an alliance at that moment, or agents of a group'),
  },
);

const whom = Type.Array(Whom, { minItems: 1, maxItems: 100, description: 'affected agents' });

/** Moments. An intervention uses exactly one. */
const when = {
  at_ms: Type.Optional(integerFrom(0, MOST_MS, 'at this time of the run')),
  at_entry: Type.Optional(integerFrom(0, 2 ** 40, 'once the log has this entry')),
  at_height: Type.Optional(integerFrom(0, 1_000_000, 'once this many blocks are finalized')),
  at_condition: Type.Optional(Condition),
};

const shared = {
  ...when,
  acts: Type.Optional(
    Type.Boolean({ description: 'false disables it, to sweep over runs with and without it' }),
  ),
};

export const moments = ['at_ms', 'at_entry', 'at_height', 'at_condition'] as const;

const action = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object({ kind: Type.Literal(kind), ...shared, ...own } as const, {
    ...strictly,
    ...about(text),
  });

export const Intervention = Type.Union([
  action('mute', 'stops the spread of a meme, or of all memes of authors; the log keeps them', {
    meme: Type.Optional(Meme),
    whom: Type.Optional(whom),
  }),
  action('silence', 'stops all messages of agents, to the network and to neighbours', { whom }),
  action('remove', 'makes agents leave for good, by status', { whom }),
  action('dissolve', 'makes all members leave an alliance', { alliance: Alliance }),
  action('drop', 'loses the proposal of a block or of an alliance', {
    block: Type.Optional(Block),
    alliance: Type.Optional(Alliance),
  }),
  action('vote', "changes, adds or removes an agent's vote on a block", {
    agent: AgentName('a validator: ordinal, or name as in agents.csv'),
    block: Block,
    decision: Type.Enum(['approve', 'reject', 'none'], { description: 'none: no vote' }),
  }),
  action('strategy', 'gives agents a different strategy', { whom, strategy: Strategy }),
  action('traits', 'gives agents different traits', { whom, traits: Traits }),
  action('set', 'sets a value of producers, social, links.loss or links.duplication', {
    path: Text(200, 'such as social.memes.rate'),
    value: Type.Unknown({ description: 'any value that is valid at the path' }),
  }),
  action('redraw', 'makes all later draws with a different seed', {
    seed: Seed(100, 'combined with the seed of the run'),
  }),
  action('link', 'changes the link between two agents, or between an agent and the network', {
    between: Type.Array(AgentName('an agent, or network'), {
      minItems: 2,
      maxItems: 2,
      description: 'two agents, or an agent and network',
    }),
    loss: Type.Optional(Share('of lost messages between them; 1: all')),
    factor: Type.Optional(integerFrom(1, 1_000, 'multiplies the latency')),
  }),
]);

/** Change that applies from a moment in the run. See docs/what-if.md. */
export type Intervention = Static<typeof Intervention>;
export type Whom = Static<typeof Whom>;
export type InterventionKind = Intervention['kind'];
export type InterventionOf<K extends InterventionKind> = Extract<Intervention, { kind: K }>;
/** Block, meme or alliance, named by its number in the run or by its id. */
export type Named = number | string;
