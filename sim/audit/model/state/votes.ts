/** How each agent voted on each block: one byte an agent, kept for ever. */
import type { Decision } from '../../../../engine/internal.js';
import type { Agent, Block } from './state.js';

const APPROVED = 1;
const REJECTED = 2;
/** The agent has signed the other decision too, and that is logged. */
const EQUIVOCATED = 4;

export function voteOf(block: Block, agent: Agent): Decision | null {
  return decisionAt(block, agent.number);
}

export function decisionAt(block: Block, number: number): Decision | null {
  const mark = block.marks[number] ?? 0;
  if (mark === 0) return null;
  return (mark & APPROVED) > 0 ? 'approve' : 'reject';
}

export const weightAt = (block: Block, number: number): number =>
  block.electorate.weights[number] ?? 0;

export const votedAt = (block: Block, agent: Agent): number =>
  block.proposedAt + block.votedAfterMs[agent.number]!;

export const hasEquivocated = (block: Block, agent: Agent): boolean =>
  ((block.marks[agent.number] ?? 0) & EQUIVOCATED) > 0;

export function equivocated(block: Block, agent: Agent): void {
  block.marks[agent.number]! |= EQUIVOCATED;
}

/** Counts a vote that nothing speaks against. */
export function castVote(
  block: Block,
  agent: Agent,
  vote: { decision: Decision; memes: readonly string[]; at: number },
): void {
  const { number, personality } = agent;
  const { voters, references, rejections } = block.ballots!;
  const weight = weightAt(block, number);
  block.marks[number] = vote.decision === 'approve' ? APPROVED : REJECTED;
  block.votedAfterMs[number] = vote.at - block.proposedAt;
  voters.push(number);
  for (const meme of vote.memes) {
    const known = references.get(meme);
    if (known) known.push(number);
    else references.set(meme, [number]);
  }
  if (vote.decision === 'approve') {
    block.approve += weight;
    return;
  }
  block.reject += weight;
  const alike = (rejections.get(personality) ?? 0) + 1;
  rejections.set(personality, alike);
  const group = block.electorate.groups.get(personality)!;
  if (group >= VETO_GROUP && alike === group) block.ballots!.vetoed = true;
}

/** The smallest personality group that can veto. */
const VETO_GROUP = 3;
