/** Personalities, by colour and by shape. */

import { agents } from '../../data/store.js';
import { kinds } from '../../parts/grid/bands.js';
import { plain } from '../../parts/text.js';
import { COLORS, shapeOf } from './shapes.js';

export function KindLegend() {
  agents.count.value;
  const all = kinds('personality');
  const named = all.slice(0, COLORS);
  return (
    <ul class="legend">
      {named.map((kind, index) => (
        <li key={kind}>
          <Shape index={index} /> {plain(kind, 24)}
        </li>
      ))}
      {all.length > COLORS && (
        <li>
          <Shape index={COLORS} /> others
        </li>
      )}
    </ul>
  );
}

function Shape({ index }: { index: number }) {
  return (
    <svg
      viewBox="-8 -8 16 16"
      width="16"
      height="16"
      aria-hidden="true"
      class={`kind k${index + 1}`}
    >
      <path d={shapeOf(index)} />
    </svg>
  );
}
