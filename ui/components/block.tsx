/**
 * Small block views: the strip of recent blocks, the outcome as a shape that is readable without
 * color, and the tally against the policy's thresholds.
 */
import { useEffect, useRef } from 'preact/hooks';
import {
  type NetworkRule,
  RuleUnavailable,
  ruleOf,
  type Thresholds,
} from '../../dist/engine/rules/network-rule.js';
import { format } from '../../report/shared/format.js';
import type { BlockItem } from '../data/messages.js';
import { blocks, focus, network } from '../data/store.js';
import { lookAt } from '../route.js';
import { Glyph } from './lists.js';
import { labelOption } from './requests.js';

/** Maximum number of blocks in the strip. */
export const CHAIN_BLOCKS = 60;

export function Chain() {
  const list = useRef<HTMLOListElement>(null);
  const last = blocks.value.at(-1)?.number;
  // Scroll to the newest block unless the reader has scrolled back.
  useEffect(() => {
    const strip = list.current;
    if (!strip) return;
    const away = strip.scrollWidth - strip.clientWidth - strip.scrollLeft;
    if (away < 300 || strip.scrollLeft === 0) strip.scrollLeft = strip.scrollWidth;
  }, [last]);
  return (
    <ol class="chain" ref={list} aria-label="Last blocks">
      {byHeight(blocks.value.slice(-CHAIN_BLOCKS)).map(([height, competitors]) => (
        <li key={height}>
          <b aria-hidden="true">{height}</b>
          <div class="chain-stack">
            {competitors.map((block) => (
              <ChainLink key={block.number} block={block} />
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Blocks that compete for one height, by height. */
function byHeight(shown: readonly BlockItem[]): [number, BlockItem[]][] {
  const found = new Map<number, BlockItem[]>();
  for (const block of shown) found.set(block.height, [...(found.get(block.height) ?? []), block]);
  return [...found].sort(([one], [other]) => one - other);
}

function ChainLink({ block }: { block: BlockItem }) {
  const { number, height, status, approve, reject, total } = block;
  const here = focus.value === number;
  const share = total === 0 ? 0 : Math.round((100 * approve) / total);
  return (
    <button
      type="button"
      class={`chain-block ${status}`}
      aria-pressed={here}
      aria-label={`Block ${height}, ${status}, ${share} % of the weight approves`}
      title={`block ${number + 1} of the run, ${outcomes[status]}`}
      onClick={() => lookAt(number)}
    >
      <TallyStrip approve={approve} reject={reject} total={total} />
      <Glyph status={status} />
    </button>
  );
}

export const outcomeText = (status: string) => (status === 'voting' ? 'in voting' : status);

export function OutcomeLegend() {
  return (
    <ul class="legend">
      {Object.keys(outcomes).map((status) => (
        <li key={status}>
          <Glyph status={status} /> {outcomeText(status)}
        </li>
      ))}
    </ul>
  );
}

/** Returns the network's decision rule; null if it is a module, which the page does not run. */
export function networkRule(): NetworkRule | null {
  const of = network.value;
  if (!of) return null;
  try {
    return ruleOf(of);
  } catch (error) {
    if (error instanceof RuleUnavailable) return null;
    throw error;
  }
}

/** Returns the weights that decide a block under the network's rule. */
export function computeThresholds({
  total,
  electors,
}: Pick<BlockItem, 'total' | 'electors'>): Thresholds {
  const none = { finalize: null, reject: null, turnout: null };
  return networkRule()?.thresholds(total, electors) ?? none;
}

const percent = (part: number, total: number) =>
  `${Math.min(100, (100 * part) / Math.max(1, total))}%`;

/**
 * Tally bar with its thresholds: approval grows from the left, rejection from the right. A line
 * above or below the bar is as long as the part that its side must fill.
 */
export function TallyBar({ block }: { block: BlockItem }) {
  const { approve, reject, total } = block;
  const { finalize, reject: rejects, turnout } = computeThresholds(block);
  const sides = `${format(approve)} of ${format(total)} approve, ${format(reject)} reject`;
  const goals = [
    ...(finalize === null ? [] : [`${format(finalize)} to finalize`]),
    ...(rejects === null ? [] : [`${format(rejects)} to reject`]),
    ...(turnout === null ? [] : [`turnout ${format(turnout)}`]),
  ];
  const label = [sides, ...(goals.length > 0 ? [goals.join(', ')] : [])].join('; ');
  return (
    <div class="tally-box">
      {finalize !== null && (
        <Goal
          length={percent(finalize, total)}
          of="approve"
          text={`${format(finalize)} to finalize`}
        />
      )}
      {turnout !== null && (
        <Goal length={percent(turnout, total)} of="approve" text={`turnout ${format(turnout)}`} />
      )}
      <div class="tally" role="img" aria-label={label} key={block.number}>
        <span class="part approve" style={{ width: percent(approve, total) }} />
        <span class="part reject" style={{ width: percent(reject, total) }} />
      </div>
      {rejects !== null && (
        <Goal length={percent(rejects, total)} of="reject" text={`${format(rejects)} to reject`} />
      )}
    </div>
  );
}

function Goal({ length, of, text }: { length: string; of: 'approve' | 'reject'; text: string }) {
  return (
    <span class={`goal ${of}`} style={{ width: length }}>
      <span>{text}</span>
    </span>
  );
}

/** Links to the blocks before and after a block. */
export function AdjacentBlocks({ hash, to }: { hash: string; to: (block: BlockItem) => string }) {
  const place = blocks.value.findIndex((block) => block.hash === hash);
  const link = (block: BlockItem | undefined, text: string) =>
    place >= 0 && block ? (
      <a class="button" href={to(block)}>
        {text}
      </a>
    ) : null;
  const [before, after] = [blocks.value[place - 1], blocks.value[place + 1]];
  return (
    <nav class="neighbours" aria-label="Adjacent blocks">
      {link(before, `← Block ${before?.height}`)}
      {link(after, `Block ${after?.height} →`)}
    </nav>
  );
}

/** Tally bar without labels. */
function TallyStrip({ approve, reject, total }: Pick<BlockItem, 'approve' | 'reject' | 'total'>) {
  return (
    <span class="tally small" aria-hidden="true">
      <span class="part approve" style={{ width: percent(approve, total) }} />
      <span class="part reject" style={{ width: percent(reject, total) }} />
    </span>
  );
}

/** Short explanation of each status. */
const outcomes: Readonly<Record<string, string>> = {
  finalized: 'finalized: enough weight approved',
  rejected: 'rejected: too little weight left to finalize',
  expired: 'expired: undecided at the deadline',
  orphaned: 'orphaned: replaced by another block',
  voting: 'in voting',
};

/** Explains a status. Names the weights as the reason only if the rule decides by weight alone. */
export function explainOutcome(
  status: string,
  { choice, fault }: { choice?: string | undefined; fault?: string | undefined } = {},
): string | undefined {
  if (fault !== undefined) return `${status}: the decision rule failed`;
  const rule = networkRule();
  const isByWeight = rule?.isByWeight && rule.name !== 'lines';
  if (isByWeight || (status !== 'finalized' && status !== 'rejected')) return outcomes[status];
  return choice === undefined
    ? `${status} by the rule ${network.value?.policy}`
    : `${status}: ${labelOption(choice)} is chosen`;
}
