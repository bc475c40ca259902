/**
 * Electorate, votes and quorum, recomputed by the rules of docs/protocol.md, section 6. Written
 * apart from the engine's own: whoever checks does not run what is checked.
 */
import { type Entry, eventIn, membersOf, recordIn, recordText, said } from './chain.js';
import { Refused } from './format.js';
import { type CertifiedGenesis, type SignedVote, voteOf } from './requests.js';

/** Who may vote on the block: agent ordinals, ascending, and what each weighs. */
export interface CertifiedElectorate {
  weights: ReadonlyMap<number, number>;
  total: number;
  /** Of the electors that did not vote, where the policy asks for it. */
  personalities: ReadonlyMap<number, string>;
}

/** The electorate with this number, out of the entry that wrote it. */
export function electorateOf(
  entries: readonly Entry[],
  number: number,
  genesis: CertifiedGenesis,
): { written: Entry[]; electorate: CertifiedElectorate } {
  const beginning = recordText('electorates', number);
  const entry = entries.find(({ results }) => results.some((text) => text.startsWith(beginning)));
  if (!entry) throw new Refused('/spans', `no entry in it writes electorate ${number}`);
  const { agents, weights: list } = recordIn(entry, beginning)!.value;
  const where = entry.where;
  if (!Array.isArray(agents) || !Array.isArray(list) || agents.length !== list.length) {
    throw new Refused(where, 'the electorate has not as many weights as agents');
  }
  const weights = new Map<number, number>();
  let total = 0;
  for (const [index, agent] of agents.entries()) {
    if (!Number.isSafeInteger(agent) || agent <= (index === 0 ? -1 : agents[index - 1])) {
      throw new Refused(where, 'the agents of the electorate are not ascending numbers');
    }
    if (!isWeight(genesis, list[index])) {
      throw new Refused(where, `by ${genesis.weights}, no elector weighs ${said(list[index])}`);
    }
    weights.set(agent, list[index]);
    total += list[index];
  }
  if (weights.size < genesis.min_validators) {
    throw new Refused(where, `has ${weights.size} electors, fewer than min_validators`);
  }
  const registered = genesis.policy === 'veto' ? registrationsIn(entries, weights) : [];
  const personalities = new Map(registered.map((one) => [one.ordinal, one.personality]));
  const written = [entry, ...registered.map((one) => one.entry)];
  return { written, electorate: { weights, total, personalities } };
}

/** What a vote can weigh: 1; 1 to 100 by reputation; 100 and 2 for each ally, up to 10. */
function isWeight({ weights }: CertifiedGenesis, weight: unknown): boolean {
  if (!Number.isSafeInteger(weight)) return false;
  const value = weight as number;
  if (weights === 'equal') return value === 1;
  if (weights === 'reputation') return value >= 1 && value <= 100;
  return value >= 100 && value <= 110 && value % 2 === 0;
}

/** Where electors registered, as far as those requests are in the certificate. */
function registrationsIn(entries: readonly Entry[], electors: ReadonlyMap<number, number>) {
  return entries.flatMap((entry) => {
    const record = entry.request && recordIn(entry, '["agents",');
    const { ordinal, personality } = record?.value ?? {};
    if (typeof ordinal !== 'number' || !electors.has(ordinal)) return [];
    return [{ entry, ordinal, personality: said(personality) }];
  });
}

/** A vote that counted, with where it stands. */
export interface CountedVote extends SignedVote {
  entry: Entry;
  ordinal: number;
  personality: string;
  weight: number;
}

/** All votes on the block that counted, in their order. */
export function votesOf(
  entries: readonly Entry[],
  block: { hash: string; ordinal: number },
  { weights }: CertifiedElectorate,
): CountedVote[] {
  const beginning = `["votes",[${block.ordinal},`;
  const voters = new Set<number>();
  const keys = new Set<string>();
  return entries.flatMap((entry) => {
    const record = recordIn(entry, beginning);
    if (!record) return [];
    const { seq, where, request } = entry;
    const vote = voteOf(entry, block.hash);
    const [, ordinal] = record.key as [number, number];
    const { at, decision, entry: number } = record.value;
    if (decision !== vote.decision || number !== seq || at !== request!.at) {
      throw new Refused(where, `entry ${seq} counts another vote than the one that it holds`);
    }
    if (voters.has(ordinal) || keys.has(vote.public_key)) {
      throw new Refused(where, `agent ${vote.agent_id} votes twice: again in entry ${seq}`);
    }
    voters.add(ordinal);
    keys.add(vote.public_key);
    const weight = weights.get(ordinal);
    if (weight === undefined) {
      throw new Refused(where, `agent ${vote.agent_id} is not in the electorate`);
    }
    const told = eventIn(entry, 'block_validation');
    const validator = membersOf(told?.validator ?? {}, where);
    if (validator.id !== vote.agent_id || told?.decision !== vote.decision) {
      throw new Refused(where, `entry ${seq} tells of another vote than the one that it holds`);
    }
    return [{ ...vote, entry, ordinal, personality: said(validator.personality), weight }];
  });
}

/** The tally when the block was decided. */
export interface CertifiedTally {
  approve: number;
  reject: number;
  voted: number;
  vetoed: boolean;
  /** Null where it decides nothing. */
  status: 'finalized' | 'rejected' | 'expired' | null;
}

/** Counts vote by vote: none may come after the one that decides. */
export function tallyOf(
  genesis: CertifiedGenesis,
  electorate: CertifiedElectorate,
  votes: readonly CountedVote[],
  atDeadline: boolean,
): CertifiedTally {
  const tally: CertifiedTally = { approve: 0, reject: 0, voted: 0, vetoed: false, status: null };
  const groups = genesis.policy === 'veto' ? groupsOf(electorate, votes) : null;
  for (const { decision, weight, personality, entry } of votes) {
    if (tally.status !== null) {
      throw new Refused(entry.where, `entry ${entry.seq} counts a vote on a block already decided`);
    }
    tally[decision] += weight;
    tally.voted += 1;
    const group = decision === 'reject' ? groups?.get(personality) : undefined;
    if (group) group.rejecting += 1;
    if (group && group.size >= 3 && group.rejecting === group.size) tally.vetoed = true;
    tally.status = decided(genesis, electorate, tally, false);
  }
  if (tally.status === null && atDeadline) {
    tally.status = decided(genesis, electorate, tally, true);
  }
  return tally;
}

/** How many electors there are of each personality. */
function groupsOf({ weights, personalities }: CertifiedElectorate, votes: readonly CountedVote[]) {
  const groups = new Map<string, { size: number; rejecting: number }>();
  const voted = new Map(votes.map(({ ordinal, personality }) => [ordinal, personality]));
  for (const ordinal of weights.keys()) {
    const personality = voted.get(ordinal) ?? personalities.get(ordinal);
    if (personality === undefined) {
      const message = `no entry in it registers elector ${ordinal}, whose personality counts`;
      throw new Refused('/spans', message);
    }
    const group = groups.get(personality) ?? { size: 0, rejecting: 0 };
    groups.set(personality, { ...group, size: group.size + 1 });
  }
  return groups;
}

function decided(
  { policy, participation_bps }: CertifiedGenesis,
  { total, weights }: CertifiedElectorate,
  { approve, reject, voted, vetoed }: CertifiedTally,
  atDeadline: boolean,
): CertifiedTally['status'] {
  if (policy === 'majority') {
    if (!atDeadline && voted < weights.size) return null;
    if ((approve + reject) * 10_000 < participation_bps * total) return 'expired';
    return approve > reject ? 'finalized' : 'rejected';
  }
  if (3 * approve > 2 * total) return 'finalized';
  if (3 * reject >= total || vetoed) return 'rejected';
  return atDeadline ? 'expired' : null;
}
