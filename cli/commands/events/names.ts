/** What can be named on the command line: known without loading what knows the events. */
import type { EventType } from '../../../engine/internal.js';

export const eventTypes = [
  'block_proposal',
  'block_validation',
  'consensus_discussion',
  'alliance_update',
  'agent_status',
  'network_metrics',
  'meme_posted',
  'reputation_update',
  'block_status',
] as const satisfies readonly EventType[];

export const formats = ['ndjson', 'csv', 'parquet'] as const;
export type Format = (typeof formats)[number];
