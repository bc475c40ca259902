/**
 * A checkpoint as text: a line of JSON that says where it is in the log, and a line for each
 * record.
 */
import type { RecordChange, RecordKey } from '../store/index.js';

/** Where a checkpoint is in its log, with the digests that the log has there. */
export interface CheckpointHead {
  seq: number;
  at: number;
  event_seq: number;
  log_digest: string;
  digest: string;
}

export interface Checkpoint {
  head: CheckpointHead;
  records: RecordChange[];
}

/** Another encoding, or other records, are another format. */
export const CHECKPOINT_FORMAT = 'checkpoint 2';

export function encodeCheckpoint(
  head: CheckpointHead,
  records: Iterable<RecordChange & { json: string }>,
): Buffer {
  const lines = [JSON.stringify(head)];
  // Canonical JSON has neither tabs nor line feeds in it.
  for (const { table, key, json } of records)
    lines.push(`${table}\t${JSON.stringify(key)}\t${json}`);
  return Buffer.from(lines.join('\n'));
}

/** Null for bytes that are no checkpoint. */
export function decodeCheckpoint(bytes: Buffer): Checkpoint | null {
  try {
    const [first = '', ...lines] = bytes.toString().split('\n');
    return { head: JSON.parse(first) as CheckpointHead, records: lines.map(recordOf) };
  } catch {
    return null;
  }
}

function recordOf(line: string): RecordChange {
  const [table = '', key = '', json = ''] = line.split('\t');
  return { table, key: JSON.parse(key) as RecordKey, json };
}
