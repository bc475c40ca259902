/**
 * Texts that stand in place of data that is to come, was refused or is lacking, and marks that say
 * whether a check held.
 */
import type { ComponentChildren } from 'preact';
import { home, type Requirement } from '../home.js';
import type { Verdict } from '../verify/messages.js';

export function Loading({ what }: { what: string }) {
  return (
    <p class="faint" role="status">
      Fetching {what} …
    </p>
  );
}

export function Failed({ why, onAgain }: { why: string; onAgain: () => void }) {
  return (
    <div class="failed" role="alert">
      <p>{why}</p>
      <button type="button" class="button" onClick={onAgain}>
        Try again
      </button>
    </div>
  );
}

/** A whole view without anything to show: says what to do. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** Words in place of what a page lacks that is not at a server. */
export function Unavailable({
  what,
  children,
}: {
  what: Requirement;
  children: ComponentChildren;
}) {
  const words = home.lacks[what];
  return words === undefined ? children : <p class="faint">{words}</p>;
}

const verdictWords: Record<Verdict, string> = {
  holds: 'holds',
  failed: 'failed',
  unchecked: 'unchecked',
};
const verdictPaths: Record<Verdict, string> = {
  holds: 'M2.5 8.5 6.3 12 13.5 4',
  failed: 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5',
  unchecked: 'M3.5 8H12.5',
};

/** The shape alone, where words follow that say it. */
export const MarkShape = ({ of }: { of: Verdict }) => (
  <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={verdictPaths[of]} />
  </svg>
);

export function Mark({ of, word = false }: { of: Verdict; word?: boolean }) {
  return (
    <span class={`verdict ${of}`}>
      <MarkShape of={of} />
      <span class={word ? '' : 'unseen'}>{verdictWords[of]}</span>{' '}
    </span>
  );
}
