/** Integer reputation scores, and their changes after closed blocks and equivocation. */
import { getDecision, getVote, getWeight, onScoreChange } from './electorate.js';
import { emit } from './events.js';
import { type Agent, type Alliance, type Block, type State, WHOLE } from './state.js';
import { instantText } from './violation.js';

const PENALTY = 250_000;
const MOST_PENALTY = 500_000;
const LEAST_TOLD = 1_000;

type Reason = 'block_finalized' | 'block_rejected' | 'equivocation';

const moved = (score: number, sample: number) => score + Math.trunc((sample - score) / 16);
const share = (part: number, whole: number) => Math.trunc((WHOLE * part) / whole);
const faded = (score: number) => score - Math.trunc(score / 64);

/** Rates a finalized or rejected block, before its ballots are deleted. */
export function rate(state: State, block: Block): void {
  const right = block.status === 'finalized' ? 'approve' : 'reject';
  const voters = block.ballots!.voters.map((number) => state.agents[number]!);
  const part = new Set([block.producer, ...voters]);
  for (const { scores } of part) scores.penalty = faded(scores.penalty);
  if (state.genesis.consistency === 'conformity') {
    for (const { number, scores } of voters) {
      const sample = getDecision(block, number) === right ? WHOLE : 0;
      scores.consistency = moved(scores.consistency, sample);
    }
  }
  ratePeers(block, voters);
  const creators = rateMemes(state, block, right);
  rateAlliances(block, voters, part);
  const reason = block.status === 'finalized' ? 'block_finalized' : 'block_rejected';
  for (const creator of creators) part.add(creator);
  sumUp(state, part, { reason, at: block.closedAt });
}

/** Penalizes an equivocation. */
export function punish(state: State, agent: Agent, at: number): void {
  const { scores } = agent;
  scores.penalty = Math.min(MOST_PENALTY, scores.penalty + PENALTY);
  sumUp(state, new Set([agent]), { reason: 'equivocation', at });
}

/**
 * Rates the producer by the other voters' approval, and each voter by the share of other voters
 * that agree with its vote.
 */
function ratePeers(block: Block, voters: readonly Agent[]): void {
  const { approve, reject, producer } = block;
  const rateOne = (agent: Agent, alike: 'approve' | 'reject') => {
    const own = getVote(block, agent);
    const weight = own === null ? 0 : getWeight(block, agent.number);
    const others = approve + reject - weight;
    if (others === 0) return;
    const like = (alike === 'approve' ? approve : reject) - (own === alike ? weight : 0);
    agent.scores.peer = moved(agent.scores.peer, share(like, others));
  };
  rateOne(producer, 'approve');
  for (const voter of voters) rateOne(voter, getVote(block, voter)!);
}

/** Rates the creators of memes that agents outside their alliances referenced. */
function rateMemes(state: State, block: Block, right: 'approve' | 'reject'): Agent[] {
  const creators: Agent[] = [];
  const { references } = block.ballots!;
  for (const id of [...references.keys()].sort()) {
    const { creator } = state.memes.get(id)!;
    const near = new Set([creator, ...[...creator.alliances].flatMap(({ members }) => members)]);
    let weight = 0;
    let matching = 0;
    for (const number of references.get(id)!) {
      if (near.has(state.agents[number]!)) continue;
      weight += getWeight(block, number);
      if (getDecision(block, number) === right) matching += getWeight(block, number);
    }
    if (weight === 0) continue;
    creator.scores.meme = moved(creator.scores.meme, share(matching, weight));
    creators.push(creator);
  }
  return creators;
}

/** Rates alliances by their voters' agreement. The score of an agent without an alliance decays. */
function rateAlliances(block: Block, voters: readonly Agent[], part: ReadonlySet<Agent>): void {
  const heads = new Map<Alliance, { approve: number; reject: number }>();
  for (const voter of voters) {
    for (const alliance of voter.alliances) {
      const sides = heads.get(alliance) ?? { approve: 0, reject: 0 };
      sides[getVote(block, voter)!] += 1;
      heads.set(alliance, sides);
    }
  }
  for (const { alliances, scores } of part) {
    let best = -1;
    for (const alliance of alliances) {
      const { approve, reject } = heads.get(alliance) ?? { approve: 0, reject: 0 };
      if (approve + reject < 2) continue;
      best = Math.max(best, share(Math.max(approve, reject), approve + reject));
    }
    scores.alliance = best < 0 ? faded(scores.alliance) : moved(scores.alliance, best);
  }
}

function byId(a: Agent, b: Agent): number {
  if (a.place !== b.place) return a.place < b.place ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** Updates the overall scores and publishes those that moved enough, in id order. */
function sumUp(
  state: State,
  agents: ReadonlySet<Agent>,
  { reason, at }: { reason: Reason; at: number },
): void {
  const changed: Agent[] = [];
  for (const agent of agents) {
    const { scores } = agent;
    const { meme, consistency, peer, alliance, penalty } = scores;
    const sum = Math.trunc((20 * meme + 40 * consistency + 25 * peer + 15 * alliance) / 100);
    const before = scores.overall;
    scores.overall = Math.min(WHOLE, Math.max(0, sum - penalty));
    onScoreChange(state, before, scores.overall);
    if (Math.abs(scores.overall - scores.published) >= LEAST_TOLD) changed.push(agent);
  }
  changed.sort(byId);
  const timestamp = instantText(at);
  for (const { id, scores } of changed) {
    const data = {
      agent_id: id,
      old_score: scores.published / 10_000,
      new_score: scores.overall / 10_000,
      reason,
      timestamp,
    };
    scores.published = scores.overall;
    emit(state, { type: 'reputation_update', data });
  }
}
