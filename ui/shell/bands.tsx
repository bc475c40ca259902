/** What went wrong, what the page does about it, and what the reader can do. */
import { time } from '../../report/shared/numbers.js';
import { worldClock } from '../clock/control.js';
import { link, notice, position } from '../data/store.js';
import { useNow } from '../parts/now.js';

export function Bands() {
  return (
    <div class="bands">
      <LinkBand />
      {worldClock.value?.lost && (
        <div class="band bad" role="alert">
          <p>{worldClock.value.lost}</p>
        </div>
      )}
      {notice.value && (
        <div class="band" role="status">
          <p>{notice.value.text}</p>
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}

const close = () => {
  notice.value = null;
};

function LinkBand() {
  const state = link.value;
  if (state.is === 'lost') return <Lost {...state} />;
  if (state.is !== 'damaged') return null;
  return (
    <div class="band bad" role="alert">
      <p>This network cannot be shown: {state.why}.</p>
    </div>
  );
}

function Lost({ why, since, againAt }: { why: string; since: number; againAt: number }) {
  const now = useNow(1_000);
  const silent = Math.max(0, Math.round((now - since) / 1_000)) * 1_000;
  const wait = Math.max(0, Math.ceil((againAt - now) / 1_000));
  const still = position.value ? `What is shown is entry ${position.value.entry}. ` : '';
  return (
    <div class="band bad" role="alert">
      <p>
        <b>No news for {time(silent)}:</b> {why}. {still}
        {wait > 0 ? `Trying again in ${wait} s.` : 'Trying again …'} If the server was stopped,
        start it again at the same address: this page goes on by itself.
      </p>
    </div>
  );
}
