/**
 * Ballots for a decision rule, from election data, cultures and recorded votes. Everything passes
 * through a preference: tiers of equal options, best first. A rule that takes tiers gets them
 * unchanged. A rule that needs a strict order or one option gets a ballot with ties only if the
 * caller says how to break them.
 */
import { type BallotSchema, findBallotProblem } from '../../engine/rules/ballots.js';
import { OPTIONS } from '../../engine/rules/election.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import type { PollBlock } from '../../engine/rules/rule.js';
import { type ElectionData, type Preference, rankByPoints } from './election-data.js';

/** Types of ballot members, by the member names that the built-in rules use. */
const forms = {
  ranking: 'array',
  scores: 'object',
  approved: 'array',
  option: 'string',
  votes: 'integer',
} as const satisfies Record<string, BallotSchema['type']>;

type BallotForm = keyof typeof forms;

/** Returns the form of a rule's ballots, or null if it has none or they have another form. */
export function findBallotForm({ ballotSchema: schema }: NetworkRule): BallotForm | null {
  if (schema?.type !== 'object' || !('properties' in schema)) return null;
  const { properties } = schema;
  const names = Object.keys(forms) as BallotForm[];
  return names.find((name) => properties[name]?.type === forms[name]) ?? null;
}

/** Ways to break ties: not at all, in the order of the options, or by leaving out the ballot. */
const tieBreaks = ['refuse', 'list', 'drop'] as const;
export type TieBreak = (typeof tieBreaks)[number];

/**
 * Uses of a ballot:
 *
 * - `kept`: the rule takes it unchanged.
 * - `converted`: the rule takes it in another form.
 * - `listed`: the order of the options breaks its ties.
 * - `tied`: it has ties that the rule does not take, so it does not count.
 * - `indifferent`: it prefers no option to another, so it counts as a vote without a ballot.
 * - `dropped`: the rule takes it in no form, so it does not count.
 */
export const ballotUses = [
  'kept',
  'converted',
  'listed',
  'tied',
  'indifferent',
  'dropped',
] as const;
type BallotUse = (typeof ballotUses)[number];

interface MadeBallot {
  use: BallotUse;
  /** Absent if the ballot does not count. */
  ballot?: unknown;
  /** The first tied options, if they are the reason for the use. */
  tie?: string[];
}

interface Making {
  ties: TieBreak;
  /** Smallest number of options that an approval names, in whole tiers. */
  approves?: number;
  /** Highest number of points of all ballots that count together. */
  points?: number;
}

/** Common factor of all scores in a count: each is points × to / from, rounded down. */
export interface Scale {
  from: number;
  to: number;
}

/** Makes the ballots of one count. */
export class BallotMaker {
  readonly form: BallotForm | null;
  /** Null if scores are points. */
  readonly scale: Scale | null = null;
  readonly #rule: NetworkRule;
  readonly #takesTies: boolean;
  readonly #highest: number;
  readonly #making: Making;

  constructor(rule: NetworkRule, making: Making) {
    const { ballotSchema: schema } = rule;
    this.form = findBallotForm(rule);
    this.#rule = rule;
    this.#making = making;
    this.#takesTies = schema !== null && !findBallotProblem(schema, { ranking: [['a', 'b']] });
    this.#highest = findHighestScore(rule);
    const { points = 0 } = making;
    if (this.form !== 'scores' || points <= this.#highest) return;
    this.scale = { from: points, to: this.#highest };
  }

  /** Returns a recorded ballot as the rule takes it. */
  convert(ballot: unknown, options: readonly string[], block: PollBlock): MadeBallot {
    const isValid = this.#rule.findBallotProblem(ballot, block) === null;
    if (isValid && this.scale === null) return { use: 'kept', ballot };
    const preference = toPreference(ballot, options);
    return preference ? this.make(preference, options, block) : { use: 'dropped' };
  }

  make(preference: Preference, options: readonly string[], block: PollBlock): MadeBallot {
    const { form } = this;
    if (form === null || form === 'votes') return { use: 'dropped' };
    const made =
      form === 'scores'
        ? this.#makeScores(preference, options)
        : this.#makeOrder(form, rankedTiers(preference), options);
    // A module can refuse ballots for reasons of its own.
    const isValid = made.ballot === undefined || !this.#rule.findBallotProblem(made.ballot, block);
    return isValid ? made : { use: 'dropped' };
  }

  #makeOrder(
    form: 'ranking' | 'approved' | 'option',
    tiers: Preference['tiers'],
    options: readonly string[],
  ): MadeBallot {
    const toNames = (tier: readonly number[]) =>
      [...tier].sort((one, other) => one - other).map((one) => options[one]!);
    if (form === 'approved') {
      const { approves = 1 } = this.#making;
      const approved: number[] = [];
      for (const tier of tiers) if (approved.length < approves) approved.push(...tier);
      if (approved.length === 0) return { use: 'indifferent' };
      return { use: 'converted', ballot: { approved: toNames(approved) } };
    }
    const order = leaveOutRest(tiers, options.length);
    const counted = form === 'option' ? order.slice(0, 1) : order;
    if (counted.length === 0) return { use: 'indifferent' };
    const names = counted.map(toNames);
    const tie = names.find(({ length }) => length > 1);
    if (form === 'ranking' && (this.#takesTies || !tie)) {
      const ranking = names.map((tier) => (tier.length === 1 ? tier[0] : tier));
      return { use: 'converted', ballot: { ranking } };
    }
    if (tie && this.#making.ties !== 'list') return { use: 'tied', tie };
    const ballot = form === 'ranking' ? { ranking: names.flat() } : { option: names[0]![0] };
    return { use: tie ? 'listed' : 'converted', ballot };
  }

  #makeScores({ tiers, points }: Preference, options: readonly string[]): MadeBallot {
    if (tiers.length === 0) return { use: 'indifferent' };
    const scores: [name: string, score: number][] = [];
    if (points) {
      for (const [at, one] of tiers.flat().entries()) {
        scores.push([options[one]!, this.#toScore(points[at]!)]);
      }
      return { use: 'converted', ballot: { scores: Object.fromEntries(scores) } };
    }
    let above = 0;
    for (const tier of tiers) {
      above += tier.length;
      const below = options.length - above;
      // The first tier, such as that of an approval, has the highest score even if it is tied.
      const best = tier === tiers[0] ? options.length - 1 : below;
      const score = multiply(this.#highest, best, Math.max(1, options.length - 1));
      for (const one of tier) scores.push([options[one]!, score]);
    }
    return { use: 'converted', ballot: { scores: Object.fromEntries(scores) } };
  }

  #toScore(points: number): number {
    return this.scale === null ? points : multiply(points, this.scale.to, this.scale.from);
  }
}

/** Returns one × other / divisor, rounded down. Exact for all safe integers. */
function multiply(one: number, other: number, divisor: number): number {
  const product = one * other;
  if (Number.isSafeInteger(product)) return Math.floor(product / divisor);
  return Number((BigInt(one) * BigInt(other)) / BigInt(divisor));
}

/** Options with 0 points are equal to the options that a ballot does not name. */
const rankedTiers = ({ tiers, points }: Preference): Preference['tiers'] =>
  points?.at(-1) === 0 ? tiers.slice(0, -1) : tiers;

/**
 * Leaves out the last tier if it is tied and completes the order: a ranking has no preference
 * between options that it does not name.
 */
function leaveOutRest(tiers: Preference['tiers'], options: number): Preference['tiers'] {
  const last = tiers.at(-1) ?? [];
  const named = tiers.reduce((sum, { length }) => sum + length, 0);
  return named === options && last.length > 1 ? tiers.slice(0, -1) : tiers;
}

function findHighestScore({ values, ballotSchema: schema }: NetworkRule): number {
  if (values.highest !== undefined) return values.highest;
  const scores = schema?.type === 'object' && 'properties' in schema && schema.properties.scores;
  const each = scores && scores.type === 'object' && 'maxProperties' in scores;
  const score = each ? scores.additionalProperties : null;
  return score?.type === 'integer' ? score.maximum : 1;
}

/**
 * Returns the preference of a ballot over a block's options, or null if the ballot has none.
 * Approved options are tied, above all others. Options without a score have 0.
 */
export function toPreference(ballot: unknown, options: readonly string[]): Preference | null {
  if (typeof ballot !== 'object' || ballot === null) return null;
  const { ranking, option, approved, scores } = ballot as Record<string, unknown>;
  const positions = (names: readonly unknown[]): number[] =>
    names.map((name) => options.indexOf(name as string)).filter((position) => position >= 0);
  if (Array.isArray(ranking)) {
    const tiers = ranking.map((tier) => positions(Array.isArray(tier) ? tier : [tier]));
    return { tiers: tiers.filter(({ length }) => length > 0) };
  }
  if (typeof option === 'string') return { tiers: positions([option]).map((one) => [one]) };
  const all = options.map((_, position) => position);
  if (Array.isArray(approved)) {
    const named = new Set(positions(approved));
    const tiers = [[...named], all.filter((one) => !named.has(one))];
    return { tiers: tiers.filter(({ length }) => length > 0) };
  }
  if (!areScores(scores)) return null;
  const points = options.map((name) => (Object.hasOwn(scores, name) ? scores[name]! : 0));
  return rankByPoints(all, points);
}

const areScores = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((score) => Number.isSafeInteger(score) && score >= 0);

/** Returns the highest score of the ballots; 0 if no ballot has scores. */
export function findMostPoints(ballots: Iterable<unknown>): number {
  let most = 0;
  for (const ballot of ballots) {
    const scores = (ballot as { scores?: unknown } | null | undefined)?.scores;
    if (areScores(scores)) for (const score of Object.values(scores)) most = Math.max(most, score);
  }
  return most;
}

/** Returns the preference over some alternatives, by their new positions; -1 leaves one out. */
export function restrictPreference(
  { tiers, points }: Preference,
  positions: readonly number[],
): Preference {
  const rest = tiers
    .map((tier) => tier.map((one) => positions[one]!).filter((position) => position >= 0))
    .filter(({ length }) => length > 0);
  if (!points) return { tiers: rest };
  const named = tiers.flat();
  return { tiers: rest, points: points.filter((_, at) => positions[named[at]!]! >= 0) };
}

/** Longest option name, in bytes. A ballot that names all options of a block fits its limit. */
const LONGEST_NAME = 64;

/**
 * Returns a unique name for each alternative, with at most 64 bytes. A name that is already taken
 * gets the alternative's position as a suffix, or the next free number.
 *
 * @param isPlain true for names that consist of ASCII letters, digits, dots, underscores and
 * hyphens, as options of a block require. Other characters become hyphens.
 */
export function nameOptions(alternatives: readonly string[], isPlain: boolean): string[] {
  const names = new Set<string>();
  for (const [at, alternative] of alternatives.entries()) {
    const plain = isPlain
      ? alternative.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
      : alternative;
    const base = cutName(plain, LONGEST_NAME) || `option-${at + 1}`;
    let name = base;
    for (let number = at + 1; names.has(name); number += 1) {
      const ending = `${isPlain ? '-' : ' #'}${number}`;
      name = `${cutName(base, LONGEST_NAME - ending.length)}${ending}`;
    }
    names.add(name);
  }
  return [...names];
}

/** Returns the longest beginning that has at most this many bytes of UTF-8. */
function cutName(name: string, most: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) break;
    end += character.length;
  }
  return name.slice(0, end).toWellFormed();
}

/** Original names of the alternatives whose option name is a different one. */
export function labelOptions(
  names: readonly string[],
  alternatives: readonly string[],
): Record<string, string> {
  const labels = names.map((name, at) => [name, alternatives[at]!] as const);
  return Object.fromEntries(labels.filter(([name, label]) => name !== label));
}

/** Returns the original name of an option. */
export const labelOption = (
  { labels = {} }: { labels?: Readonly<Record<string, string>> },
  name: string,
): string => (Object.hasOwn(labels, name) ? labels[name]! : name);

/** Problem with election data: its line, if it is in one line, and a description. */
interface DataProblem {
  line?: number;
  detail: string;
}

/** Returns the first reason why no ballot can be cast, or null. */
export function findOptionsProblem(
  names: readonly string[],
  options: readonly string[],
): DataProblem | null {
  if (!names.some((name) => options.includes(name))) {
    return { detail: `no alternative is in producers.options: ${options.join(', ')}; name some` };
  }
  if (options.length <= OPTIONS && options.length >= 2) return null;
  const advice = `use 2 to ${OPTIONS}, or list the options in producers.options`;
  return { detail: `wrong number of alternatives: ${options.length}; ${advice}` };
}

/** Numbers of voters, by the use of their ballots. */
export type BallotUses = Record<BallotUse, number>;

export const countNoBallots = (): BallotUses =>
  Object.fromEntries(ballotUses.map((use) => [use, 0])) as BallotUses;

/** Uses of all ballots, and the first ballot with ties that do not count. */
export interface BallotSurvey {
  uses: BallotUses;
  tied: DataProblem | null;
}

/** Makes all ballots of election data over the options of a scenario's blocks. */
export function surveyBallots(
  { ballots }: Pick<ElectionData, 'ballots'>,
  names: readonly string[],
  options: readonly string[],
  maker: BallotMaker,
): BallotSurvey {
  const positions = names.map((name) => options.indexOf(name));
  const block = { hash: '', height: 0, options };
  const survey: BallotSurvey = { uses: countNoBallots(), tied: null };
  for (const { count, ballot, line } of ballots) {
    const { use, tie = [] } = maker.make(restrictPreference(ballot, positions), options, block);
    survey.uses[use] += count;
    if (use !== 'tied' || survey.tied) continue;
    const advice = 'set ties to list or drop, or use a rule that accepts ties';
    survey.tied = { line, detail: `tie: ${tie.join(', ')}; ${advice}` };
  }
  return survey;
}

interface CountedBallots {
  ballots: Partial<BallotUses>;
  /** Absent if scores are those of the ballots. */
  scale?: Scale;
  /** Number of counts that have another scale than their ballots. */
  scaled?: number;
}

/** Formats the numbers of ballots that count in another way than recorded, or not at all. */
export function describeBallots({ ballots, scale, scaled = 1 }: CountedBallots): string[] {
  const { listed = 0, tied = 0, indifferent = 0, dropped = 0 } = ballots;
  const only = scaled > 1 ? ` (the first of ${scaled} scales)` : '';
  const describe = (count: number, what: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? 'ballot' : 'ballots'} ${what}`];
  return [
    ...describe(listed, 'with ties in the order of the options'),
    ...describe(tied, 'left out because of ties'),
    ...describe(dropped, 'left out because no form fits the rule'),
    ...describe(indifferent, 'without a preference'),
    ...(scale === undefined ? [] : [`scores × ${scale.to} / ${scale.from}, rounded down${only}`]),
  ];
}

/** Uses of an election file's ballots under the rule of a run. */
export interface ElectionUse extends CountedBallots {
  /** Numbers of voters in the file, by the use of their ballots; only those above 0. */
  ballots: Partial<BallotUses>;
  /** Names of alternatives in the file, by option; only those that differ. */
  labels?: Record<string, string>;
}

export const collectLabels = (uses: Readonly<Record<string, ElectionUse>>) =>
  Object.assign({}, ...Object.values(uses).map(({ labels }) => labels)) as Record<string, string>;

/** Formats the uses of ballots and the labels of options, one line each. */
export function describeElections(uses: Readonly<Record<string, ElectionUse>> = {}): string[] {
  return Object.entries(uses).flatMap(([file, { labels = {}, ...counted }]) => [
    ...describeBallots(counted).map((what) => `${file}: ${what}`),
    ...Object.entries(labels).map(([name, label]) => `${file}: the option ${name} is ${label}`),
  ]);
}
