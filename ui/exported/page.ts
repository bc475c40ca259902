/** The page of a run in one file begins here. */
import type { About } from '../../api/view/kept.js';
import { liveAt } from '../home/home.js';
import { begin } from '../shell/begin.js';
import { homeIn } from './home.js';
import { failed, taken, unpacked } from './unpack.js';

async function start(): Promise<void> {
  const about = JSON.parse(new TextDecoder().decode(await unpacked('about'))) as About;
  const player = new Blob([await unpacked('player')], { type: 'text/javascript' });
  liveAt(homeIn(about, { player, run: taken('run').buffer }));
  begin();
}

start().catch(failed);
