/** What stands where data is not there: still to come, refused, or never there. */
import type { ComponentChildren } from 'preact';

export function Coming({ what }: { what: string }) {
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
