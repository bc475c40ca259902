/** One thing that is known: its name above, what it is below; in a list of class `facts`. */
import type { ComponentChildren } from 'preact';

interface FactProps {
  name: string;
  /** Takes the whole width: a hash, a text. */
  whole?: boolean;
  children: ComponentChildren;
}

export function Fact({ name, whole = false, children }: FactProps) {
  return (
    <div class={whole ? 'whole' : ''}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
