/**
 * Recomputes the electorate, the votes and the decision by docs/protocol.md, section 6. Shares only
 * the decision rules with the engine, so that the check does not repeat an engine bug.
 */
import { canonical } from '../protocol/canonical.js';
import {
  findRuleProblem,
  isUnloadedModule,
  type NetworkRule,
  RuleUnavailable,
  ruleOf,
} from '../rules/network-rule.js';
import { createElectors, PollCounter } from '../rules/poll-counter.js';
import type { PollBlock, Tie, Verdict } from '../rules/rule.js';
import type { Entry } from './chain.js';
import { CertificateError } from './format.js';
import {
  type CertifiedGenesis,
  parseRegistration,
  parseVote,
  type SignedRegistration,
  type SignedVote,
} from './requests.js';
import {
  type CertifiedAgents,
  findBlockEvents,
  findRecord,
  formatValue,
  instant,
  parseObject,
} from './results.js';

/** A block's electorate, as weights by agent ordinal, ascending. */
export interface CertifiedElectorate {
  weights: ReadonlyMap<number, number>;
  total: number;
  /** If the rule uses vetoes, the personalities of electors that did not vote. */
  personalities: ReadonlyMap<number, string>;
}

/** Registration of an elector. */
export interface CertifiedRegistration extends SignedRegistration {
  entry: Entry;
  ordinal: number;
}

/** Recomputes the electorate of the block proposed in the entry `opened`. */
export function recomputeElectorate(
  entries: readonly Entry[],
  opened: Entry,
  number: number,
  genesis: CertifiedGenesis,
  rule: NetworkRule | null,
) {
  const before = entries.filter(({ seq }) => seq <= opened.seq);
  const entry = before.findLast((one) => findRecord(one, 'electorates'));
  const record = entry && findRecord(entry, 'electorates')!;
  // The newest electorate applies, because a proposal writes the electorate only after a change.
  if (record?.key !== number || entry!.request?.kind !== 'propose') {
    throw new CertificateError('/spans', 'NO_ELECTORATE', { number });
  }
  const { where } = entry!;
  const { weights, total } = weighed(parseObject(record.value, where), genesis, where);
  // A module states only when it runs that it uses vetoes, so an unknown rule may use them.
  const registered = !rule || rule.usesVetoes ? registrationsIn(before, weights) : [];
  const personalities = new Map(registered.map((one) => [one.ordinal, one.personality]));
  return { written: entry!, registered, electorate: { weights, total, personalities } };
}

function weighed(
  { agents, weights: list }: Readonly<Record<string, unknown>>,
  genesis: CertifiedGenesis,
  where: string,
) {
  if (!Array.isArray(agents) || !Array.isArray(list) || agents.length !== list.length) {
    throw new CertificateError(where, 'ELECTORATE_LENGTHS');
  }
  const weights = new Map<number, number>();
  let total = 0;
  for (const [index, agent] of agents.entries()) {
    if (!Number.isSafeInteger(agent) || agent <= (index === 0 ? -1 : agents[index - 1])) {
      throw new CertificateError(where, 'ELECTORATE_ORDER');
    }
    if (!isWeight(genesis, list[index])) {
      const weight = formatValue(list[index]);
      throw new CertificateError(where, 'WEIGHT', { weights: genesis.weights, weight });
    }
    weights.set(agent, list[index]);
    total += list[index];
  }
  if (weights.size < genesis.min_validators) {
    const few = { count: weights.size, least: genesis.min_validators };
    throw new CertificateError(where, 'TOO_FEW_ELECTORS', few);
  }
  return { weights, total };
}

/** Checks a weight: 1 if equal, 1-100 by reputation, 100 + 2 per ally up to 110 by alliance. */
function isWeight({ weights }: CertifiedGenesis, weight: unknown): boolean {
  if (!Number.isSafeInteger(weight)) return false;
  const value = weight as number;
  if (weights === 'equal') return value === 1;
  if (weights === 'reputation') return value >= 1 && value <= 100;
  return value >= 100 && value <= 110 && value % 2 === 0;
}

/** Returns the electors' registrations that the certificate contains. */
function registrationsIn(
  entries: readonly Entry[],
  electors: ReadonlyMap<number, number>,
): CertifiedRegistration[] {
  return entries.flatMap((entry) => {
    if (entry.request?.kind !== 'register') return [];
    const { where } = entry;
    const found = parseObject(findRecord(entry, 'agents')?.value, where);
    const ordinal = found.ordinal as number;
    if (!electors.has(ordinal)) return [];
    const registration = parseRegistration(entry);
    if (canonical(found) !== canonical({ ...registration, ordinal })) {
      throw new CertificateError(where, 'REGISTRATION_RECORD', { seq: entry.seq });
    }
    return [{ ...registration, entry, ordinal }];
  });
}

export interface CountedVote extends SignedVote {
  entry: Entry;
  ordinal: number;
  personality: string;
  weight: number;
}

/** Returns all counted votes on the block, in log order. */
export function collectVotes(
  entries: readonly Entry[],
  block: { hash: string; ordinal: number },
  { weights }: CertifiedElectorate,
  agents: CertifiedAgents,
  rule: NetworkRule | null,
): CountedVote[] {
  const keys = new Set<string>();
  const votes = entries.flatMap((entry) => {
    const record = findRecord(entry, 'votes');
    if (!Array.isArray(record?.key) || record.key[0] !== block.ordinal) return [];
    const { where } = entry;
    const signed = parseVote(entry, block.hash);
    const vote = { ...signed, ballot: countedBallot(signed, rule, entry, record.value) };
    assertRecorded(entry, vote, record.value);
    const [, ordinal] = record.key as [number, number];
    // A vote record is unique per agent ordinal. The voter's key must be unique too.
    if (keys.has(vote.public_key)) {
      const again = { agent: vote.agent_id, seq: entry.seq };
      throw new CertificateError(where, 'DUPLICATE_VOTE', again);
    }
    keys.add(vote.public_key);
    const known = [agents.ids.get(ordinal), agents.ordinals.get(vote.agent_id)];
    if (![undefined, vote.agent_id].includes(known[0] as string | undefined)) {
      const mismatch = { ordinal: formatValue(ordinal), known: String(known[0]) };
      throw new CertificateError(where, 'VOTER_MISMATCH', { ...mismatch, agent: vote.agent_id });
    }
    const weight = weights.get(ordinal);
    if (weight === undefined || ![undefined, ordinal].includes(known[1] as number | undefined)) {
      const voter = { agent: vote.agent_id, ordinal: formatValue(ordinal) };
      throw new CertificateError(where, 'NOT_AN_ELECTOR', voter);
    }
    const personality = agents.personalities.get(vote.agent_id) as string;
    return [{ ...vote, entry, ordinal, personality, weight }];
  });
  assertAnnounced(findBlockEvents(entries, 'block_validation', block.hash), votes, block.hash);
  return votes;
}

/** Returns the ballot that the rule counts. A rule without ballots ignores them. */
function countedBallot(
  { ballot }: SignedVote,
  rule: NetworkRule | null,
  { where }: Entry,
  record: unknown,
): unknown {
  if (rule) return rule.takesBallots ? ballot : undefined;
  return 'ballot' in parseObject(record, where) ? ballot : undefined;
}

/** Asserts that a vote's record matches the vote. */
function assertRecorded({ where, seq, request }: Entry, vote: SignedVote, found: unknown): void {
  const { decision, meme_references, ballot } = vote;
  const counted = ballot === undefined ? {} : { ballot };
  const expected = { at: request!.at, decision, entry: seq, meme_references, ...counted };
  if (canonical(found) === canonical(expected)) return;
  throw new CertificateError(where, 'VOTE_RECORD', { seq });
}

/** Asserts that exactly one event announces each vote and that the event matches the vote. */
function assertAnnounced(
  events: ReturnType<typeof findBlockEvents<Entry>>,
  votes: readonly CountedVote[],
  block_hash: string,
): void {
  for (const [index, { entry, data }] of events.entries()) {
    const vote = votes[index];
    const { decision, reason, agent_id, personality, ballot } = vote ?? {};
    const counted = ballot === undefined ? {} : { ballot };
    const timestamp = instant(entry.request?.at ?? 0);
    const validator = { id: agent_id, personality };
    const expected = { block_hash, decision, reason, timestamp, validator, ...counted };
    if (vote?.entry === entry && canonical(data) === canonical(expected)) continue;
    throw new CertificateError(entry.where, 'VOTE_EVENT', { seq: entry.seq });
  }
  const missing = votes[events.length]?.entry;
  if (missing) {
    throw new CertificateError(missing.where, 'VOTE_EVENT_MISSING', { seq: missing.seq });
  }
}

/** Tally at the end of voting. The status is null if the block is undecided. */
export interface CertifiedTally extends Verdict {
  approve: number;
  reject: number;
  voted: number;
  vetoed: boolean;
  /** Tie that the order of the options decided; null without a tie or without a known rule. */
  tied: Tie | null;
}

/**
 * Returns the network's rule, or null for a module that the caller does not trust. A certificate
 * must not choose code that the reader runs.
 *
 * @param entry the entry that contains the parameters.
 */
export function certifiedRule(
  genesis: CertifiedGenesis,
  isTrusted: boolean,
  { where }: Entry,
): NetworkRule | null {
  if (genesis.policy === 'module') {
    if (!isTrusted || isUnloadedModule(genesis)) return null;
    // Only the module itself knows the bounds of its parameters.
    const found = findRuleProblem(genesis);
    if (found) {
      const name = `${found.pointer.slice(1).replaceAll('/', '.')} ${found.message}`;
      throw new CertificateError(where, 'GENESIS_PARAMETER', { name });
    }
  }
  try {
    return ruleOf(genesis);
  } catch (error) {
    if (error instanceof RuleUnavailable) return null;
    throw error;
  }
}

/** A poll to recompute. */
export interface CertifiedPoll {
  block: PollBlock;
  /** Engine time of the proposal. */
  proposedAt: number;
  electorate: CertifiedElectorate;
  votes: readonly CountedVote[];
  /** True if the deadline closed the block. */
  atDeadline: boolean;
}

/** Counts votes in order. No vote may follow the deciding vote. */
export function computeTally(rule: NetworkRule, poll: CertifiedPoll): CertifiedTally {
  const { block, proposedAt, electorate, votes, atDeadline } = poll;
  const counter = new PollCounter(rule, block, electorsOf(rule, electorate, votes));
  const positions = new Map([...electorate.weights.keys()].map((agent, at) => [agent, at]));
  let verdict: Verdict = { status: null };
  for (const vote of votes) {
    const { decision, agent_id, personality, ballot, ordinal, entry } = vote;
    if (verdict.status !== null) {
      throw new CertificateError(entry.where, 'VOTE_AFTER_DECISION', { seq: entry.seq });
    }
    const found = rule.findBallotProblem(ballot, block);
    if (found) {
      const { pointer, problem } = found;
      throw new CertificateError(entry.where, 'VOTE_BALLOT', { seq: entry.seq, pointer, problem });
    }
    const ms = entry.request!.at - proposedAt;
    const elector = positions.get(ordinal)!;
    counter.add({ elector, agent_id, decision, ballot, ms, personality });
    verdict = counter.verdict(false);
  }
  if (verdict.status === null && atDeadline) verdict = counter.verdict(true);
  const { approve, reject, voted, vetoes } = counter.counts;
  const tied = verdict.status === 'finalized' ? counter.findTie() : null;
  return { approve, reject, voted, vetoed: vetoes > 0, tied, ...verdict };
}

/** Counts votes whose rule is not known. The record of the block supplies the outcome. */
export function countVotes(
  votes: readonly CountedVote[],
  outcome: Verdict & { vetoed: boolean },
): CertifiedTally {
  const sums = { approve: 0, reject: 0 };
  for (const { decision, weight } of votes) sums[decision] += weight;
  return { ...sums, voted: votes.length, tied: null, ...outcome };
}

function electorsOf(
  rule: NetworkRule,
  { weights, personalities }: CertifiedElectorate,
  votes: readonly CountedVote[],
) {
  const voted = new Map(votes.map(({ ordinal, personality }) => [ordinal, personality]));
  const electors = [...weights].map(([agent, weight]) => {
    const personality = voted.get(agent) ?? personalities.get(agent);
    if (personality === undefined && rule.usesVetoes) {
      throw new CertificateError('/spans', 'ELECTOR_UNREGISTERED', { ordinal: agent });
    }
    return { agent, weight, personality: personality ?? '' };
  });
  return createElectors(electors);
}
