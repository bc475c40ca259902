/** Polls from files of election data (PrefLib and Pabulib), to count under decision rules. */
import { basename, extname } from 'node:path';
import { describeSystemError } from '../../engine/protocol/messages.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { OPTIONS } from '../../engine/rules/election.js';
import { FileTooLarge, readBounded } from '../../engine/store/folder.js';
import {
  type ElectionData,
  ElectionError,
  electionLimits,
  findDataType,
  type Preference,
  readElection,
} from '../elections/election-data.js';
import { labelOptions, nameOptions, restrictPreference } from '../elections/rule-ballots.js';
import { mix } from '../rng.js';
import type { RecordedPoll } from './recorded-polls.js';

const endings = ['.soc', '.soi', '.toc', '.toi', '.pb'];

export const isElectionFile = (path: string): boolean =>
  endings.includes(extname(path).toLowerCase());

const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface PollOptions {
  /**
   * Number of alternatives to keep: those with the most first choices. If absent, a file with more
   * alternatives than a block may have options is refused.
   */
  most?: number | undefined;
  /** Leaves out lines with an invalid ballot. */
  skipInvalid?: boolean | undefined;
}

/** A poll, and the lines that were left out. */
export interface ElectionPoll {
  poll: RecordedPoll;
  skipped?: ElectionData['skipped'];
}

/**
 * Reads a file as one poll. The voters with the same ballot form one elector, whose weight is their
 * number. All voters approve, so only their ballots matter: a ranking with tiers of equal options,
 * an approval, or scores.
 */
export function readElectionPoll(
  file: string,
  { most, skipInvalid = false }: PollOptions = {},
): ElectionPoll | { problem: string } {
  const data = readData(file, skipInvalid);
  if ('problem' in data) return data;
  const count = data.alternatives.length;
  if (most === undefined && count > OPTIONS) {
    const advice = `--options ${OPTIONS} keeps those with the most first choices`;
    return { problem: `has ${count} alternatives; a rule chooses among ${OPTIONS}; ${advice}` };
  }
  const kept = most === undefined ? [...data.alternatives.keys()] : findLeading(data, most);
  const poll = toPoll(data, basename(file), kept);
  return { poll, ...(data.skipped ? { skipped: data.skipped } : {}) };
}

type HashedData = ElectionData & { sha256: string };

function readData(file: string, skipInvalid: boolean): HashedData | { problem: string } {
  try {
    const text = utf8.decode(readBounded(file, electionLimits.bytes));
    return { ...readElection(text, findDataType(file), { skipInvalid }), sha256: sha256Hex(text) };
  } catch (error) {
    if (error instanceof ElectionError) {
      return { problem: `has an error in line ${error.line}: ${error.message}` };
    }
    if (error instanceof FileTooLarge) return { problem: error.message };
    const isText = (error as { code?: string }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    const reason = isText ? describeSystemError(error) : 'not a UTF-8 text';
    return { problem: `cannot be read: ${reason}` };
  }
}

/**
 * Returns the alternatives that most voters put first, in the order of the file. If counts are
 * equal, the alternative that comes first in the file precedes.
 */
function findLeading({ alternatives, ballots }: ElectionData, most: number): number[] {
  const firsts = alternatives.map(() => 0);
  for (const { count, ballot } of ballots) {
    for (const one of ballot.tiers[0] ?? []) firsts[one]! += count;
  }
  const leading = [...firsts.keys()].sort((a, b) => firsts[b]! - firsts[a]! || a - b);
  return leading.slice(0, most).sort((a, b) => a - b);
}

/** Electors of a poll, and their votes. */
interface Electorate {
  electors: (RecordedPoll['electors'][number] & { weight: number; voters: number })[];
  votes: RecordedPoll['votes'][number][];
}

function toPoll(data: HashedData, name: string, kept: readonly number[]): RecordedPoll {
  const { alternatives, ballots, form } = data;
  const named = nameOptions(alternatives, false);
  const options = kept.map((one) => named[one]!);
  const labels = labelOptions(
    options,
    kept.map((one) => alternatives[one]!),
  );
  const places = new Map(kept.map((one, at) => [one, at]));
  const positions = alternatives.map((_, at) => places.get(at) ?? -1);
  const { electors, votes }: Electorate = { electors: [], votes: [] };
  // The reader gives voters with the same text the same ballot.
  const known = new Map<Preference, Electorate['electors'][number]>();
  for (const { count, ballot, line } of ballots) {
    const elector = known.get(ballot);
    if (elector) {
      elector.weight += count;
      elector.voters += count;
      continue;
    }
    const agent = electors.length;
    const added = new Elector(agent, `${name}:${line}`, count);
    known.set(ballot, added);
    electors.push(added);
    const recorded = toBallot(restrictPreference(ballot, positions), form, options);
    votes.push({ elector: agent, decision: 'approve', ballot: recorded, ms: 0 });
  }
  return {
    ...{ hash: data.sha256, number: 0, height: 0, options },
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...{ recorded: null, electors, votes, waiting: 0 },
  };
}

/** The voters of one ballot. The id is computed on demand, because most are never read. */
class Elector {
  readonly personality = '';
  weight: number;
  voters: number;

  constructor(
    readonly agent: number,
    readonly name: string,
    count: number,
  ) {
    this.weight = count;
    this.voters = count;
  }

  get agent_id(): string {
    const parts = [0, 1, 2, 3].map((part) => mix(this.agent, part).toString(16).padStart(8, '0'));
    return `agent_${parts.join('')}`;
  }
}

/** Returns a preference as a ballot of its own form, which need not be that of a rule. */
function toBallot(
  { tiers, points }: Preference,
  form: ElectionData['form'],
  options: readonly string[],
): object {
  const toNames = (tier: readonly number[]) => tier.map((one) => options[one]!);
  if (form === 'approval') return { approved: toNames(tiers.flat()) };
  if (!points) {
    return {
      ranking: tiers.map((tier) => (tier.length === 1 ? options[tier[0]!]! : toNames(tier))),
    };
  }
  const scores = tiers.flat().map((one, at) => [options[one]!, points[at]!] as const);
  return { scores: Object.fromEntries(scores) };
}
