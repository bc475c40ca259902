/** What a vote rested on, in a sentence or two. */
import { counted, shown } from '../../../../report/shared/numbers.js';
import { plain } from '../../../parts/text.js';
import { type Factor, factors, judgementOf, type Reasoned } from './fetch.js';

export const names: Readonly<Record<Factor, string>> = {
  content: 'what is in the block',
  neighbours: 'votes of neighbours',
  memes: 'memes it heard of',
  whim: 'whim',
};

const others: Readonly<Record<Exclude<Reasoned['basis'], 'judgement'>, string>> = {
  content: 'it went by what is in the block, and by nothing else.',
  neighbours: 'it went by the votes of its neighbours, and by nothing else.',
  script: 'its script or decider gave no reason.',
  unknown: 'nobody noted a reason: its strategy does not say, or it was made to.',
};

export function wordsOf(one: Reasoned): string {
  const judgement = judgementOf(one);
  if (!judgement) {
    if (one.reason) return `it said: “${plain(one.reason, 400)}”`;
    return others[one.basis as keyof typeof others] ?? others.unknown;
  }
  const { score, threshold, without, turned_by } = judgement;
  const alone = factors.filter((factor) => without[factor] !== one.decision);
  const verb = one.decision === 'approve' ? 'approves' : 'rejects';
  const sums = `a score of ${shown(score)}, where ${shown(threshold)} is needed, so it ${verb}.`;
  return [sums, turnedText(alone, one.decision), memesText(one.memes.length, turned_by.length)]
    .filter(Boolean)
    .join(' ');
}

/** Each alone: which of them decided it. */
function turnedText(alone: readonly Factor[], decision: string): string {
  const other = decision === 'approve' ? 'rejected' : 'approved';
  if (alone.length === 0) return `Whichever one is left out, it would have voted the same.`;
  const list = alone.map((factor) => names[factor]).join(', or ');
  return `Without ${list}, it would have ${other}.`;
}

function memesText(heard: number, turned: number): string {
  if (heard === 0) return '';
  const some = `It had heard of ${counted(heard, 'meme')} about it`;
  if (turned === 0) return `${some}; none of them alone turned the vote.`;
  const which = turned === 1 ? 'one' : `any of ${shown(turned)}`;
  return `${some}; without ${which} of them it would have voted otherwise.`;
}
