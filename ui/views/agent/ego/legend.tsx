/** What the shapes and lines around an agent mean. */

export function EgoLegend({ cut }: { cut: boolean }) {
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
      <li>
        <span class="swatch absent" aria-hidden="true" /> not there yet
      </li>
      {cut && (
        <li>
          <span class="dashes" aria-hidden="true" /> cut off, one way or both
        </li>
      )}
    </ul>
  );
}
