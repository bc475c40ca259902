/**
 * A long list of links as one stop of Tab: arrow keys go from row to row, and along a row. The stop
 * is the link that has the focus, else the first of the row that is where the reader stands, else
 * of the newest row.
 */
import { useLayoutEffect } from 'preact/hooks';

const linksIn = (part: Element): HTMLElement[] => [...part.querySelectorAll<HTMLElement>('a')];

/** Each time the list is drawn. Its rows are its children, the newest of them first or last. */
export function useRoving(list: { current: HTMLElement | null }, newest: 'first' | 'last'): void {
  useLayoutEffect(() => {
    const box = list.current;
    if (!box) return;
    const links = linksIn(box);
    const here =
      box.querySelector<HTMLElement>('[aria-current] a') ?? links.at(newest === 'first' ? 0 : -1);
    const stop = links.find((link) => link === document.activeElement) ?? here;
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  });
}

/** For the list's `onKeyDown`. */
export function rove(event: KeyboardEvent): void {
  const box = event.currentTarget as HTMLElement;
  const from = (event.target as Element).closest('a');
  if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = linkAt(box, from, event.key);
  if (!to) return;
  event.preventDefault();
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

function linkAt(box: HTMLElement, from: HTMLElement, key: string): HTMLElement | undefined {
  const rows = [...box.children].filter((row) => linksIn(row).length > 0);
  const row = rows.findIndex((one) => one.contains(from));
  const along = linksIn(rows[row]!);
  const place = along.indexOf(from);
  switch (key) {
    case 'ArrowDown':
      return firstOf(rows[row + 1]);
    case 'ArrowUp':
      return firstOf(rows[row - 1]);
    case 'ArrowRight':
      return along[place + 1];
    case 'ArrowLeft':
      return along[place - 1];
    case 'Home':
      return firstOf(rows[0]);
    case 'End':
      return firstOf(rows.at(-1));
    default:
      return undefined;
  }
}

const firstOf = (row: Element | undefined) => (row ? linksIn(row)[0] : undefined);
