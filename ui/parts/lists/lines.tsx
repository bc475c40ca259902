/** Texts of several lines, as they are: what would hide or turn around is shown as a dot. */
import { plain } from '../text.js';

const LINES = 400;

export function Lines({ text, most = 4_000 }: { text: string; most?: number }) {
  const cut = text.slice(0, most);
  const lines = cut.split('\n').slice(0, LINES);
  const whole = cut.length === text.length && lines.length === cut.split('\n').length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too
    <pre tabIndex={0}>
      {lines.map((line) => plain(line, most)).join('\n')}
      {whole ? '' : '\n…'}
    </pre>
  );
}
