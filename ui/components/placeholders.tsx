/** Loading, error, connection and empty states, and the marks for check results. */
import type { ComponentChildren } from 'preact';
import { formatMs } from '../../report/shared/format.js';
import { home, type Requirement } from '../home.js';
import type { Verdict } from '../verify/messages.js';
import { toSentence, useNow } from './labels.js';
import { Button } from './lists.js';

export function Loading({ what }: { what: string }) {
  return (
    <p class="faint" role="status">
      Loading {what} …
    </p>
  );
}

export function Failed({ why, onAgain }: { why: string; onAgain: () => void }) {
  return (
    <div class="failed" role="alert">
      <p>{toSentence(why)}</p>
      <Button onClick={onAgain}>Retry</Button>
    </div>
  );
}

/** The badge of the header: whether the page is live, behind or disconnected. */
export const Pill = ({ text, tone }: { text: string; tone: string }) => (
  <span class={`pill ${tone}`} data-testid="connection">
    {text}
  </span>
);

interface LostProps {
  since: number;
  againAt: number;
  children: ComponentChildren;
}

/** The band of a lost connection; the children explain it. */
export function Lost({ since, againAt, children }: LostProps) {
  const now = useNow(1_000);
  const silent = Math.max(0, Math.round((now - since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((againAt - now) / 1_000));
  return (
    <div class="band bad" role="alert" data-testid="lost">
      <p>
        <b>No connection for {formatMs(silent)}.</b> {children}{' '}
        {wait > 0 ? `Next attempt in ${wait} s.` : 'Reconnecting …'}
      </p>
    </div>
  );
}

/** Tells a reader without the control token where it comes from. */
export const Locked = ({ to }: { to: string }) => (
  <span class="faint">
    To {to}, open the address printed by the command. The address ends with <code>#token=…</code>
  </span>
);

/** An empty view, with a hint about the next step. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty" data-testid="empty">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** Shows its children, or a text if the page lacks the required part. */
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
  holds: 'valid',
  failed: 'invalid',
  unchecked: 'unchecked',
};
const verdictPaths: Record<Verdict, string> = {
  holds: 'M2.5 8.5 6.3 12 13.5 4',
  failed: 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5',
  unchecked: 'M3.5 8H12.5',
};

/** The mark's shape without its word, for places where text follows. */
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
