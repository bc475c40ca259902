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

/** With its lines and their labels. */
export function TallyBar({ block }: { block: BlockShown }) {
  const { approve, reject, total } = block;
  const { finalize, reject: rejects, turnout } = thresholdsOf(block);
  const label = `${shown(approve)} of ${shown(total)} approve, ${shown(reject)} reject`;
  return (
    <div class="tally-box">
      {finalize !== null && (
        <Mark at={percent(finalize, total)} place="above" text={`${shown(finalize)} to finalize`} />
      )}
      {turnout !== null && (
        <Mark at={percent(turnout, total)} place="above" text={`turnout ${shown(turnout)}`} />
      )}
      <div class="tally" role="img" aria-label={label} key={block.number}>
        <span class="part approve" style={{ width: percent(approve, total) }} />
        <span class="part reject" style={{ width: percent(reject, total) }} />
        {turnout !== null && (
          <span class="turned-out" style={{ left: percent(approve + reject, total) }} />
        )}
      </div>
      {rejects !== null && (
        <Mark
          at={percent(total - rejects, total)}
          place="below"
          text={`${shown(rejects)} to reject`}
        />
      )}
    </div>
  );
}

function Mark({ at, place, text }: { at: string; place: 'above' | 'below'; text: string }) {
  return (
    <span class={`mark ${place}`} style={{ left: at }}>
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
