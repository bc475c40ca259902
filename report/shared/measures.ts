/** What each measure is called, its unit, meaning and kind, and the captions of figures. */
import { format, formatMs, timeUnit } from './format.js';

/** As titles of charts, rows and columns. */
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
  tps: 'Transactions finalized a second',
  votes: 'Votes',
  votes_per_block: 'Votes a block',
  participation: 'Participation',
  longest_wait_ms: 'Longest wait of a producer for room',
  late_votes: 'Late votes',
  equivocations: 'Equivocations',
  agreement: 'Agreement of two voters',
  agreement_within: 'Agreement within groups',
  agreement_between: 'Agreement between groups',
  reputation_mean: 'Mean reputation',
  reputation_gini: 'Inequality of reputation (Gini)',
  alliances: 'Alliances formed',
  alliance_size_mean: 'Mean size of an alliance',
  alliance_lifetime_mean_ms: 'Mean lifetime of an alliance',
  alliances_at_end: 'Alliances at the end',
  memes: 'Memes posted',
  meme_reach_mean: 'Mean reach of a meme',
  meme_references: 'References to memes',
  influence: 'Influence of memes on votes',
  never_joined: 'Agents that never joined',
  messages_sent: 'Messages sent',
  messages_delivered: 'Messages delivered',
  messages_lost: 'Messages lost',
  messages_duplicated: 'Messages duplicated',
  message_bytes: 'Bytes of all messages',
  messages_per_block: 'Messages a block',
  uplink_wait_mean_ms: 'Mean wait for an uplink',
  decider_questions: 'Questions to deciders',
  decider_calls: 'Calls of deciders',
  decider_failures: 'Questions without an answer',
  decider_input_tokens: 'Tokens read by deciders',
  decider_output_tokens: 'Tokens written by deciders',
} as const satisfies Record<MeasureName, string>;

/** Columns of groups.csv, which a report shows as a table. */
export const groupTitles = {
  group: 'group',
  agents: 'agents',
  votes: 'votes',
  approve_share: 'approving',
  won_share: 'went its way',
  agreement: 'agreement',
  influence: 'influenced by memes',
  reputation_mean: 'mean reputation',
  transactions_share: 'of all transactions',
  decider_questions: 'questions to deciders',
  decider_calls: 'calls of deciders',
  decider_failures: 'without an answer',
  decider_input_tokens: 'tokens read',
  decider_output_tokens: 'tokens written',
} as const;

/** What the names of scripts' own measures begin with, in tables of sweeps. */
const OWN = 'reported.';

/** Results that sweeps count beside the measures. */
const others: Readonly<Record<string, string>> = { passed: 'Share of runs that passed' };

const isMeasure = (name: string): name is MeasureName => Object.hasOwn(measures, name);

/** Of any name that a table of measures may hold. */
export function measureTitle(name: string): string {
  if (isMeasure(name)) return measureTitles[name];
  if (name.startsWith(OWN)) return `${name.slice(OWN.length)} (of a script)`;
  if (name.startsWith('ended_by.')) return `Share of runs ended by ${name.slice(9)}`;
  return others[name] ?? name;
}

/** A sentence without its end. */
export function measureMeaning(name: string): string {
  const text = isMeasure(name) ? measures[name] : measureTitle(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Milliseconds; null of what is counted or is a share. */
const isTime = (name: string): boolean => isMeasure(name) && name.endsWith('_ms');

/** Whether it is from 0 to 1 whatever happens. */
export const isShare = (name: string): boolean =>
  (isMeasure(name) && measureKinds[name] === 'share') ||
  name === 'passed' ||
  name.startsWith('ended_by.');

/** Between which values it lies whatever happens; null where it has no end. */
export function getBounds(name: string): { least: number; most: number | null } {
  if (isShare(name)) return { least: 0, most: 1 };
  if (name === 'reputation_mean') return { least: 0, most: 100 };
  return isMeasure(name)
    ? { least: 0, most: null }
    : { least: Number.NEGATIVE_INFINITY, most: null };
}

/** How an axis of it is to be named and divided, of values up to so much. */
export function getAxis(name: string, most: number): { label: string; unit: number } {
  if (!isTime(name)) return { label: measureTitle(name), unit: 1 };
  const { name: unit, ms } = timeUnit(most);
  return { label: `${measureTitle(name)}, ${unit}`, unit: ms };
}

/** A value with its unit. */
export const measureText = (name: string, value: number | null): string =>
  isTime(name) ? formatMs(value) : format(value);

/** A difference: with its sign, also a plus. */
export function differenceText(name: string, value: number | null): string {
  if (value === null) return '–';
  const text = measureText(name, Math.abs(value));
  return value > 0 ? `+${text}` : value < 0 ? `\u2212${text}` : text;
}

/**
 * Every measure of a run, and what it means: documents, tables, reports and the page say so. Times
 * are milliseconds of the run's virtual time; shares are fractions of one.
 */
/** One number each: in summary.json under `measures`, and a column of a sweep's runs.csv. */
export const measures = {
  proposed: 'blocks proposed',
  finalized: 'blocks finalized',
  rejected: 'blocks rejected',
  expired: 'blocks whose voting period ended without an outcome',
  orphaned: 'blocks that lost against another one of their height',
  open_at_end: 'blocks still in voting when the run ended: in no share or mean of closed blocks',
  finalized_share: 'finalized of all closed blocks',
  rejected_share: 'rejected of all closed blocks',
  expired_share: 'expired of all closed blocks',
  orphaned_share: 'orphaned of all closed blocks',
  sound_finalized_share: 'finalized of the closed blocks whose transactions all add up',
  unsound_finalized_share: 'finalized of the closed blocks with a transaction that does not add up',
  finality_mean_ms: 'mean time from the proposal of a finalized block to its finalization',
  finality_p50_ms: 'median time from proposal to finalization',
  finality_p95_ms: '95th percentile of the time to finality (nearest rank)',
  finality_p99_ms: '99th percentile of the time to finality (nearest rank)',
  transactions: 'transactions in finalized blocks',
  tps: 'finalized transactions a second of virtual time',
  votes: 'votes that counted',
  votes_per_block: 'mean number of votes of a closed block',
  participation: 'mean share of the electors that had voted when their block closed',
  longest_wait_ms:
    'longest time that a producer, other than a vote_exhauster or slot_holder, waited for room: ' +
    'from a proposal refused with TOO_MANY_OPEN or BLOCKS_USED to its next accepted one, or to ' +
    'the end',
  late_votes: 'votes refused because their block had closed',
  equivocations: 'votes taken as evidence of equivocation',
  agreement:
    'chance that two voters on one block agree, mean over closed blocks with two voters or more',
  agreement_within: 'agreement of two voters of one group, over closed blocks with such a pair',
  agreement_between: 'agreement of two voters of different groups, over such blocks likewise',
  reputation_mean: 'mean overall reputation of all registered agents at the end, 0 to 100',
  reputation_gini:
    'Gini coefficient of this reputation: 0 when all have the same, towards 1 when one has all',
  alliances: 'alliances that became active',
  alliance_size_mean: 'mean of the largest number of members that each of these alliances had',
  alliance_lifetime_mean_ms:
    'mean time of an alliance from active to its end, or to the end of the run',
  alliances_at_end: 'alliances still active at the end of the run, where their lifetime is cut',
  memes: 'memes posted',
  meme_reach_mean:
    'mean number of voters, with votes that counted, that had heard a meme when they decided',
  meme_references: 'references to memes in votes that counted',
  influence:
    'share of the votes that counted that would have been the other one without any memes, ' +
    'of those that can say',
  never_joined: 'agents of the scenario that the network did not know at the end',
  messages_sent:
    'messages that agents and the network sent, whoever looks at them: requests, events to each ' +
    'agent, votes and memes to each neighbour; an event that was lost is sent again',
  messages_delivered: 'messages that arrive, copies included, if need be after the end of the run',
  messages_lost:
    'messages that do not arrive, by loss, a partition or a crash before they left an uplink ' +
    'with a limit; copies included',
  messages_duplicated: 'copies of requests that were made on their way',
  message_bytes: 'bytes of all messages sent, and of the copies',
  messages_per_block: 'messages sent for each closed block',
  uplink_wait_mean_ms:
    'mean time that a message waits before it begins to leave, of those that leave an uplink ' +
    'with a limit; empty without any',
  decider_questions: 'questions to external deciders',
  decider_calls: 'calls that these took when they were asked, those that were repeated too',
  decider_failures: 'of the questions, those without an answer that could be used',
  decider_input_tokens: 'tokens that deciders read, as far as their answers say so',
  decider_output_tokens: 'tokens that they wrote, likewise',
} as const satisfies Readonly<Record<string, string>>;

/**
 * The name of a measure.
 *
 * @useDeclaredType
 */
export type MeasureName = keyof typeof measures;

/*
 * What sort of number each measure is, from which follows how a sweep says what is known of its
 * mean over runs.
 */

/**
 * `share`: from 0 to 1 in each run; `count`: how many, or how large in all; `mean`: of what
 * happened in a run; `percentile`: of it, or its largest.
 *
 * @useDeclaredType
 */
export type MeasureKind = 'share' | 'count' | 'mean' | 'percentile';

/** The kind of each measure. */
export const measureKinds = {
  proposed: 'count',
  finalized: 'count',
  rejected: 'count',
  expired: 'count',
  orphaned: 'count',
  open_at_end: 'count',
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
  transactions: 'count',
  tps: 'mean',
  votes: 'count',
  votes_per_block: 'mean',
  participation: 'share',
  longest_wait_ms: 'percentile',
  late_votes: 'count',
  equivocations: 'count',
  agreement: 'share',
  agreement_within: 'share',
  agreement_between: 'share',
  reputation_mean: 'mean',
  reputation_gini: 'share',
  alliances: 'count',
  alliances_at_end: 'count',
  alliance_size_mean: 'mean',
  alliance_lifetime_mean_ms: 'mean',
  never_joined: 'count',
  memes: 'count',
  meme_reach_mean: 'mean',
  meme_references: 'count',
  influence: 'share',
  messages_sent: 'count',
  messages_delivered: 'count',
  messages_lost: 'count',
  messages_duplicated: 'count',
  message_bytes: 'count',
  messages_per_block: 'mean',
  uplink_wait_mean_ms: 'mean',
  decider_questions: 'count',
  decider_calls: 'count',
  decider_failures: 'count',
  decider_input_tokens: 'count',
  decider_output_tokens: 'count',
} as const satisfies Record<MeasureName, MeasureKind>;

export const captions = {
  finality:
    'Each dot is a finalized block: when it became final, and how long that took after it was ' +
    'proposed.',
  outcomes: 'Blocks that had closed by each time, stacked by how they ended.',
  reputation:
    'The mean overall reputation of each group, from 0 to 100; every agent begins with 50. The ' +
    'axis shows the part of it that matters.',
  groups:
    'For each group: the share of its votes that approve; the share of finalized and rejected ' +
    'blocks that ended as most of it had voted; and the chance that two of its voters on one ' +
    'block agree. A missing bar cannot be said.',
} as const;
