/** A line of decisions.ndjson, out of a vote that counted and what its agent noted with it. */
import type { Decision } from '../../../engine/internal.js';
import type { Cause } from '../../world/observer.js';
import type { DecisionLine } from './schema.js';
import { decisionOn, weighed } from './weigh.js';

type Voted = Pick<DecisionLine, 'block' | 'agent' | 'group' | 'decision' | 'voted_ms' | 'warmup'>;

export function decisionLine(voted: Voted, cause: Cause | null): DecisionLine {
  const { warmup, ...vote } = voted;
  const note = cause?.note;
  const basis = basisOf(voted.decision, cause);
  return {
    ...vote,
    basis: basis?.by ?? 'unknown',
    reason: basis?.by === 'script' ? basis.reason : null,
    ...(basis?.by === 'judgement' ? weighed(basis) : nothingWeighed),
    memes: [...(note?.receivedMemes ?? [])],
    warmup,
  };
}

/** None where the vote is not what the agent decided: somebody else made it so. */
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
