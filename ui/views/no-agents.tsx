/** The text of a network without agents: how they come. */
import { worldClock } from '../clock/control.js';
import { waitsToStart } from '../clock/world.js';
import { Reference } from '../parts/reference.js';

export function NoAgents() {
  if (waitsToStart()) return <p>Agents appear here once the run has started.</p>;
  if (worldClock.value?.kind === 'sim') return <p>Agents appear here as they join the run.</p>;
  return (
    <p>
      Agents register with a key: <code>npx folkmoot agent register</code> makes one, and{' '}
      <Reference /> says what an agent signs. They appear here at once.
    </p>
  );
}
