/**
 * decisions.ndjson: the reasons for each counted vote, as a weighted sum against a threshold. The
 * schema provides the type of a line and its documentation in docs/measures.md.
 */
import { Reasons } from '../../api/contract/run.js';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { Decision } from '../../engine/protocol/schema/primitives.js';
import { memeOpinion } from '../agents/actions.js';
import type { Basis } from '../agents/port.js';
import {
  approves,
  type Factor,
  factors,
  NO_OPINION,
  type Opinions,
} from '../scenario/schema/personalities.js';
import type { Cause } from '../world/observer.js';

export const DecisionLine = Type.Object(
  {
    block: Type.Integer({ description: 'number of the block, as in blocks.csv' }),
    agent: Type.Union([Type.Integer(), Type.Null()], {
      description: 'ordinal of the voter; null if it is not part of the scenario',
    }),
    group: Type.Union([Type.String(), Type.Null()], {
      description: 'group of the voter; null if it is not part of the scenario',
    }),
    decision: Type.Enum([...Decision.enum], { description: 'approve or reject' }),
    voted_ms: Type.Integer({ description: 'arrival of the vote, milliseconds of virtual time' }),
    ...Reasons.properties,
    warmup: Type.Boolean({ description: 'true if the block was proposed during the warm-up' }),
  },
  { additionalProperties: false },
);

export type DecisionLine = Static<typeof DecisionLine>;

type Voted = Pick<DecisionLine, 'block' | 'agent' | 'group' | 'decision' | 'voted_ms' | 'warmup'>;

export function decisionLine(voted: Voted, cause: Cause | null): DecisionLine {
  const { warmup, ...vote } = voted;
  const note = cause?.note;
  const basis = basisOf(voted.decision, cause);
  return {
    ...vote,
    basis: basis?.by ?? 'unknown',
    reason: basis?.by === 'script' ? basis.reason : null,
    ...(basis?.by === 'judgement' ? weighJudgement(basis) : nothingWeighed),
    memes: [...(note?.receivedMemes ?? [])],
    warmup,
  };
}

/** Returns the basis. Undefined if an intervention changed the agent's decision. */
function basisOf(decision: Decision, cause: Cause | null) {
  const basis = cause?.note?.basis;
  if (basis?.by !== 'judgement') return basis;
  return decisionOn(basis, basis.opinions) === decision ? basis : undefined;
}

const nothingWeighed = {
  score: null,
  threshold: null,
  opinions: null,
  contributions: null,
  without: null,
  shapley_24ths: null,
  turned_by: null,
};

type Judgement = Extract<Basis, { by: 'judgement' }>;
type ByFactor<T> = Record<'content' | 'neighbours' | 'memes' | 'whim', T>;

/** Members that only a judgement's line contains. */
type Weighed = Pick<
  DecisionLine,
  'score' | 'threshold' | 'opinions' | 'contributions' | 'without' | 'shapley_24ths' | 'turned_by'
>;

export function weighJudgement(judgement: Judgement): Weighed {
  const { personality, opinions, memes, hasMeme } = judgement;
  const contributions = byFactor((of) => personality[of] * (opinions[of] - NO_OPINION));
  const weights = factors.reduce((sum, of) => sum + personality[of], 0);
  const sum = Object.values(contributions).reduce((all, one) => all + one, 0);
  const decided = decisionOn(judgement, opinions);
  const others = (id: string) => memes.filter((meme) => meme.id !== id);
  return {
    score: NO_OPINION * weights + sum,
    threshold: 100 * personality.threshold,
    opinions: byFactor((of) => opinions[of]),
    contributions,
    without: byFactor((of) => decisionOn(judgement, { ...opinions, [of]: NO_OPINION })),
    shapley_24ths: shapley(judgement),
    turned_by: memes
      .filter(({ id }) => {
        const meme = memeOpinion(hasMeme, others(id));
        return decisionOn(judgement, { ...opinions, meme }) !== decided;
      })
      .map(({ id }) => id),
  };
}

const decisionOn = ({ personality }: Judgement, opinions: Opinions): Decision =>
  approves(personality, opinions) ? 'approve' : 'reject';

const byFactor = <T>(of: (factor: Factor) => T): ByFactor<T> => ({
  content: of('technical'),
  neighbours: of('social'),
  memes: of('meme'),
  whim: of('random'),
});

/**
 * Number of the 24 orders of four factors in which a given set of this many factors, and no other
 * factor, precedes a given factor.
 */
const ORDERS = [6, 2, 2, 6] as const;

/** Evaluates all 16 subsets of factors. A factor outside a subset gets the neutral opinion. */
function shapley(judgement: Judgement): ByFactor<number> {
  const { opinions } = judgement;
  const approving = Array.from({ length: 16 }, (_, set) => {
    const on = { ...opinions };
    for (const [at, factor] of factors.entries()) if (!((set >> at) & 1)) on[factor] = NO_OPINION;
    return decisionOn(judgement, on) === 'approve' ? 1 : 0;
  });
  return byFactor((factor) => {
    const own = 1 << factors.indexOf(factor);
    let sum = 0;
    for (let set = 0; set < 16; set += 1) {
      if (set & own) continue;
      sum += ORDERS[sizeOf(set)]! * (approving[set | own]! - approving[set]!);
    }
    return sum;
  });
}

const sizeOf = (set: number): number => factors.filter((_, at) => (set >> at) & 1).length;
