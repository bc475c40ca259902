/**
 * Optional data about a simulation run: the agents' places in the scenario, the social graph and
 * the decision records. If data is missing, a sentence in its place says why.
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

/** Factors from docs/model.md: the traits technical, social, meme and random. */
const factorsOf = <S extends TSchema>(each: S, description: string) =>
  described(
    Type.Object(
      { content: each, neighbours: each, memes: each, whim: each },
      { additionalProperties: false },
    ),
    description,
  );

/** Schema for a decision record. */
export const Reasons = Type.Object({
  basis: Type.Enum(['judgement', 'content', 'neighbours', 'script', 'unknown'], {
    description:
      "judgement: opinions weighted by the agent's traits; content or neighbours: the strategy " +
      'considers only that; script: the reason given by a script or decider; unknown: the ' +
      'strategy gives none, an intervention set the vote, or the agent is not in the scenario',
  }),
  reason: described(Type.String(), 'reason given by a script or decider; else null'),
  score: described(
    Type.Number(),
    'this and all following members: only for a judgement. Sum of weight times opinion over the ' +
      'four factors; the agent approves if score >= threshold',
  ),
  threshold: described(Type.Number(), '100 times the trait `threshold`'),
  opinions: factorsOf(
    Type.Number(),
    "0 (against) to 100 (for); 50 means no opinion. content: percentage of the block's " +
      'transactions that are valid; neighbours: approval among received votes; memes: among ' +
      'received memes; whim: drawn at random',
  ),
  contributions: factorsOf(
    Type.Number(),
    'weight times (opinion - 50): contribution to the score, relative to no opinion. The ' +
      'contributions and 50 times the sum of the weights add up to the score',
  ),
  without: factorsOf(
    Type.Enum([...Decision.enum]),
    'decision if this opinion were 50 (no opinion)',
  ),
  shapley_24ths: factorsOf(
    whole,
    'Shapley value of the factor for the decision (approve 1, reject 0; excluded factors count ' +
      '50), in 1/24. The values and the decision without any opinion add up to the decision',
  ),
  memes: Type.Array(Type.String(), {
    description: 'ids of memes about the block that the agent had received before deciding',
  }),
  turned_by: described(
    Type.Array(Type.String()),
    'memes that each, if removed alone, would change the decision',
  ),
});

const next_cursor = nullable(Type.String());

export const AgentDecisions = Type.Object({
  agent_id: AgentId,
  recorded: Type.Integer({
    description: "total number of decision records for the agent's votes up to the entry",
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
  topology: Type.String({ description: 'topology of the social graph' }),
  total: Type.Integer({ description: 'number of neighbours' }),
  neighbours: Type.Array(
    Type.Object({
      agent_id: AgentId,
      number: described(Count, 'number of the agent in snapshots; null if not registered'),
      hears: Type.Boolean({ description: 'true if its messages reach the agent at that time' }),
      heard: Type.Boolean({ description: "true if the agent's messages reach it" }),
    }),
  ),
  links: Type.Array(Type.Array(Count, { minItems: 2, maxItems: 2 }), {
    description: 'pairs of neighbours on this page that are linked: indexes into `neighbours`',
  }),
  next_cursor,
});

/** Decision record for a vote, with its block number and decision. */
export interface Decided {
  block: number;
  decision: 'approve' | 'reject';
  basis: 'judgement' | 'content' | 'neighbours' | 'script' | 'unknown';
  /** Reason given by a script or decider. */
  reason: string | null;
  /** Present, like all following members, only for a judgement. */
  score: number | null;
  threshold: number | null;
  opinions: Record<Factor, number> | null;
  contributions: Record<Factor, number> | null;
  without: Record<Factor, 'approve' | 'reject'> | null;
  shapley_24ths: Record<Factor, number> | null;
  /** Ids of the memes that the agent had received by then. */
  memes: string[];
  turned_by: string[] | null;
}

/** Factors in a judgement (docs/model.md). */
export type Factor = 'content' | 'neighbours' | 'memes' | 'whim';

/** A run's recorded decisions. */
export interface KnownDecisions {
  /** Returns the numbers of blocks that an agent voted on, in order, or why they are missing. */
  blocksOf(agent: number): Promise<readonly number[] | string>;
  /** Reads the records at indexes `from` to `to` (exclusive) in that list. */
  read(agent: number, from: number, to: number): Promise<Decided[]>;
}

/** Social graph, by place in the scenario. */
export interface KnownGraph {
  readonly topology: string;
  /** Each agent's neighbours, ascending. */
  readonly neighbours: readonly (readonly number[])[];
  /** Returns true if a message gets through at `at` (milliseconds since 1970). */
  passes(from: number, to: number, at: number): boolean;
}

/** Known data about a run. A place is an agent's index in the scenario, from 0. @interface */
export interface KnownRun {
  /** Returns an agent's place, by id and name. Returns null if the agent is not in the scenario. */
  placeOf(agent: { agent_id: string; name: string }): number | null;
  idAt(place: number): string;
  graph(): KnownGraph | string;
  readonly decisions: KnownDecisions | string;
}
