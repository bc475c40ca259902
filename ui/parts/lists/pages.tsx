/** Long lists, fifty rows at a time. */

const ROWS = 50;

/** The rows of a page, or of the last one that there is. */
export function pageOf<T>(rows: readonly T[], page: number): readonly T[] {
  const first = Math.min(page, lastPage(rows.length)) * ROWS;
  return rows.slice(first, first + ROWS);
}

const lastPage = (rows: number) => Math.max(0, Math.ceil(rows / ROWS) - 1);

interface PagesProps {
  /** How many rows there are. */
  of: number;
  page: number;
  onTurn(page: number): void;
}

export function Pages({ of, page, onTurn }: PagesProps) {
  const last = lastPage(of);
  if (last === 0) return null;
  const here = Math.min(page, last);
  return (
    <p class="pages">
      <button type="button" class="button" disabled={here === 0} onClick={() => onTurn(here - 1)}>
        Before
      </button>{' '}
      page {here + 1} of {last + 1}{' '}
      <button
        type="button"
        class="button"
        disabled={here === last}
        onClick={() => onTurn(here + 1)}
      >
        Next
      </button>
    </p>
  );
}
