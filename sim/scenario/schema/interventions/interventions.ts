/** The interventions of a scenario: what is made to be otherwise, from when on. */
import { type Static, type TProperties, Type } from '../../../../engine/internal.js';
import { Selector } from '../faults.js';
import { Condition } from '../length.js';
import { Strategy } from '../strategies.js';
import { about, GroupName, MOST_AGENTS, MOST_MS, Share, strictly, whole } from '../terms.js';
import { Traits } from '../traits.js';

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
  at_ms: Type.Optional(whole(0, MOST_MS, 'at this time of the run')),
  at_entry: Type.Optional(whole(0, 2 ** 40, 'when the log has this entry')),
  at_height: Type.Optional(whole(0, 1_000_000, 'when so many blocks are finalized')),
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
    factor: Type.Optional(whole(1, 1_000, 'times the latency')),
  }),
]);

/** What is made to be otherwise in a run, and from when on: docs/what-if.md. */
export type Intervention = Static<typeof Intervention>;
export type Whom = Static<typeof Whom>;
export type InterventionKind = Intervention['kind'];
export type InterventionOf<K extends InterventionKind> = Extract<Intervention, { kind: K }>;
/** Names a block, meme or alliance: its number in the run, or its id. */
export type Named = number | string;
