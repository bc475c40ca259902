/** Says politely, every few seconds at the most, what a reader who does not look would miss. */
import { useEffect, useState } from 'preact/hooks';
import { shown } from '../../report/shared/numbers.js';
import { blocks, clock, focused, position } from '../data/store.js';

const EVERY_MS = 5_000;

export function Announcer() {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(summary()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}

/** The same words while nothing happens: then nothing is said. */
function summary(): string {
  if (!position.peek() || clock.peek().mode === 'paused') return '';
  const block = focused();
  if (!block) return blocks.peek().length === 0 ? 'No block has been proposed yet.' : '';
  const { height, approvals, rejections, electors, status } = block;
  if (status !== 'voting') return `Block ${height} ${status}.`;
  const counts = `${shown(approvals)} approve, ${shown(rejections)} reject`;
  return `Block ${height}: ${counts}, of ${shown(electors)}.`;
}
