/**
 * Explains a block's outcome from its votes: each elector's power, swing votes, and recounts
 * without an agent, a meme or an alliance.
 */
import type { BlockStatus, Decision } from '../../engine/protocol/schema/primitives.js';
import { ruleOf } from '../../engine/rules/network-rule.js';
import { createElectors, PollCounter } from '../../engine/rules/poll-counter.js';
import type { Store } from '../../engine/store/store.js';
import type { RecordedVote } from '../rules/recorded-polls.js';
import { collectEvidence, type Evidence } from './evidence.js';
import { computePower, decisionGame, tryCoalitions, turnoutGame } from './power.js';

/** Power indices in a game, by elector; null if an index was not computed. */
export interface PowerTable {
  /** Weight of a winning coalition, out of `total`; null if weights alone do not decide. */
  quota: number | null;
  total: number;
  electors: {
    agent_id: string;
    /** Coalitions of the other electors in which the elector is critical, as a decimal string. */
    swings: string | null;
    decisive: number | null;
    banzhaf: number | null;
    shapley_shubik: number | null;
  }[];
  refused: string[];
}

export interface Explanation {
  /** Reason for the outcome in one sentence: the count, and the votes that it needed. */
  answer: string;
  block: {
    block_hash: string;
    height: number;
    status: string;
    policy: string;
    weights: string;
    /** Approving and rejecting weights. */
    approve: number;
    reject: number;
    total: number;
  };
  electors: {
    agent_id: string;
    name: string;
    personality: string;
    weight: number;
    vote: Decision | null;
  }[];
  /** Outcome of recounting the original votes, which is the block's status. */
  outcome: Recounted;
  power: { decision: PowerTable; turnout: PowerTable | null };
  swings: Swing[];
  /** Recounts of the original votes. Agents do not react to the omission. */
  mechanical: LeftOut[];
}

/** @throws {StoreError} if the block is missing. */
export function explain(store: Store, hash: string): Explanation {
  const evidence = collectEvidence(store, hash);
  const { genesis, block, status, electors, votes } = evidence;
  const cast = new Map(votes.map(({ elector, decision }) => [elector, decision]));
  const tally = { approve: 0, reject: 0 };
  for (const { elector, decision } of votes) tally[decision] += electors[elector]!.weight;
  const weights = electors.map(({ weight }) => weight);
  const personalities = electors.map(({ personality }) => personality);
  const decision = decisionGame(genesis, weights, personalities);
  const turnout = turnoutGame(genesis, weights);
  const facts = {
    block: {
      block_hash: block.block_hash,
      height: block.height,
      status,
      policy: genesis.policy,
      weights: genesis.weights,
      ...tally,
      total: block.total,
    },
    electors: electors.map(({ agent: _, ...elector }, at) => ({
      ...elector,
      vote: cast.get(at) ?? null,
    })),
    swings: swingsOf(evidence),
  };
  return {
    answer: describeCount(evidence, facts),
    ...facts,
    outcome: recount(evidence),
    power: {
      decision: decision
        ? tableOf(evidence, decision.quota, computePower(decision))
        : tableOf(evidence, null, powerByTrial(evidence)),
      turnout: turnout && tableOf(evidence, turnout.quota, computePower(turnout)),
    },
    mechanical: leftOut(evidence),
  };
}

/** Tries all coalitions: members approve without a ballot, all other electors reject. */
function powerByTrial(evidence: Evidence) {
  const { electors, genesis, block } = evidence;
  return tryCoalitions(electors.length, (coalition) => {
    const counter = new PollCounter(ruleOf(genesis), pollBlock(block), createElectors(electors));
    for (const [elector, { agent_id, personality }] of electors.entries()) {
      const decision = (coalition >> elector) % 2 === 1 ? 'approve' : 'reject';
      counter.add({ elector, agent_id, personality, decision, ms: 0 });
    }
    return counter.verdict(true).status === 'finalized';
  });
}

const pollBlock = ({ block_hash: hash, height, options = [] }: Evidence['block']) => ({
  hash,
  height,
  options,
});

function tableOf(
  { electors, block }: Evidence,
  quota: number | null,
  { swings, decisive, banzhaf, shapley_shubik, refused }: ReturnType<typeof computePower>,
): PowerTable {
  return {
    quota,
    total: block.total,
    electors: electors.map(({ agent_id }, at) => ({
      agent_id,
      swings: swings && `${swings[at]}`,
      decisive: decisive && decisive[at]!,
      banzhaf: banzhaf && banzhaf[at]!,
      shapley_shubik: shapley_shubik && shapley_shubik[at]!,
    })),
    refused,
  };
}

/*
 * A recount changes a block's votes, electors or weights. Agents do not vote again, even if they
 * would have voted differently.
 */

/**
 * Outcome of a recount. `open` means that the votes do not decide, and the log does not contain the
 * votes that would have arrived later.
 */
export type Recounted = BlockStatus | 'open';

interface Changed {
  /** Weights by elector position. */
  weights?: readonly number[];
  /** Positions removed from the electorate. */
  left?: ReadonlySet<number>;
  /** Votes in counting order. */
  votes?: readonly (Pick<RecordedVote, 'elector' | 'decision'> & Partial<RecordedVote>)[];
}

function recount(evidence: Evidence, changed: Changed = {}): Recounted {
  const { genesis, block, status } = evidence;
  const left = changed.left ?? new Set();
  const staying = [...evidence.electors.keys()].filter((position) => !left.has(position));
  const electors = staying.map((position) => ({
    ...evidence.electors[position]!,
    weight: changed.weights?.[position] ?? evidence.electors[position]!.weight,
  }));
  const places = new Map(staying.map((position, place) => [position, place]));
  const counter = new PollCounter(ruleOf(genesis), pollBlock(block), createElectors(electors));
  for (const { elector, ...vote } of changed.votes ?? evidence.votes) {
    const place = places.get(elector);
    if (place === undefined) continue;
    const { agent_id, personality } = electors[place]!;
    counter.add({ ms: 0, ...vote, elector: place, agent_id, personality });
    const decided = counter.verdict(false).status;
    if (decided) return decided;
  }
  if (status === 'voting' || status === 'orphaned') return status;
  // Electors without a vote could still have voted if the block had stayed open.
  const silent = new Set(staying);
  for (const { elector } of [...evidence.votes, ...(changed.votes ?? [])]) silent.delete(elector);
  const ended = block.closed_at >= block.deadline || silent.size === 0;
  return ended ? counter.verdict(true).status! : 'open';
}

/** Outcome if one elector had voted differently. */
export interface Swing {
  agent_id: string;
  name: string;
  weight: number;
  /** Null if the elector did not vote. */
  vote: Decision | null;
  /** Changed vote; null for abstention. */
  other: Decision | null;
  outcome: Recounted;
}

/** Returns the single-vote changes that change the outcome. */
function swingsOf(evidence: Evidence): Swing[] {
  const actual = recount(evidence);
  const cast = new Map(evidence.votes.map((vote) => [vote.elector, vote]));
  return evidence.electors.flatMap(({ agent_id, name, weight }, elector) => {
    const vote = cast.get(elector)?.decision ?? null;
    const others = ([null, 'approve', 'reject'] as const).filter((other) => other !== vote);
    return others.flatMap((other) => {
      const outcome = recount(evidence, { votes: instead(evidence.votes, elector, other) });
      return outcome === actual ? [] : [{ agent_id, name, weight, vote, other, outcome }];
    });
  });
}

/** Replaces the vote in place. A new vote comes last. */
function instead(votes: readonly RecordedVote[], elector: number, other: Decision | null) {
  const voted = votes.some((vote) => vote.elector === elector);
  if (other === null) return votes.filter((vote) => vote.elector !== elector);
  if (!voted) return [...votes, { elector, decision: other }];
  return votes.map((vote) => (vote.elector === elector ? { elector, decision: other } : vote));
}

/*
 * Mechanical counterfactuals recount the original votes without an agent, without the votes that
 * refer to a meme, or without an alliance. They work even for a live network's log, whose agents
 * cannot be run again.
 */

export interface LeftOut {
  /**
   * `elector`: without the agent; `references`: without the votes that refer to the meme;
   * `members`: without the votes of the alliance's members; `bonus`: without the alliance's weight
   * bonus; `weights`: all votes have equal weight.
   */
  kind: 'elector' | 'references' | 'members' | 'bonus' | 'weights';
  /** Id of the agent, meme or alliance; '' for weights. */
  id: string;
  name: string;
  /** Number of votes that are omitted or whose weight differs. */
  votes: number;
  outcome: Recounted;
  /** True if the outcome differs. */
  changes: boolean;
}

/** Computes all omissions. Those that change the outcome come first. */
function leftOut(evidence: Evidence): LeftOut[] {
  const actual = recount(evidence);
  const { electors: of } = evidence;
  const row = (
    kind: LeftOut['kind'],
    [id, name]: readonly [string, string],
    votes: number,
    changed: Changed,
  ): LeftOut => {
    const outcome = recount(evidence, changed);
    return { kind, id, name, votes, outcome, changes: outcome !== actual };
  };
  const rows = [
    ...evidence.electors.map(({ agent_id, name }, elector) => {
      const votes = evidence.votes.filter((vote) => vote.elector === elector).length;
      return row('elector', [agent_id, name], votes, { left: new Set([elector]) });
    }),
    ...[...references(evidence)].map(([meme, voters]) =>
      row('references', [meme, ''], voters.size, withheld(evidence, voters)),
    ),
    ...evidence.alliances.map(({ alliance_id, purpose, members }) => {
      const voters = votersAmong(evidence, members);
      return row('members', [alliance_id, purpose], voters.size, withheld(evidence, voters));
    }),
    ...bonuses(evidence).map(({ id, name, weights }) => {
      const isOther = ({ elector }: RecordedVote) => of[elector]!.weight !== weights[elector];
      return row('bonus', [id, name], evidence.votes.filter(isOther).length, { weights });
    }),
  ];
  if (evidence.genesis.weights !== 'equal') {
    const weights = evidence.electors.map(() => 1);
    rows.push(
      row('weights', ['', 'all votes have equal weight'], evidence.votes.length, { weights }),
    );
  }
  return rows.sort((a, b) => Number(b.changes) - Number(a.changes) || b.votes - a.votes);
}

function references({ votes }: Evidence): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  for (const { elector, meme_references } of votes) {
    for (const meme of meme_references) {
      const voters = found.get(meme) ?? new Set();
      found.set(meme, voters.add(elector));
    }
  }
  return found;
}

const withheld = ({ votes }: Evidence, voters: ReadonlySet<number>): Changed => ({
  votes: votes.filter(({ elector }) => !voters.has(elector)),
});

function votersAmong({ electors, votes }: Evidence, members: readonly string[]): Set<number> {
  const ids = new Set(members);
  const voters = votes.filter(({ elector }) => ids.has(electors[elector]!.agent_id));
  return new Set(voters.map(({ elector }) => elector));
}

/** Computes weights without each alliance that adds a bonus. */
function bonuses(evidence: Evidence): { id: string; name: string; weights: number[] }[] {
  const { genesis, alliances } = evidence;
  if (genesis.weights !== 'alliance_bonus') return [];
  return alliances.map(({ alliance_id, purpose }) => ({
    id: alliance_id,
    name: purpose,
    weights: alliedWeights(evidence, alliance_id),
  }));
}

/** Computes weights: 100 plus 2 per allied elector, at most 110 (docs/protocol.md, weights). */
function alliedWeights({ electors, alliances }: Evidence, without: string): number[] {
  const voting = new Set(electors.map(({ agent_id }) => agent_id));
  const left = alliances.filter(({ alliance_id }) => alliance_id !== without);
  return electors.map(({ agent_id }) => {
    const own = left.filter(({ members }) => members.includes(agent_id));
    const allies = new Set(own.flatMap(({ members }) => members).filter((id) => voting.has(id)));
    allies.delete(agent_id);
    return 100 + Math.min(10, 2 * allies.size);
  });
}

/*
 * The answer names the count, and the votes that it needed.
 */

type Facts = Pick<Explanation, 'block' | 'electors' | 'swings'>;

/** States the count, and how many single votes decided. */
function describeCount(evidence: Evidence, facts: Facts): string {
  const needs = describeNeeds(evidence, facts);
  return [`${facts.block.status}: ${describeTally(evidence, facts)}`, ...needs].join('; ');
}

function describeTally({ genesis, block: { choice } }: Evidence, { block, electors }: Facts) {
  const rule = ruleOf(genesis);
  const { status, approve, reject, total, height, weights } = block;
  const of = (count: number, did: string) =>
    `${count} of ${total} ${weights === 'equal' ? '' : 'weight '}${did}`;
  const voted = electors.filter(({ vote }) => vote !== null).length;
  const cast = `${voted} of ${electors.length} electors voted`;
  const counted = rule.isByWeight ? of(approve, 'approved') : cast;
  if (status === 'orphaned') return `it gave way to another block at height ${height}; ${counted}`;
  if (!rule.isByWeight) {
    if (status === 'voting') return `${cast} so far`;
    const chosen = choice === undefined ? '' : `, which chose ${choice}`;
    return `by the rule ${rule.name}${chosen}; ${cast}`;
  }
  const limits = { total, electors: electors.length };
  const needed = rule.needed({ reject, ...limits });
  const depends = rule.needed({ reject: 0, ...limits }) !== needed;
  const quota = describeMargin(approve, needed, total);
  const against = depends ? ` against ${countOf(reject, 'rejection')}` : '';
  const approved = `${of(approve, 'approved')}, ${quota}${against}`;
  if (status === 'voting') return `so far ${approved}`;
  if (status === 'expired') return `when voting ended, ${approved}`;
  if (status === 'finalized') return approved;
  const toReject = rule.thresholds(total, electors.length).reject;
  if (toReject !== null && reject >= toReject) {
    return `${of(reject, 'rejected')}, ${describeMargin(reject, toReject, total)}`;
  }
  if (rule.usesVetoes) return `a personality group vetoed it; ${of(approve, 'approved')}`;
  return approved;
}

function describeMargin(weight: number, quota: number, total: number): string {
  if (quota > total) return 'and no approving weight suffices';
  if (weight === quota) return 'exactly the quota';
  const many = Math.abs(weight - quota);
  return `${many} ${weight > quota ? 'more' : 'fewer'} than the quota of ${quota}`;
}

/** Counts the electors whose single vote decided, with all other votes as cast. */
function describeNeeds({ genesis }: Evidence, { block: { status }, electors, swings }: Facts) {
  if (status === 'voting' || status === 'orphaned') return [];
  const side = status === 'finalized' ? 'approve' : 'reject';
  const deciding = new Set(swings.map(({ agent_id }) => agent_id));
  if (!ruleOf(genesis).isByWeight || status === 'expired') {
    if (deciding.size === 0) return ['no single other vote changes the status'];
    const any = deciding.size === 1 ? 'one' : `any one of ${deciding.size}`;
    return [
      `another vote of ${any} ${deciding.size === 1 ? 'elector' : 'electors'} changes the status`,
    ];
  }
  const ids = electors.filter(({ vote }) => vote === side).map(({ agent_id }) => agent_id);
  const without = swings.filter(({ other }) => other === null).map(({ agent_id }) => agent_id);
  const needed = ids.filter((id) => without.includes(id)).length;
  if (ids.length === 0) return [];
  const votes = countOf(ids.length, side === 'approve' ? 'approval' : 'rejection');
  if (needed === 0) return [`none of the ${votes} was needed alone`];
  if (needed === ids.length) return [`each of the ${votes} was needed`];
  return [`${needed} of the ${votes} ${needed === 1 ? 'was' : 'were each'} needed`];
}

const countOf = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;
