/**
 * Updates reputations after a finalized or rejected block, in integers. First takes all samples
 * from ballots, weights and alliances. Then penalties decay and the five scores move.
 */

import { assertInvariant } from '../protocol/invariants.js';
import type { Genesis } from '../protocol/schema/genesis.js';
import { type Decision, formatInstant } from '../protocol/schema/primitives.js';
import { type Agent, column, SCALE, sortById } from './agents.js';
import { blockContext, type OpenBlock } from './blocks.js';
import { findElector } from './electorates.js';
import type { State } from './state.js';

/** Smallest change in `overall` that emits an event. */
const TOLD_STEP = 1_000;
const PENALTY = 250_000;
const PENALTY_MOST = 500_000;

/** Scales part / whole to SCALE. The bounds on weights keep the product below 2^53. */
const share = (part: number, whole: number) => Math.trunc((SCALE * part) / whole);

const ema = (old: number, sample: number) => old + Math.trunc((sample - old) / 16);

/** Updates the scores of a closed block's participants, and emits changed scores by agent id. */
export function judgeBlock(
  state: State,
  block: OpenBlock,
  outcome: 'finalized' | 'rejected',
): void {
  const right: Decision = outcome === 'finalized' ? 'approve' : 'reject';
  const voters = votersOf(block);
  const { agents } = block.ballots.electorate;
  const producer = producerOf(state, block);
  const participants = voters.map((position) => agents[position]!);
  const own = findElector(block.ballots.electorate, producer);
  if (own < 0 || block.ballots.choice(own) === null) participants.push(producer);
  const alliance = allianceSamples(state, block);
  const memes = memeSamples(state, block, right);

  for (const ordinal of participants) decayPenalty(state, ordinal);
  if (state.genesis.consistency === 'conformity') {
    for (const position of voters) {
      const sample = block.ballots.choice(position) === right ? SCALE : 0;
      move(state, agents[position]!, column.consistency, sample);
    }
  }
  ratePeers(state, block, voters, own);
  for (const { creator, sample } of memes) move(state, creator, column.meme, sample);
  for (const ordinal of participants) {
    moveAlliance(state, ordinal, alliance.get(ordinal) ?? null);
  }

  const creators = new Set(memes.map(({ creator }) => creator));
  for (const ordinal of participants) creators.delete(ordinal);
  const touched = [...participants, ...creators];
  for (const ordinal of touched) updateOverall(state, ordinal);
  publishMoves(state, touched, `block_${outcome}`);
  state.electorates.reputationChanged();
}

/** Applies the penalty for an equivocation immediately. */
export function penalize(state: State, ordinal: number): void {
  const penalty = state.standings.get(ordinal, column.penalty) + PENALTY;
  state.standings.set(ordinal, column.penalty, Math.min(PENALTY_MOST, penalty));
  updateOverall(state, ordinal);
  publishMoves(state, [ordinal], 'equivocation');
  state.electorates.reputationChanged();
}

/** Returns the positions of a block's voters in its electorate. */
function votersOf({ ballots }: OpenBlock): number[] {
  const { length } = ballots.electorate.agents;
  const voters: number[] = [];
  for (let position = 0; position < length; position += 1) {
    if (ballots.choice(position) !== null) voters.push(position);
  }
  return voters;
}

function producerOf(state: State, block: OpenBlock): number {
  return state.agents.byId(blockContext(block).producer)!.ordinal;
}

function move(state: State, ordinal: number, score: number, sample: number): void {
  state.standings.set(ordinal, score, ema(state.standings.get(ordinal, score), sample));
}

function decayPenalty(state: State, ordinal: number): void {
  const penalty = state.standings.get(ordinal, column.penalty);
  if (penalty !== 0)
    state.standings.set(ordinal, column.penalty, penalty - Math.trunc(penalty / 64));
}

/** Rates the producer by the votes of others, and each voter by the votes like its own. */
function ratePeers(state: State, block: OpenBlock, voters: readonly number[], own: number): void {
  const { approve, reject } = blockContext(block);
  const { ballots } = block;
  const { agents, weights } = ballots.electorate;
  const decision = own < 0 ? null : ballots.choice(own);
  const others = approve + reject - (decision === null ? 0 : weights[own]!);
  const approving = approve - (decision === 'approve' ? weights[own]! : 0);
  if (others > 0) move(state, producerOf(state, block), column.peer, share(approving, others));
  for (const position of voters) {
    const weight = weights[position]!;
    const rest = approve + reject - weight;
    const alike = (ballots.choice(position) === 'approve' ? approve : reject) - weight;
    if (rest > 0) move(state, agents[position]!, column.peer, share(alike, rest));
  }
}

/** Computes, per meme in ascending id order, the share of references that match the outcome. */
function memeSamples(state: State, { ballots }: OpenBlock, right: Decision) {
  const { agents, weights } = ballots.electorate;
  const samples: { creator: number; sample: number }[] = [];
  for (const [meme, positions] of [...ballots.references].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const creator = state.reader.read('memes', meme)!.ordinal;
    const creatorId = state.agents.at(creator).id;
    const partial = state.alliances.alliesOf(creatorId).add(creatorId);
    let matching = 0;
    let whole = 0;
    for (const position of positions) {
      if (partial.has(state.agents.at(agents[position]!).id)) continue;
      whole += weights[position]!;
      if (ballots.choice(position) === right) matching += weights[position]!;
    }
    if (whole > 0) samples.push({ creator, sample: share(matching, whole) });
  }
  return samples;
}

/**
 * Computes the best unity among the active alliances of each agent, by ordinal. Alliances with
 * fewer than two voters have none.
 */
function allianceSamples(state: State, block: OpenBlock): Map<number, number> {
  const samples = new Map<number, number>();
  for (const { members } of state.alliances.active()) {
    const sample = computeUnity(state, block, members);
    if (sample === null) continue;
    for (const member of members) {
      const { ordinal } = state.agents.byId(member)!;
      samples.set(ordinal, Math.max(sample, samples.get(ordinal) ?? 0));
    }
  }
  return samples;
}

/** Computes the share of the larger side among the members' votes; null below two votes. */
function computeUnity(
  { agents }: State,
  { ballots }: OpenBlock,
  members: readonly string[],
): number | null {
  let votes = 0;
  let approving = 0;
  for (const member of members) {
    const agent = agents.byId(member);
    const position = agent ? findElector(ballots.electorate, agent.ordinal) : -1;
    const decision = position < 0 ? null : ballots.choice(position);
    if (decision === null) continue;
    votes += 1;
    if (decision === 'approve') approving += 1;
  }
  return votes < 2 ? null : share(Math.max(approving, votes - approving), votes);
}

function moveAlliance(state: State, ordinal: number, sample: number | null): void {
  const old = state.standings.get(ordinal, column.alliance);
  const moved = sample === null ? old - Math.trunc(old / 64) : ema(old, sample);
  state.standings.set(ordinal, column.alliance, moved);
}

function updateOverall({ standings }: State, ordinal: number): void {
  const sum =
    20 * standings.get(ordinal, column.meme) +
    40 * standings.get(ordinal, column.consistency) +
    25 * standings.get(ordinal, column.peer) +
    15 * standings.get(ordinal, column.alliance);
  const overall = Math.trunc(sum / 100) - standings.get(ordinal, column.penalty);
  standings.set(ordinal, column.overall, Math.min(SCALE, Math.max(0, overall)));
  assertInvariant(sum >= 0 && sum <= 100 * SCALE, 'SCORE_RANGE', sum / 100, SCALE);
}

function publishMoves(state: State, ordinals: readonly number[], reason: string): void {
  const { standings, agents } = state;
  const moved: Agent[] = [];
  for (const ordinal of ordinals) {
    const step = standings.get(ordinal, column.overall) - standings.get(ordinal, column.told);
    if (Math.abs(step) >= TOLD_STEP) moved.push(agents.at(ordinal));
  }
  const timestamp = formatInstant(state.now);
  for (const { ordinal, id } of sortById(moved)) {
    const overall = standings.get(ordinal, column.overall);
    const data = {
      agent_id: id,
      new_score: overall / (SCALE / 100),
      old_score: standings.get(ordinal, column.told) / (SCALE / 100),
      reason,
      timestamp,
    };
    standings.set(ordinal, column.told, overall);
    state.outbox.emit('reputation_update', data);
  }
}

/** Limit of the absence counter. */
const MOST_MISSED = 1_000_000;
/** 100 % in basis points. */
const WHOLE_BPS = 10_000;

/**
 * Counts absences from an expired block, which has left `state.blocks`. Blocks that are open at the
 * same time count once, so a block proposed before the last counted block ended adds no absence.
 */
export function countAbsences(state: State, block: OpenBlock): void {
  const after = state.genesis.dormant_after;
  if (after === 0) return;
  const { standings, blocks } = state;
  const { ordinal } = blockContext(block);
  if (ordinal >= state.failedBlocks) {
    state.failed += 1;
    state.failedBlocks = blocks.count;
  }
  const open = blocks.open();
  const absent: number[] = [];
  for (const [position, agent] of block.ballots.electorate.agents.entries()) {
    const voted = block.ballots.choice(position) !== null;
    // Blocks with a smaller ordinal cannot count as the next absence.
    const counted = ordinal < standings.get(agent, column.judged);
    if (!voted && (counted || votesIn(open, agent))) continue;
    const missed = voted ? 0 : Math.min(MOST_MISSED, standings.get(agent, column.missed) + 1);
    standings.set(agent, column.missed, missed);
    standings.set(agent, column.judged, blocks.count);
    if (missed >= after) absent.push(agent);
  }
  if (absent.length > 0) sleep(state, absent);
}

/** Returns true if an agent is present, that is, if it has voted on a block that is still open. */
function votesIn(open: readonly OpenBlock[], agent: number): boolean {
  return open.some(({ ballots }) => {
    const position = findElector(ballots.electorate, agent);
    return position >= 0 && ballots.choice(position) !== null;
  });
}

/** Makes agents dormant up to the limit, in order of absences (descending), then ordinal. */
function sleep(state: State, absent: number[]): void {
  const { agents, standings, electorates, genesis, failed } = state;
  const active = electorates.active();
  const weights = new Map(active.agents.map((ordinal, at) => [ordinal, active.weights[at]!]));
  let total = 0;
  let asleep = 0;
  for (const [ordinal, weight] of weights) {
    total += weight;
    if (agents.at(ordinal).dormant) asleep += weight;
  }
  const most = mostDormant(genesis, total, failed);
  const missed = (ordinal: number) => standings.get(ordinal, column.missed);
  for (const ordinal of absent.sort((a, b) => missed(b) - missed(a) || a - b)) {
    const agent = agents.at(ordinal);
    const weight = weights.get(ordinal);
    if (weight === undefined || agent.dormant || asleep + weight > most) continue;
    asleep += weight;
    agents.send(agent, { type: 'slept' });
    electorates.electorsChanged();
  }
}

/** Returns the largest weight that may be dormant, given the weight of all active validators. */
function mostDormant(
  { dormant_share_max: share, leak_periods }: Genesis,
  total: number,
  failed: number,
): number {
  let most = Math.trunc((total * share) / WHOLE_BPS);
  if (leak_periods === 0 || share === 0) return most;
  // Rounded up, so that a small remainder can become dormant too.
  for (let leaks = Math.trunc(failed / leak_periods); leaks > 0 && most < total; leaks -= 1) {
    most += Math.ceil(((total - most) * share) / WHOLE_BPS);
  }
  return most;
}
