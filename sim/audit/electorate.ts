/**
 * A block's electorate and votes: agents' weights, dormancy, the votes (one byte per agent, never
 * deleted), and the decision under each policy.
 */
import type { Genesis } from '../../engine/protocol/schema/genesis.js';
import type { Decision } from '../../engine/protocol/schema/primitives.js';
import type { Verdict } from '../../engine/rules/rule.js';
import { decideByRule, foreignRule } from './polls.js';
import type { Agent, Block, Electorate, State } from './state.js';

/** Base weight under `alliance_bonus`. Each of the first five allies in the electorate adds 2. */
const BASE = 100;
const BONUS = 2;
const BONUS_ALLIES = 5;

export function getElectorate(state: State): Electorate {
  state.electorate ??= drawUp(state);
  return state.electorate;
}

const isActive = ({ validator, status }: Agent) => validator && status === 'active';
const votes = (agent: Agent) => isActive(agent) && !agent.dormant;

/** Computes each active validator's weight without dormancy. */
function fullWeights(state: State): Map<Agent, number> {
  const active = state.agents.filter(isActive);
  return new Map(active.map((agent) => [agent, weigh(state, agent, isActive)]));
}

function drawUp(state: State): Electorate {
  const weights = new Uint8Array(state.agents.length);
  const groups = new Map<string, number>();
  let total = 0;
  let heads = 0;
  for (const agent of state.agents) {
    if (!votes(agent)) continue;
    const weight = weigh(state, agent, votes);
    weights[agent.number] = weight;
    total += weight;
    heads += 1;
    groups.set(agent.personality, (groups.get(agent.personality) ?? 0) + 1);
  }
  return { weights, total, heads, groups };
}

/** @param counts returns true for allies that add a bonus. */
function weigh({ genesis }: State, agent: Agent, counts: (ally: Agent) => boolean): number {
  if (genesis.weights === 'equal') return 1;
  if (genesis.weights === 'reputation') return reputationWeight(agent.scores.overall);
  const allies = new Set<Agent>();
  for (const { members } of agent.alliances) {
    for (const ally of members) {
      if (ally !== agent && counts(ally)) allies.add(ally);
      if (allies.size === BONUS_ALLIES) return BASE + BONUS * BONUS_ALLIES;
    }
  }
  return BASE + BONUS * allies.size;
}

const reputationWeight = (overall: number): number => Math.max(1, Math.trunc(overall / 10_000));

/** Called when an agent joins or leaves the electorate of the next block. */
export function onStandingChange(state: State, agent: Agent): void {
  if (agent.validator) state.electorate = null;
}

export function onScoreChange(state: State, before: number, after: number): void {
  if (state.genesis.weights !== 'reputation' || before === after) return;
  if (reputationWeight(before) !== reputationWeight(after)) state.electorate = null;
}

export function onAllianceChange(state: State): void {
  if (state.genesis.weights === 'alliance_bonus') state.electorate = null;
}

const MOST_MISSED = 1_000_000;

/** Records a missed block for each elector that did not vote. Overlapping blocks count once. */
export function countMisses(state: State, block: Block): void {
  const { dormant_after } = state.genesis;
  if (dormant_after === 0) return;
  const { stall } = state;
  if (block.proposedAt >= stall.countedAt) {
    stall.periods += 1;
    stall.countedAt = block.closedAt;
  }
  const tired: Agent[] = [];
  for (const [number, weight] of block.electorate.weights.entries()) {
    if (weight === 0) continue;
    const agent = state.agents[number]!;
    const isPresent = block.marks[number] !== 0;
    if (!isPresent && (block.proposedAt < agent.countedAt || isVoting(state, agent))) continue;
    agent.missed = isPresent ? 0 : Math.min(MOST_MISSED, agent.missed + 1);
    agent.countedAt = block.closedAt;
    if (agent.missed >= dormant_after) tired.push(agent);
  }
  putToSleep(state, tired);
}

const isVoting = ({ open }: State, { number }: Agent): boolean =>
  [...open.values()].some(({ marks }) => (marks[number] ?? 0) !== 0);

/** Makes agents dormant, up to the limit: most missed blocks first, then earliest registered. */
function putToSleep(state: State, tired: Agent[]): void {
  const weights = fullWeights(state);
  let whole = 0;
  let sleeping = 0;
  for (const [agent, weight] of weights) {
    whole += weight;
    if (agent.dormant) sleeping += weight;
  }
  const room = mostSleeping(state, whole);
  const inOrder = tired.sort((a, b) => b.missed - a.missed || a.number - b.number);
  for (const agent of inOrder) {
    const weight = weights.get(agent);
    if (agent.dormant || weight === undefined) continue;
    if (sleeping + weight > room) continue;
    sleeping += weight;
    setDormant(state, agent, true);
  }
}

/**
 * Returns the limit on dormant weight: a share of the total, and per leak period the same share of
 * the remaining weight.
 */
function mostSleeping({ genesis, stall }: State, whole: number): number {
  const { dormant_share_max, leak_periods } = genesis;
  let awake = whole - Math.floor((whole * dormant_share_max) / 10_000);
  let left = leak_periods > 0 ? Math.floor(stall.periods / leak_periods) : 0;
  while (left > 0 && awake > 0 && dormant_share_max > 0) {
    awake -= Math.ceil((awake * dormant_share_max) / 10_000);
    left -= 1;
  }
  return whole - awake;
}

export function setDormant(state: State, agent: Agent, dormant: boolean): void {
  agent.dormant = dormant;
  onStandingChange(state, agent);
}

/** Decides a block after a vote, or at its deadline (`isOver`). The status is null while open. */
export function decideBlock(genesis: Genesis, block: Block, isOver: boolean): Verdict {
  const rule = foreignRule(genesis);
  if (rule) return decideByRule(rule, block, isOver);
  const { approve, reject, electorate } = block;
  const { voters, vetoes } = block.ballots!;
  if (genesis.policy === 'majority') {
    if (!isOver && voters.length < electorate.heads) return { status: null };
    const turnout = (approve + reject) * 10_000;
    if (turnout < genesis.participation_bps * electorate.total) return { status: 'expired' };
    return { status: approve > reject ? 'finalized' : 'rejected' };
  }
  if (approve * 3 > electorate.total * 2) return { status: 'finalized' };
  if (reject * 3 >= electorate.total) return { status: 'rejected' };
  if (genesis.policy === 'veto' && vetoes > 0) return { status: 'rejected' };
  return { status: isOver ? 'expired' : null };
}

/** Returns the smallest approving weight that would finalize the block now. */
export function computeVotesNeeded(genesis: Genesis, block: Block): number {
  const { policy, participation_bps } = genesis;
  const { reject, electorate } = block;
  const rule = foreignRule(genesis);
  if (rule) {
    const { total, heads: electors } = electorate;
    return rule.needed({ reject, total, electors });
  }
  if (policy !== 'majority') return Math.floor((electorate.total * 2) / 3) + 1;
  const turnout = Math.ceil((participation_bps * electorate.total) / 10_000);
  return Math.max(reject + 1, turnout - reject);
}

const APPROVED = 1;
const REJECTED = 2;
/** Mark for an agent that also signed the opposite vote, with the evidence in the log. */
const EQUIVOCATED = 4;

export function getVote(block: Block, agent: Agent): Decision | null {
  return getDecision(block, agent.number);
}

export function getDecision(block: Block, number: number): Decision | null {
  const mark = block.marks[number] ?? 0;
  if (mark === 0) return null;
  return (mark & APPROVED) > 0 ? 'approve' : 'reject';
}

export const getWeight = (block: Block, number: number): number =>
  block.electorate.weights[number] ?? 0;

export const getVoteTime = (block: Block, agent: Agent): number =>
  block.proposedAt + block.votedAfterMs[agent.number]!;

export const hasEquivocated = (block: Block, agent: Agent): boolean =>
  ((block.marks[agent.number] ?? 0) & EQUIVOCATED) > 0;

export function markEquivocation(block: Block, agent: Agent): void {
  block.marks[agent.number]! |= EQUIVOCATED;
}

/** Counts an accepted vote. */
export function castVote(
  block: Block,
  agent: Agent,
  vote: { decision: Decision; memes: readonly string[]; at: number },
): void {
  const { number, personality } = agent;
  const { voters, references, rejections } = block.ballots!;
  const weight = getWeight(block, number);
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
  if (group >= VETO_GROUP && alike === group) block.ballots!.vetoes += 1;
}

/** Smallest personality group with a veto. */
const VETO_GROUP = 3;
