/**
 * The course of a run: its length, the conditions that can end it early, the part that is measured,
 * and the interventions that change something from a moment on.
 */
import { type Static, type TProperties, Type } from '../../../engine/protocol/bundled/typebox.js';
import {
  about,
  GroupName,
  integerFrom,
  MOST_AGENTS,
  MOST_MS,
  Share,
  section,
  strictly,
} from './common.js';
import { Selector } from './network.js';
import { Traits } from './personalities.js';
import { Strategy } from './strategies.js';

/** Of a measure: a count or a fraction. */
const value = { minimum: 0, maximum: 2 ** 40 };

/** What a condition can look at: whatever can be said while the run goes on. */
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
    reaches: Type.Optional(integerFrom(1, 2 ** 40, 'short for at_least')),
    at_least: Type.Optional(
      Type.Number({ ...value, ...about('it holds at this value and above') }),
    ),
    at_most: Type.Optional(Type.Number({ ...value, ...about('it holds at this value and below') })),
    held_ms: Type.Optional(
      integerFrom(0, MOST_MS, 'and has held for so long without a break; left out: 0'),
    ),
    held_blocks: Type.Optional(
      integerFrom(0, 1_000_000, 'and so many blocks have closed meanwhile; left out: 0'),
    ),
  },
  { ...strictly, ...about('a condition') },
);

export const Length = Type.Object(
  {
    blocks: Type.Optional(integerFrom(1, 1_000_000, 'ends when so many blocks have closed')),
    virtual_ms: Type.Optional(integerFrom(1, MOST_MS, 'ends at this time of the world')),
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
    every_ms: integerFrom(100, 3_600_000, 'spacing of the time series', 5_000),
    votes: Type.Boolean({ default: false, ...about('write votes.csv, a row for each vote') }),
    decisions: Type.Boolean({
      default: false,
      ...about('write decisions.ndjson: what each vote rested on'),
    }),
    warmup_ms: Type.Optional(
      integerFrom(1, MOST_MS, 'nothing before this time of the run is in any measure'),
    ),
    warmup_blocks: Type.Optional(
      integerFrom(1, 1_000_000, 'nothing until so many blocks have closed is; or give warmup_ms'),
    ),
  },
  { ...section, ...about('what is written beside the totals') },
);

const AgentName = (description: string) =>
  Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: MOST_AGENTS - 1 }),
      Type.String({ minLength: 1, maxLength: 64 }),
    ],
    { description },
  );

/** By its number in the run, from 0, or by its id. */
const Numbered = (pattern: string, description: string) =>
  Type.Union([Type.Integer({ minimum: 0, maximum: 2 ** 32 }), Type.String({ pattern })], {
    description,
  });

const Block = Numbered('^[0-9a-f]{64}$', 'its number as in blocks.csv, or its hash');
const Meme = Numbered('^meme_[0-9a-f]{32}$', 'how many were posted before it, or its id');
const Alliance = Numbered('^ally_[0-9a-f]{32}$', 'how many were proposed before it, or its id');

export const Whom = Type.Object(
  {
    agent: Type.Optional(AgentName('one: its ordinal, or its name as in agents.csv')),
    group: Type.Optional(GroupName('out of this group; left out: out of all agents')),
    alliance: Type.Optional(Alliance),
    count: Selector.properties.count,
    share: Selector.properties.share,
  },
  { ...strictly, ...about('one agent, those of an alliance when it acts, or some of a group') },
);

const whom = Type.Array(Whom, { minItems: 1, maxItems: 100, description: 'whom it is about' });

/** One of these says when. */
const when = {
  at_ms: Type.Optional(integerFrom(0, MOST_MS, 'at this time of the run')),
  at_entry: Type.Optional(integerFrom(0, 2 ** 40, 'when the log has this entry')),
  at_height: Type.Optional(integerFrom(0, 1_000_000, 'when so many blocks are finalized')),
  at_condition: Type.Optional(Condition),
};

const shared = {
  ...when,
  acts: Type.Optional(
    Type.Boolean({
      description: 'false: it never does; for a sweep over runs with it and without',
    }),
  ),
};

/** The members that say when it acts. */
export const moments = ['at_ms', 'at_entry', 'at_height', 'at_condition'] as const;

const action = <K extends string, P extends TProperties>(kind: K, text: string, own: P) =>
  Type.Object({ kind: Type.Literal(kind), ...shared, ...own } as const, {
    ...strictly,
    ...about(text),
  });

export const Intervention = Type.Union([
  action('mute', 'nobody hears of a meme any more, or of those of an author; the log has them', {
    meme: Type.Optional(Meme),
    whom: Type.Optional(whom),
  }),
  action('silence', 'they send nothing any more, to the network or to neighbours', { whom }),
  action('remove', 'they leave for good, by status', { whom }),
  action('dissolve', 'the members of an alliance leave it', { alliance: Alliance }),
  action('drop', 'a proposal never arrives: of a block, or of an alliance', {
    block: Type.Optional(Block),
    alliance: Type.Optional(Alliance),
  }),
  action('vote', "an agent's vote on a block is another, or there, or not", {
    agent: AgentName('a validator: its ordinal, or its name as in agents.csv'),
    block: Block,
    decision: Type.Enum(['approve', 'reject', 'none'], { description: 'none: it does not vote' }),
  }),
  action('strategy', 'they act by another strategy', { whom, strategy: Strategy }),
  action('traits', 'they have other traits', { whom, traits: Traits }),
  action('set', 'another value of producers, social, links.loss or links.duplication', {
    path: Type.String({ minLength: 1, maxLength: 200, description: 'as social.memes.rate' }),
    value: Type.Unknown({ description: 'what the scenario could have there' }),
  }),
  action('redraw', 'whatever is drawn by chance is drawn by another seed', {
    seed: Type.String({ minLength: 1, maxLength: 100, description: 'with that of the run' }),
  }),
  action('link', 'what passes between two agents, or one and the network', {
    between: Type.Array(AgentName('an agent, or network'), {
      minItems: 2,
      maxItems: 2,
      description: 'two agents, or one and network',
    }),
    loss: Type.Optional(Share('of messages between them that are lost; 1: all')),
    factor: Type.Optional(integerFrom(1, 1_000, 'times the latency')),
  }),
]);

/** What is made to be otherwise in a run, and from when on: docs/what-if.md. */
export type Intervention = Static<typeof Intervention>;
export type Whom = Static<typeof Whom>;
export type InterventionKind = Intervention['kind'];
export type InterventionOf<K extends InterventionKind> = Extract<Intervention, { kind: K }>;
/** Names a block, meme or alliance: its number in the run, or its id. */
export type Named = number | string;
