/** The last blocks as a strip: how each ended, as a shape, and how it was voted on. */
import { useEffect, useRef } from 'preact/hooks';
import type { BlockShown } from '../data/messages.js';
import { blocks, focus } from '../data/store.js';
import { lookAt } from './focus.js';
import { Glyph, outcomes } from './glyph.js';
import { TallyStrip } from './tally.js';

const SHOWN = 60;

export function Chain() {
  const list = useRef<HTMLOListElement>(null);
  const last = blocks.value.at(-1)?.number;
  // The newest is in sight, unless the reader has gone back to others.
  useEffect(() => {
    const strip = list.current;
    if (!strip) return;
    const away = strip.scrollWidth - strip.clientWidth - strip.scrollLeft;
    if (away < 300 || strip.scrollLeft === 0) strip.scrollLeft = strip.scrollWidth;
  }, [last]);
  return (
    <ol class="chain" ref={list} aria-label="The last blocks">
      {blocks.value.slice(-SHOWN).map((block) => (
        <li key={block.number}>
          <Link block={block} />
        </li>
      ))}
    </ol>
  );
}

function Link({ block }: { block: BlockShown }) {
  const { number, height, status, approve, reject, total } = block;
  const here = focus.value === number;
  const share = total === 0 ? 0 : Math.round((100 * approve) / total);
  return (
    <button
      type="button"
      class={`chain-block ${status}`}
      aria-pressed={here}
      aria-label={`Block ${height}, ${status}, ${share} % of the weight approve`}
      title={outcomes[status]}
      onClick={() => lookAt(number)}
    >
      <b>{height}</b>
      <TallyStrip approve={approve} reject={reject} total={total} />
      <Glyph status={status} />
    </button>
  );
}

export function OutcomeLegend() {
  return (
    <ul class="legend">
      {Object.keys(outcomes).map((status) => (
        <li key={status}>
          <Glyph status={status} /> {status === 'voting' ? 'in voting' : status}
        </li>
      ))}
    </ul>
  );
}
