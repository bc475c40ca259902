/**
 * What may be known of the run whose network is shown: who of the network is who of its scenario,
 * who hears whom, and what votes rested on. A sentence stands for what is not known, and says why.
 */

import { type TSchema, Type } from '../../engine/protocol/bundled/typebox.js';
import {
  AgentId,
  Count,
  Decision,
  Hash,
  Milliseconds,
  nullable,
} from '../../engine/protocol/schema/primitives.js';

const described = <S extends TSchema>(schema: S, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const whole = Type.Integer();

/** In the words of docs/model.md: the traits technical, social, meme and random. */
const factorsOf = <S extends TSchema>(each: S, description: string) =>
  described(
    Type.Object(
      { content: each, neighbours: each, memes: each, whim: each },
      { additionalProperties: false },
    ),
    description,
  );

/** What a vote rested on. */
export const Reasons = Type.Object({
  basis: Type.Enum(['judgement', 'content', 'neighbours', 'script', 'unknown'], {
    description:
      'judgement: opinions weighed by its traits; content or neighbours: by its strategy, on ' +
      'that alone; script: the reason that its script or decider gave; unknown: its strategy ' +
      'does not say, it was made to, or it is not of the scenario',
  }),
  reason: described(Type.String(), 'of a script or decider; else null'),
  score: described(
    Type.Number(),
    'of a judgement, as all that follows: the sum of weight times opinion, each of four; it ' +
      'approves from threshold on',
  ),
  threshold: described(Type.Number(), '100 times the trait threshold'),
  opinions: factorsOf(
    Type.Number(),
    '0, against, to 100, for; 50 for who has none. content: percent of its transactions that ' +
      'add up; neighbours: of the votes received; memes: of the memes received; whim: drawn',
  ),
  contributions: factorsOf(
    Type.Number(),
    'weight times (opinion - 50): what it adds to the score of who has no opinion; with that ' +
      'score, 50 times the sum of the weights, they sum to the score',
  ),
  without: factorsOf(
    Type.Enum([...Decision.enum]),
    'what it would have decided with no opinion (50) in place of this one',
  ),
  shapley_24ths: factorsOf(
    whole,
    'Shapley value of the factor in the decision (approve 1, reject 0; factors left out count ' +
      '50), in 1/24: with the decision of who has no opinion at all, they sum to the decision',
  ),
  memes: Type.Array(Type.String(), {
    description: 'ids of the memes about the block that it had received when it decided',
  }),
  turned_by: described(
    Type.Array(Type.String()),
    'those of them without each of which, by itself, it would have decided otherwise',
  ),
});

const next_cursor = nullable(Type.String());

export const AgentDecisions = Type.Object({
  agent_id: AgentId,
  recorded: Type.Integer({
    description: 'of how many of its votes up to the entry there is a record, on all pages',
  }),
  decisions: Type.Array(
    Type.Object({
      block_hash: Hash,
      height: Count,
      decision: Decision,
      entry: Count,
      at: Milliseconds,
      ...Reasons.properties,
    }),
  ),
  next_cursor,
});

export const AgentNeighbours = Type.Object({
  agent_id: AgentId,
  topology: Type.String({ description: 'of the social graph, as the scenario has it' }),
  total: Type.Integer({ description: 'how many neighbours it has' }),
  neighbours: Type.Array(
    Type.Object({
      agent_id: AgentId,
      number: described(Count, 'as in pictures; null for who never registered'),
      hears: Type.Boolean({ description: 'whether what it says reaches the agent at that time' }),
      heard: Type.Boolean({ description: 'whether what the agent says reaches it' }),
    }),
  ),
  links: Type.Array(Type.Array(Count, { minItems: 2, maxItems: 2 }), {
    description: 'who of this page are neighbours of each other: places in `neighbours`',
  }),
  next_cursor,
});

/** What a vote rested on, and which it is: the decision, and the number of its block. */
export interface Decided {
  block: number;
  decision: 'approve' | 'reject';
  basis: 'judgement' | 'content' | 'neighbours' | 'script' | 'unknown';
  /** Of a script or decider. */
  reason: string | null;
  /** Of a judgement, as all that follows. */
  score: number | null;
  threshold: number | null;
  opinions: Record<Factor, number> | null;
  contributions: Record<Factor, number> | null;
  without: Record<Factor, 'approve' | 'reject'> | null;
  shapley_24ths: Record<Factor, number> | null;
  /** Ids of the memes that it had received. */
  memes: string[];
  turned_by: string[] | null;
}

/** What a judgement weighs, in the words of docs/model.md. */
export type Factor = 'content' | 'neighbours' | 'memes' | 'whim';

/** What votes rested on, as it was recorded. */
export interface KnownDecisions {
  /** Numbers of the blocks that an agent voted on, in the order of its votes. */
  blocksOf(agent: number): Promise<readonly number[] | string>;
  /** What its votes rested on: those at places `from` to `to` of that list, `to` left out. */
  read(agent: number, from: number, to: number): Promise<Decided[]>;
}

/** Who hears whom, by place in the scenario. */
export interface KnownGraph {
  readonly topology: string;
  /** Of each agent, ascending. */
  readonly neighbours: readonly (readonly number[])[];
  /** Whether what one says to another at an instant, milliseconds since 1970, gets through. */
  passes(from: number, to: number, at: number): boolean;
}

/**
 * A run as far as it is known: of its agents by their places in the scenario, from 0.
 *
 * @interface
 */
export interface KnownRun {
  /** The place of an agent of the network, by its id and name; null for who is not of the run. */
  placeOf(agent: { agent_id: string; name: string }): number | null;
  /** The id of the agent at a place. */
  idAt(place: number): string;
  graph(): KnownGraph | string;
  readonly decisions: KnownDecisions | string;
}
