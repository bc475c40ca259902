/** What the cells of the grid mean, for each way of colouring them. */
import { plain } from '../text.js';
import { kinds } from './bands.js';
import type { Coloring } from './paint.js';

export function DecisionLegend() {
  return (
    <ul class="legend">
      <li>
        <span class="swatch approve" aria-hidden="true" /> approves
      </li>
      <li>
        <span class="swatch reject" aria-hidden="true" /> rejects
      </li>
      <li>
        <span class="swatch pending" aria-hidden="true" /> has not voted
      </li>
      <li>
        <span class="swatch none" aria-hidden="true" /> does not vote
      </li>
    </ul>
  );
}

export function Legend({ coloring }: { coloring: Coloring }) {
  if (coloring === 'decision') return <DecisionLegend />;
  if (coloring === 'personality' || coloring === 'group') {
    return (
      <ul class="legend">
        {kinds(coloring)
          .slice(0, 12)
          .map((name, index) => (
            <li key={name}>
              <span
                class="swatch"
                aria-hidden="true"
                style={{ background: `var(--c${(index % 8) + 1})` }}
              />
              {plain(name, 32)}
            </li>
          ))}
      </ul>
    );
  }
  if (coloring === 'reputation') {
    return (
      <ul class="legend">
        <li>
          <span class="swatch low" aria-hidden="true" /> the fuller a cell, the higher its
          reputation, of 100
        </li>
      </ul>
    );
  }
  return (
    <ul class="legend">
      <li>
        <span class="swatch active" aria-hidden="true" /> active
      </li>
      <li>
        <span class="swatch dormant" aria-hidden="true" /> dormant: missed too many votes
      </li>
      <li>
        <span class="swatch inactive" aria-hidden="true" /> inactive
      </li>
      <li>
        <span class="swatch pending" aria-hidden="true" /> in maintenance
      </li>
    </ul>
  );
}
