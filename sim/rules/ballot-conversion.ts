/**
 * Converts recorded ballots for a rule that takes ballots of a different form. A conversion drops
 * information, but never invents a preference:
 *
 * - A ranking or scores become a ranking, as far as the order is strict.
 * - Scores become approvals of the options with the highest score.
 * - Approvals become the highest score for each approved option.
 * - Everything else becomes its first choice, if there is exactly one: that option, an approval of
 *   it, a ranking of it, or the highest score for it.
 *
 * A ballot that has no valid conversion is dropped. Its vote counts as a vote without a ballot.
 */
import type { BallotSchema } from '../../engine/rules/ballots.js';
import type { NetworkRule } from '../../engine/rules/network-rule.js';
import { isWeightRule, type PollBlock } from '../../engine/rules/rule.js';

/** Numbers of voters with a ballot, by the use of the ballot. */
export interface ConvertedBallots {
  kept: number;
  converted: number;
  /** Ballots that the rule accepts in no form. */
  dropped: number;
}

/**
 * Returns the ballot as the rule takes it, and adds its voters to the counts. Returns undefined for
 * a vote without a ballot, and for all ballots if the rule takes none.
 */
export function convertBallot(
  rule: NetworkRule,
  block: PollBlock,
  ballot: unknown,
  counts: ConvertedBallots,
  voters: number,
): unknown {
  if (ballot === undefined || !rule.takesBallots) return undefined;
  if (rule.findBallotProblem(ballot, block) === null) {
    counts.kept += voters;
    return ballot;
  }
  const preference = readPreference(ballot);
  const forms = preference === null ? [] : formsOf(preference, highestScore(rule));
  const found = forms.find((form) => rule.findBallotProblem(form, block) === null);
  if (found === undefined) counts.dropped += voters;
  else counts.converted += voters;
  return found;
}

/** Preference that a ballot states. */
interface Preference {
  /** Options in strict order, best first. Empty if several options are the best. */
  order: readonly string[];
  /** The best options, which are equal. */
  best: readonly string[];
}

function readPreference(ballot: unknown): Preference | null {
  if (typeof ballot !== 'object' || ballot === null) return null;
  const { option, ranking, approved, scores } = ballot as Record<string, unknown>;
  if (typeof option === 'string') return { order: [option], best: [option] };
  if (isTexts(ranking)) return { order: ranking, best: ranking.slice(0, 1) };
  if (isTexts(approved)) {
    return { order: approved.length === 1 ? approved : [], best: approved };
  }
  return isScores(scores) ? readScores(scores) : null;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

const isScores = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((score) => Number.isSafeInteger(score));

/** An option with the score 0 is equal to each option that the ballot does not name. */
function readScores(scores: Readonly<Record<string, number>>): Preference {
  const named = Object.entries(scores)
    .filter(([, score]) => score > 0)
    .sort(([, a], [, b]) => b - a);
  const isTied = ([, score]: [string, number]) =>
    named.filter(([, other]) => other === score).length > 1;
  const firstTie = named.findIndex(isTied);
  const strict = firstTie < 0 ? named : named.slice(0, firstTie);
  const best = named.filter(([, score]) => score === named[0]![1]);
  return { order: strict.map(([name]) => name), best: best.map(([name]) => name) };
}

/** Returns the forms of ballots that state a part of the preference, largest part first. */
function formsOf({ order, best }: Preference, highest: number): object[] {
  if (best.length === 0) return [];
  return [
    ...(order.length > 0 ? [{ ranking: order }] : []),
    { approved: best },
    { scores: Object.fromEntries(best.map((name) => [name, highest])) },
    ...(best.length === 1 ? [{ option: best[0] }] : []),
  ];
}

/** Returns the highest score that a ballot of the rule may give. */
function highestScore({ rule, values }: NetworkRule): number {
  if (values.highest !== undefined) return values.highest;
  const ballot = isWeightRule(rule) ? undefined : rule.ballot;
  const scores = memberOf(ballot, 'scores');
  const each = scores && 'maxProperties' in scores ? scores.additionalProperties : undefined;
  return each?.type === 'integer' ? each.maximum : 1;
}

const memberOf = (schema: BallotSchema | undefined, name: string): BallotSchema | undefined =>
  schema !== undefined && 'properties' in schema && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
