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
import { mix } from '../rng.js';
import type { RecordedPoll } from './recorded-polls.js';

const endings = ['.soc', '.soi', '.toc', '.toi', '.pb'];

/** Returns true if the name is that of a file with election data. */
export const isElectionFile = (path: string): boolean =>
  endings.includes(extname(path).toLowerCase());

/** Longest name of an option in a ballot. */
const NAME_LENGTH = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a file as one poll. The ballots of one line of the file form one elector, whose weight is
 * their number. All voters approve, so only their ballots matter. A ballot is a ranking as far as
 * the order is strict, an approval of the first tier if that is tied, or scores.
 *
 * @param most number of alternatives to keep: those with the most first choices. If absent, a file
 * with more alternatives than a block may have options is refused.
 */
export function readElectionPoll(
  file: string,
  most: number | undefined,
): RecordedPoll | { problem: string } {
  const data = readData(file);
  if ('problem' in data) return data;
  const count = data.alternatives.length;
  if (most === undefined && count > OPTIONS) {
    const advice = `--options ${OPTIONS} keeps those with the most first choices`;
    return { problem: `has ${count} alternatives; a rule chooses among ${OPTIONS}; ${advice}` };
  }
  const kept = most === undefined ? data.alternatives.keys() : findLeading(data, most);
  const names = nameOptions(data.alternatives);
  const options = [...kept].sort((a, b) => a - b);
  return toPoll(data, basename(file), names, options);
}

function readData(file: string): (ElectionData & { text: string }) | { problem: string } {
  try {
    const text = utf8.decode(readBounded(file, electionLimits.bytes));
    return { ...readElection(text, findDataType(file)), text };
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
 * Returns the alternatives that most voters put first. If counts are equal, the alternative that
 * comes first in the file precedes.
 */
function findLeading({ alternatives, ballots }: ElectionData, most: number): number[] {
  const firsts = alternatives.map(() => 0);
  for (const { count, ballot } of ballots) {
    for (const one of ballot.tiers[0] ?? []) firsts[one]! += count;
  }
  return [...firsts.keys()].sort((a, b) => firsts[b]! - firsts[a]! || a - b).slice(0, most);
}

/** Shortens long names. Names stay unique. */
function nameOptions(alternatives: readonly string[]): string[] {
  const taken = new Set<string>();
  return alternatives.map((name, at) => {
    const short = name.length <= NAME_LENGTH && !taken.has(name);
    const own = short ? name : `${name.slice(0, NAME_LENGTH - 8).toWellFormed()} #${at + 1}`;
    taken.add(own);
    return own;
  });
}

function toPoll(
  { ballots, text }: ElectionData & { text: string },
  name: string,
  names: readonly string[],
  kept: readonly number[],
): RecordedPoll {
  return {
    hash: sha256Hex(text),
    number: 0,
    height: 0,
    options: kept.map((one) => names[one]!),
    recorded: null,
    electors: ballots.map(({ count, line }, at) => ({
      agent: at,
      agent_id: agentIdOf(at),
      name: `${name}:${line}`,
      personality: '',
      weight: count,
      voters: count,
    })),
    votes: ballots.map(({ ballot }, at) => {
      const found = toBallot(ballot, names, new Set(kept));
      const vote = { elector: at, decision: 'approve' as const, ms: 0 };
      return found === undefined ? vote : { ...vote, ballot: found };
    }),
    waiting: 0,
  };
}

const agentIdOf = (number: number): string =>
  `agent_${[0, 1, 2, 3].map((part) => mix(number, part).toString(16).padStart(8, '0')).join('')}`;

/** Returns undefined for a voter that states no preference among these alternatives. */
function toBallot(
  { tiers, points }: Preference,
  names: readonly string[],
  kept: ReadonlySet<number>,
): object | undefined {
  if (points) {
    const scored = tiers.flat().map((one, at) => [one, points[at]!] as const);
    const scores = scored
      .filter(([one]) => kept.has(one))
      .map(([one, score]) => [names[one], score]);
    return scores.length === 0 ? undefined : { scores: Object.fromEntries(scores) };
  }
  const left = tiers
    .map((tier) => tier.filter((one) => kept.has(one)))
    .filter(({ length }) => length);
  const [first] = left;
  if (!first) return undefined;
  if (first.length > 1) return { approved: first.map((one) => names[one]) };
  const tie = left.findIndex(({ length }) => length > 1);
  const strict = tie < 0 ? left : left.slice(0, tie);
  return { ranking: strict.map(([one]) => names[one!]) };
}
