/** What may be wider than the page: it scrolls by itself, by keys too. */
import type { ComponentChildren } from 'preact';

export function Scroll({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too
    <section class="scroll" aria-label={name} tabIndex={0}>
      {children}
    </section>
  );
}
