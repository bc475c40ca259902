/**
 * The tally of a block: approval grows from the left, rejection from the right, and where each has
 * to get to depends on the policy.
 */
import { shown } from '../../report/shared/numbers.js';
import type { BlockShown } from '../data/messages.js';
import { network } from '../data/store.js';

export interface Thresholds {
  /** Weight at which each side has won; null where none decides before the deadline. */
  finalize: number | null;
  reject: number | null;
  /** Weight of both sides together that a majority needs to count. */
  turnout: number | null;
}

/** By the network's policy, as the engine decides it. */
export function thresholdsOf({ total, needed }: Pick<BlockShown, 'total' | 'needed'>): Thresholds {
  const of = network.value;
  if (of?.policy === 'majority') {
    const turnout = Math.ceil((of.participation_bps * total) / 10_000);
    return { finalize: null, reject: null, turnout };
  }
  return { finalize: needed, reject: Math.ceil(total / 3), turnout: null };
}

const percent = (part: number, total: number) =>
  `${Math.min(100, (100 * part) / Math.max(1, total))}%`;

/** The bar with its thresholds: each is drawn as the length that a side has to fill. */
export function TallyBar({ block }: { block: BlockShown }) {
  const { approve, reject, total } = block;
  const { finalize, reject: rejects, turnout } = thresholdsOf(block);
  const sides = `${shown(approve)} of ${shown(total)} approve, ${shown(reject)} reject`;
  const goals = [
    ...(finalize === null ? [] : [`${shown(finalize)} to finalize`]),
    ...(rejects === null ? [] : [`${shown(rejects)} to reject`]),
    ...(turnout === null ? [] : [`turnout ${shown(turnout)}`]),
  ];
  const label = `${sides}; ${goals.join(', ')}`;
  return (
    <div class="tally-box">
      {finalize !== null && (
        <Goal
          length={percent(finalize, total)}
          of="approve"
          text={`${shown(finalize)} to finalize`}
        />
      )}
      {turnout !== null && (
        <Goal length={percent(turnout, total)} of="approve" text={`turnout ${shown(turnout)}`} />
      )}
      <div class="tally" role="img" aria-label={label} key={block.number}>
        <span class="part approve" style={{ width: percent(approve, total) }} />
        <span class="part reject" style={{ width: percent(reject, total) }} />
        {turnout !== null && (
          <span class="turned-out" style={{ left: percent(approve + reject, total) }} />
        )}
      </div>
      {rejects !== null && (
        <Goal length={percent(rejects, total)} of="reject" text={`${shown(rejects)} to reject`} />
      )}
    </div>
  );
}

interface GoalProps {
  length: string;
  /** The side that fills it, from its own end of the bar. */
  of: 'approve' | 'reject';
  text: string;
}

function Goal({ length, of, text }: GoalProps) {
  return (
    <span class={`goal ${of}`} style={{ width: length }}>
      <span>{text}</span>
    </span>
  );
}

/** Without words: for a strip of many. */
export function TallyStrip({
  approve,
  reject,
  total,
}: Pick<BlockShown, 'approve' | 'reject' | 'total'>) {
  return (
    <span class="tally small" aria-hidden="true">
      <span class="part approve" style={{ width: percent(approve, total) }} />
      <span class="part reject" style={{ width: percent(reject, total) }} />
    </span>
  );
}
