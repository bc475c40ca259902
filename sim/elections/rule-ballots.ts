/**
 * Election data for a decision rule: the form of the rule's ballots, names of options, and the
 * checks of data before a run.
 */
import type { BallotSchema } from '../../engine/rules/ballots.js';
import { OPTIONS } from '../../engine/rules/election.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import type { ElectionData } from './election-data.js';

/** Types of ballot members, by the member names that the built-in rules use. */
const forms = {
  option: 'string',
  ranking: 'array',
  approved: 'array',
  scores: 'object',
  votes: 'integer',
} as const satisfies Record<string, BallotSchema['type']>;

export type BallotForm = keyof typeof forms;

/**
 * Returns the form of a rule's ballots, or null if the rule has no ballots or ballots of another
 * form.
 */
export function findBallotForm({ ballotSchema: schema }: NetworkRule): BallotForm | null {
  if (schema?.type !== 'object' || !('properties' in schema)) return null;
  const { properties } = schema;
  const names = Object.keys(forms) as BallotForm[];
  return names.find((name) => properties[name]?.type === forms[name]) ?? null;
}

const LONGEST_NAME = 64;

/**
 * Returns the names that alternatives have as options of a block. An option name consists of ASCII
 * letters, digits, dots, underscores and hyphens; other characters become hyphens. Duplicate names
 * get their position in the list as a suffix.
 */
export function toOptionNames(alternatives: readonly string[]): string[] {
  const names = new Set<string>();
  for (const [at, alternative] of alternatives.entries()) {
    const plain = alternative.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
    const base = plain.slice(0, LONGEST_NAME) || `option-${at + 1}`;
    let name = base;
    for (let more = at + 1; names.has(name); more += 1) {
      const ending = `-${more}`;
      name = `${base.slice(0, LONGEST_NAME - ending.length)}${ending}`;
    }
    names.add(name);
  }
  return [...names];
}

/** Problem with election data: its line, if it is in one line, and a description. */
export interface DataProblem {
  line?: number;
  detail: string;
}

interface Wanted {
  /** Options of the scenario's blocks. Default: those of the data. */
  options: readonly string[] | undefined;
  ties: 'refuse' | 'list';
  form: BallotForm | null;
}

/** Returns the first reason why the ballots cannot be cast, or null. */
export function findDataProblem(data: ElectionData, wanted: Wanted): DataProblem | null {
  const own = toOptionNames(data.alternatives);
  const options = wanted.options ?? own;
  const common = own.filter((name) => options.includes(name)).length;
  if (common === 0) {
    return { detail: `no alternative is in producers.options: ${options.join(', ')}; name some` };
  }
  if (options.length > OPTIONS || options.length < 2) {
    const advice = `use 2 to ${OPTIONS}, or list the options in producers.options`;
    return { detail: `wrong number of alternatives: ${options.length}; ${advice}` };
  }
  if (wanted.ties === 'list') return null;
  if (wanted.form !== 'ranking' && wanted.form !== 'option') return null;
  const positions = own.map((name) => options.indexOf(name));
  for (const { ballot, line } of data.ballots) {
    const tiers = ballot.tiers
      .map((tier) => tier.filter((one) => positions[one]! >= 0))
      .filter(({ length }) => length > 0);
    const named = tiers.reduce((sum, { length }) => sum + length, 0);
    const tied = tiers.findIndex(({ length }) => length > 1);
    const isRest = tied === tiers.length - 1 && named === options.length;
    if (tied < 0 || isRest) continue;
    const names = tiers[tied]!.map((one) => own[one]).join(', ');
    return { line, detail: `tie: ${names}; set ties: list, or use a rule that accepts ties` };
  }
  return null;
}
