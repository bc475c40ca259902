/** What a reader with the token may ask of the run: to begin, and to end. */
import { useState } from 'preact/hooks';
import type { LoadShown } from '../../../api/view/load.js';
import { tokenKept } from '../../clock/token.js';
import { asked } from '../../parts/server/api.js';
import { isOver } from './follow.js';

async function ask(what: 'resume' | 'stop'): Promise<void> {
  await asked('/api/v1/control', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokenKept()}` },
    body: JSON.stringify({ do: what }),
  });
}

export function Control({ load }: { load: LoadShown }) {
  const [said, say] = useState('');
  if (isOver(load)) return null;
  const waits = load.phase === 'waiting';
  if (tokenKept() === null) return waits ? <Locked /> : null;
  const does = (what: 'resume' | 'stop', word: string) => () => {
    say(word);
    ask(what).catch((error: Error) => say(error.message));
  };
  return (
    <div class="controls">
      {waits && (
        <button type="button" class="play" onClick={does('resume', 'It begins …')}>
          Begin
        </button>
      )}
      <button type="button" onClick={does('stop', 'It ends, with what was measured so far …')}>
        {waits ? 'Give up' : 'End it now'}
      </button>
      <p class="faint" role="status">
        {said}
      </p>
    </div>
  );
}

function Locked() {
  return (
    <p class="faint">
      To begin it, open the address that the command printed: it ends in <code>#token=…</code>
    </p>
  );
}
