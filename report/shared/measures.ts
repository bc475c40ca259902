/**
 * Titles, units, meanings and kinds of all measures, which reports and the UI share, and the
 * captions of charts.
 */
import { format, formatMs, timeUnit } from './format.js';

/** Titles for charts, rows and columns. */
export const measureTitles = {
  proposed: 'Blocks proposed',
  finalized: 'Blocks finalized',
  rejected: 'Blocks rejected',
  expired: 'Blocks expired',
  orphaned: 'Blocks orphaned',
  open_at_end: 'Blocks still open at the end',
  finalized_share: 'Share of blocks finalized',
  rejected_share: 'Share of blocks rejected',
  expired_share: 'Share of blocks expired',
  orphaned_share: 'Share of blocks orphaned',
  sound_finalized_share: 'Share of sound blocks finalized',
  unsound_finalized_share: 'Share of unsound blocks finalized',
  finality_mean_ms: 'Mean time to finality',
  finality_p50_ms: 'Median time to finality',
  finality_p95_ms: '95th percentile of time to finality',
  finality_p99_ms: '99th percentile of time to finality',
  transactions: 'Transactions finalized',
  tps: 'Finalized transactions per second',
  votes: 'Votes',
  votes_per_block: 'Votes per block',
  participation: 'Participation',
  longest_wait_ms: 'Longest wait for a block slot',
  late_votes: 'Late votes',
  equivocations: 'Equivocations',
  agreement: 'Voter agreement',
  agreement_within: 'Agreement within groups',
  agreement_between: 'Agreement between groups',
  reputation_mean: 'Mean reputation',
  reputation_gini: 'Reputation inequality (Gini)',
  alliances: 'Alliances formed',
  alliance_size_mean: 'Mean size of an alliance',
  alliance_lifetime_mean_ms: 'Mean lifetime of an alliance',
  alliances_at_end: 'Alliances at the end',
  memes: 'Memes posted',
  meme_reach_mean: 'Mean reach of a meme',
  meme_references: 'Meme references',
  influence: 'Meme influence on votes',
  never_joined: 'Agents that never joined',
  messages_sent: 'Messages sent',
  messages_delivered: 'Messages delivered',
  messages_lost: 'Messages lost',
  messages_duplicated: 'Messages duplicated',
  message_bytes: 'Message bytes',
  messages_per_block: 'Messages per block',
  uplink_wait_mean_ms: 'Mean wait for an uplink',
  decider_questions: 'Decider questions',
  decider_calls: 'Decider calls',
  decider_failures: 'Decider failures',
  decider_input_tokens: 'Decider input tokens',
  decider_output_tokens: 'Decider output tokens',
  slots_decided: 'Slots decided',
  slot_decisions: 'Decisions for slots',
  slot_conflicts: 'Slots in conflict',
  slot_spread_mean_ms: 'Mean time from first to last decision',
  slot_values_spread: 'Largest difference of decisions',
} as const satisfies Record<MeasureName, string>;

/** Column titles for groups.csv in reports. */
export const groupTitles = {
  group: 'group',
  agents: 'agents',
  votes: 'votes',
  approve_share: 'approving',
  won_share: 'majority wins',
  agreement: 'agreement',
  influence: 'meme influence',
  reputation_mean: 'mean reputation',
  transactions_share: 'share of transactions',
  decider_questions: 'decider questions',
  decider_calls: 'decider calls',
  decider_failures: 'decider failures',
  decider_input_tokens: 'input tokens',
  decider_output_tokens: 'output tokens',
} as const;

/** Prefix for script measures in sweep tables and responses. */
export const OWN = 'reported.';

/** Matches the name of a script measure. */
export const OWN_NAME = /^[a-z][a-z0-9_]{0,31}$/;

/**
 * Splits `reported.NAME`, the measure of a run, and `reported.NAME@GROUP`, that of a group. Returns
 * null for any other name.
 */
export function parseOwn(name: string): { name: string; group: string | null } | null {
  if (!name.startsWith(OWN)) return null;
  const at = name.indexOf('@');
  const own = name.slice(OWN.length, at < 0 ? undefined : at);
  const group = at < 0 ? null : name.slice(at + 1);
  return OWN_NAME.test(own) && group !== '' ? { name: own, group } : null;
}

/** Sweep results that are not measures of an individual run. */
const others: Readonly<Record<string, string>> = { passed: 'Share of runs that passed' };

export const isMeasure = (name: string): name is MeasureName => Object.hasOwn(measures, name);

/** Returns the title for any name in a table of measures. */
export function measureTitle(name: string): string {
  if (isMeasure(name)) return measureTitles[name];
  const own = parseOwn(name);
  if (own) {
    const of = own.group === null ? '' : ` of group ${own.group}`;
    return `${own.name}${of} (reported by a script)`;
  }
  if (name.startsWith('ended_by.')) return `Share of runs ended by ${name.slice(9)}`;
  return others[name] ?? name;
}

/** Returns the meaning as a sentence without the final period. */
export function measureMeaning(name: string): string {
  const text = isMeasure(name) ? measures[name] : measureTitle(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** True for measures in milliseconds. */
const isTime = (name: string): boolean => isMeasure(name) && name.endsWith('_ms');

/** True if the measure is always between 0 and 1. */
export const isShare = (name: string): boolean =>
  (isMeasure(name) && measureKinds[name] === 'share') ||
  name === 'passed' ||
  name.startsWith('ended_by.');

/** Returns the measure's bounds. `most` is null if there is no upper bound. */
export function getBounds(name: string): { least: number; most: number | null } {
  if (isShare(name)) return { least: 0, most: 1 };
  if (name === 'reputation_mean') return { least: 0, most: 100 };
  return isMeasure(name)
    ? { least: 0, most: null }
    : { least: Number.NEGATIVE_INFINITY, most: null };
}

interface MeasureAxis {
  /** Title, including the unit for a time. */
  label: string;
  /** Milliseconds per axis unit; 1 for other measures. */
  unit: number;
  /** Unit for captions: ` (s)`, ` (fraction)`, or ''. */
  unitText: string;
}

/** Returns the axis for a measure with values up to `most`. */
export function getAxis(name: string, most: number): MeasureAxis {
  if (!isTime(name)) {
    return { label: measureTitle(name), unit: 1, unitText: isShare(name) ? ' (fraction)' : '' };
  }
  const { name: unit, ms } = timeUnit(most);
  const unitText = ` (${unit})`;
  return { label: `${measureTitle(name)}${unitText}`, unit: ms, unitText };
}

/** Formats a value with its unit. */
export const measureText = (name: string, value: number | null): string =>
  isTime(name) ? formatMs(value) : format(value);

/** Formats a difference with its sign. */
export function differenceText(name: string, value: number | null): string {
  if (value === null) return '–';
  const text = measureText(name, Math.abs(value));
  return value > 0 ? `+${text}` : value < 0 ? `\u2212${text}` : text;
}

/*
 * Every measure of a run with its meaning. The documentation, tables, reports and UI use these
 * texts. Times are milliseconds of virtual time. Shares are fractions of 1.
 */

/**
 * Measures with one number each: a member of `measures` in summary.json, and a column in a sweep's
 * runs.csv.
 */
export const measures = {
  proposed: 'blocks proposed',
  finalized: 'blocks finalized',
  rejected: 'blocks rejected',
  expired: 'blocks whose voting period ended without an outcome',
  orphaned: 'blocks that lost to another block of the same height',
  open_at_end:
    'blocks open when the run ended; excluded from all shares and means of closed blocks',
  finalized_share: 'finalized blocks as a share of closed blocks',
  rejected_share: 'rejected blocks as a share of closed blocks',
  expired_share: 'expired blocks as a share of closed blocks',
  orphaned_share: 'orphaned blocks as a share of closed blocks',
  sound_finalized_share: 'finalized share of the closed blocks in which all transactions are sound',
  unsound_finalized_share: 'finalized share of the closed blocks with an unsound transaction',
  finality_mean_ms: 'mean time from proposal to finalization',
  finality_p50_ms: 'median time from proposal to finalization',
  finality_p95_ms: '95th percentile of the time to finality (nearest rank)',
  finality_p99_ms: '99th percentile of the time to finality (nearest rank)',
  transactions: 'transactions in finalized blocks',
  tps: 'finalized transactions per second of virtual time',
  votes: 'votes counted',
  votes_per_block: 'mean number of votes on a closed block',
  participation: 'mean share of the electors that had voted when the block closed',
  longest_wait_ms:
    'longest time that a producer, except vote_exhauster and slot_holder, waited for a block ' +
    'slot: from a proposal refused with TOO_MANY_OPEN or BLOCKS_USED to the next accepted ' +
    'one, or to the end of the run',
  late_votes: 'votes refused because the block had closed',
  equivocations: 'votes taken as evidence of equivocation',
  agreement:
    'probability that two voters on a block agree: mean over closed blocks with two or more voters',
  agreement_within:
    'agreement of two voters of the same group, over closed blocks with such a pair',
  agreement_between:
    'agreement of two voters of different groups, over closed blocks with such a pair',
  reputation_mean: 'mean overall reputation of all registered agents at the end, from 0 to 100',
  reputation_gini:
    'Gini coefficient of reputation at the end: 0 if all are equal, near 1 if one has all',
  alliances: 'alliances that became active',
  alliance_size_mean: 'mean of the largest number of members of each of these alliances',
  alliance_lifetime_mean_ms:
    'mean time from the activation of an alliance to its end, or to the end of the run',
  alliances_at_end: 'alliances active at the end of the run, whose lifetime is censored',
  memes: 'memes posted',
  meme_reach_mean: 'mean number of voters that had received a meme when they cast a counted vote',
  meme_references: 'references to memes in counted votes',
  influence:
    'share of counted votes that would have been the opposite without memes, ' +
    'over the votes for which this is known',
  never_joined: 'agents of the scenario that were not registered at the end',
  messages_sent:
    'messages sent by agents and by the network: requests, events to each agent, and votes and ' +
    'memes to each neighbour; a lost event is sent again',
  messages_delivered:
    'messages delivered, including copies and deliveries after the end of the run',
  messages_lost:
    'messages not delivered because of loss, a partition or a crash before they left a limited ' +
    'uplink; copies included',
  messages_duplicated: 'copies of requests made in transit',
  message_bytes: 'total size of all messages sent, including copies',
  messages_per_block: 'messages sent per closed block',
  uplink_wait_mean_ms:
    'mean time that a message waits in the queue of a limited uplink; empty if no uplink is ' +
    'limited',
  decider_questions: 'questions to external deciders',
  decider_calls: 'calls made for these questions, including retries',
  decider_failures: 'questions without a usable answer',
  decider_input_tokens: 'input tokens, as reported by the deciders',
  decider_output_tokens: 'output tokens, as reported by the deciders',
  slots_decided: 'slots for which honest agents stated decisions (the command `decide` of scripts)',
  slot_decisions: 'decisions of honest agents, one for each agent and slot',
  slot_conflicts:
    'slots in which honest agents decided differently, by more than the tolerance that they ' +
    'state, or one changed its decision',
  slot_spread_mean_ms: 'mean time from the first to the last decision for a slot',
  slot_values_spread:
    'largest difference of two decisions for one slot, among slots whose decisions are integers',
} as const satisfies Readonly<Record<string, string>>;

/** Measure name. @useDeclaredType */
export type MeasureName = keyof typeof measures;

/*
 * Measure kinds. The kind decides which confidence interval a sweep computes for the mean over
 * runs.
 */

/**
 * `share`: from 0 to 1 in each run; `count`: a number of things or a total size; `mean`: a mean
 * within a run; `percentile`: a percentile or maximum within a run.
 *
 * @useDeclaredType
 */
export type MeasureKind = 'share' | 'count' | 'mean' | 'percentile';

const otherKinds: Partial<Record<MeasureName, MeasureKind>> = {
  finalized_share: 'share',
  rejected_share: 'share',
  expired_share: 'share',
  orphaned_share: 'share',
  sound_finalized_share: 'share',
  unsound_finalized_share: 'share',
  finality_mean_ms: 'mean',
  finality_p50_ms: 'percentile',
  finality_p95_ms: 'percentile',
  finality_p99_ms: 'percentile',
  tps: 'mean',
  votes_per_block: 'mean',
  participation: 'share',
  longest_wait_ms: 'percentile',
  agreement: 'share',
  agreement_within: 'share',
  agreement_between: 'share',
  reputation_mean: 'mean',
  reputation_gini: 'share',
  alliance_size_mean: 'mean',
  alliance_lifetime_mean_ms: 'mean',
  meme_reach_mean: 'mean',
  influence: 'share',
  messages_per_block: 'mean',
  uplink_wait_mean_ms: 'mean',
  slot_spread_mean_ms: 'mean',
  slot_values_spread: 'percentile',
};

/** Kinds by measure. Most measures are counts. */
export const measureKinds = Object.fromEntries(
  Object.keys(measures).map((name) => [name, otherKinds[name as MeasureName] ?? 'count']),
) as Record<MeasureName, MeasureKind>;

export const captions = {
  finality:
    'Each dot is a finalized block. Vertical: time from proposal to finalization. Horizontal: ' +
    'time of finalization.',
  outcomes: 'Cumulative number of closed blocks by outcome, stacked.',
  reputation:
    'Mean overall reputation of each group, from 0 to 100. Agents start at 50. The vertical ' +
    'axis may not start at 0.',
  groups:
    'For each group: the share of approving votes, the share of finalized and rejected ' +
    'blocks that ended as the majority of the group voted, and the probability that two of its ' +
    'voters on a block agree. A missing bar means no data.',
} as const;
