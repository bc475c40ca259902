/** What a chain wants to know out of the event stream, read as cheaply as it can be. */
import { isRecord, parsed } from '../json.js';

export type ChainEvent =
  | { kind: 'final'; hash: string; height: number }
  /** Rejected, expired or orphaned. */
  | { kind: 'closed'; hash: string }
  /** Something at this height is final; the server does not say what. */
  | { kind: 'height'; height: number }
  | { kind: 'proposal'; hash: string; parent: string; height: number; producer: string };

/** Votes are by far the most, and of no interest here. */
const vote = Buffer.from('"block_validation"');

/** Null for what is of no interest, or no event. */
export function readChainEvent(text: Buffer): ChainEvent | null {
  if (text.subarray(0, 64).includes(vote)) return null;
  const { type, data } = parsed(text.toString());
  if (!isRecord(data)) return null;
  if (type === 'block_status') return outcome(data);
  if (type === 'network_metrics') return metrics(data);
  return type === 'block_proposal' ? proposal(data) : null;
}

function outcome({ block_hash, height, status }: Record<string, unknown>): ChainEvent | null {
  if (typeof block_hash !== 'string') return null;
  if (status === 'finalized') return { kind: 'final', hash: block_hash, height: Number(height) };
  return { kind: 'closed', hash: block_hash };
}

function metrics({ head_hash, block_height }: Record<string, unknown>): ChainEvent {
  const height = Number(block_height);
  return typeof head_hash === 'string'
    ? { kind: 'final', hash: head_hash, height }
    : { kind: 'height', height };
}

function proposal({ block_hash, parent_hash, height, producer }: Record<string, unknown>) {
  return {
    kind: 'proposal',
    hash: String(block_hash),
    parent: String(parent_hash),
    height: Number(height),
    producer: isRecord(producer) ? String(producer.public_key) : '',
  } as const;
}
