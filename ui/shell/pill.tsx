/** State of the page in a word: live, paused, or out of touch. */
import { counted } from '../../report/shared/numbers.js';
import { worldClock } from '../clock/control.js';
import { waitsToStart } from '../clock/world.js';
import { clock, link, position } from '../data/store.js';

export function Pill() {
  const { text, tone } = standing();
  return <span class={`pill ${tone}`}>{text}</span>;
}

function standing(): { text: string; tone: string } {
  const { is } = link.value;
  if (is === 'starting') return { text: 'connecting', tone: 'calm' };
  if (is === 'making') return { text: 'reading the log', tone: 'calm' };
  if (is === 'lost') return { text: 'out of touch', tone: 'bad' };
  if (is === 'damaged') return { text: 'damaged', tone: 'bad' };
  if (waitsToStart()) return { text: 'not started', tone: 'calm' };
  const { mode, head, follows } = clock.value;
  // Who stands at an entry wants to know which: the band says what became of the folder.
  if (mode === 'live' && worldClock.value?.lost) return { text: 'folder lost', tone: 'bad' };
  const behind = head.entry - (position.value?.entry ?? head.entry);
  if (mode === 'live') return follows ? { text: 'live', tone: 'good' } : finished;
  const how = mode === 'playing' ? 'replaying' : 'paused';
  if (behind <= 0) return follows ? { text: how, tone: 'calm' } : finished;
  const where = follows ? 'behind live' : 'before the end';
  return {
    text: `${how}, ${counted(behind, 'entry', 'entries')} ${where}`,
    tone: 'calm',
  };
}

const finished = { text: 'finished run', tone: 'calm' };
