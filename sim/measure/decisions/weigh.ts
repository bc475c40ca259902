/** What a judgement rested on, exactly: a weighted sum against a threshold, taken apart. */
import type { Decision } from '../../../engine/internal.js';
import { memeOpinion } from '../../agents/actions/voting.js';
import type { Basis } from '../../agents/port/notes.js';
import {
  approves,
  type Factor,
  factors,
  NO_OPINION,
  type Opinions,
} from '../../scenario/schema/personalities.js';
import type { DecisionLine } from './schema.js';

type Judgement = Extract<Basis, { by: 'judgement' }>;
type ByFactor<T> = Record<'content' | 'neighbours' | 'memes' | 'whim', T>;

/** The members of a line that only a judgement has. */
type Weighed = Pick<
  DecisionLine,
  'score' | 'threshold' | 'opinions' | 'contributions' | 'without' | 'shapley_24ths' | 'turned_by'
>;

export function weighed(judgement: Judgement): Weighed {
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

export const decisionOn = ({ personality }: Judgement, opinions: Opinions): Decision =>
  approves(personality, opinions) ? 'approve' : 'reject';

const byFactor = <T>(of: (factor: Factor) => T): ByFactor<T> => ({
  content: of('technical'),
  neighbours: of('social'),
  memes: of('meme'),
  whim: of('random'),
});

/** Of the 24 orders of four factors, how many put so many of the other three before one. */
const ORDERS = [6, 2, 2, 6] as const;

/** By all 16 sets of factors; those that are left out have no opinion. */
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
