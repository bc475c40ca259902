/** Whether a check held: a shape and a word for who listens, not a colour alone. */
import type { Verdict } from '../verify/messages.js';

const words: Record<Verdict, string> = {
  holds: 'holds',
  failed: 'failed',
  unchecked: 'unchecked',
};
const paths: Record<Verdict, string> = {
  holds: 'M2.5 8.5 6.3 12 13.5 4',
  failed: 'M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5',
  unchecked: 'M3.5 8H12.5',
};

/** The shape alone, where words follow that say it. */
export const MarkShape = ({ of }: { of: Verdict }) => (
  <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path d={paths[of]} />
  </svg>
);

export function Mark({ of, word = false }: { of: Verdict; word?: boolean }) {
  return (
    <span class={`verdict ${of}`}>
      <MarkShape of={of} />
      <span class={word ? '' : 'unseen'}>{words[of]}</span>{' '}
    </span>
  );
}
