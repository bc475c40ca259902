/**
 * What sort of number each measure is, from which follows how a sweep says what is known of its
 * mean over runs.
 */
import type { MeasureName } from './meanings.js';

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
