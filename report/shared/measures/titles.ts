/** What measures are called where people read: short, in words, with the unit apart. */
import { shown, time, timeUnit } from '../numbers.js';
import { measureKinds } from './kinds.js';
import { type MeasureName, measures } from './meanings.js';

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
export const isTime = (name: string): boolean => isMeasure(name) && name.endsWith('_ms');

/** Whether it is from 0 to 1 whatever happens. */
export const isShare = (name: string): boolean =>
  (isMeasure(name) && measureKinds[name] === 'share') ||
  name === 'passed' ||
  name.startsWith('ended_by.');

/** Between which values it lies whatever happens; null where it has no end. */
export function boundsOf(name: string): { least: number; most: number | null } {
  if (isShare(name)) return { least: 0, most: 1 };
  if (name === 'reputation_mean') return { least: 0, most: 100 };
  return isMeasure(name)
    ? { least: 0, most: null }
    : { least: Number.NEGATIVE_INFINITY, most: null };
}

/** How an axis of it is to be named and divided, of values up to so much. */
export function axisOf(name: string, most: number): { label: string; unit: number } {
  if (!isTime(name)) return { label: measureTitle(name), unit: 1 };
  const { name: unit, ms } = timeUnit(most);
  return { label: `${measureTitle(name)}, ${unit}`, unit: ms };
}

/** A value with its unit. */
export const measureText = (name: string, value: number | null): string =>
  isTime(name) ? time(value) : shown(value);

/** A difference: with its sign, also a plus. */
export function differenceText(name: string, value: number | null): string {
  if (value === null) return '–';
  const text = measureText(name, Math.abs(value));
  return value > 0 ? `+${text}` : value < 0 ? `\u2212${text}` : text;
}
