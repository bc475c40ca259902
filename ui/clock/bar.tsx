/**
 * The view's clock, at the foot of every view: pause, step, speed, and the whole history to go
 * anywhere in. It never touches the network.
 */
import { useEffect, useRef } from 'preact/hooks';
import { shown } from '../../report/shared/numbers.js';
import { tell } from '../data/connect.js';
import { clock, position } from '../data/store.js';
import { moment } from '../parts/moment.js';
import { entryInAddress, place, setQuery } from '../route/router.js';
import { Help, showHelp } from './help.js';
import { toggle } from './keys.js';
import { Scrubber } from './scrubber.js';

const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 100, 1_000];
const ADDRESS_MS = 250;

export function TimeBar() {
  useAddress();
  const { mode, speed, head, follows } = clock.value;
  const here = position.value;
  if (!here) return null;
  const still = mode === 'paused' || (mode === 'live' && !follows);
  const atEnd = here.entry >= head.entry;
  const step = (by: 'event' | 'entry' | 'block', forward: boolean) => () =>
    tell({ do: 'step', by, forward });
  return (
    <section class="clock" aria-label="The view's clock">
      <div class="controls">
        <button type="button" class="play" onClick={toggle} aria-label={still ? 'Play' : 'Pause'}>
          <Icon path={still ? 'M4 2 14 8 4 14Z' : 'M3 2H6.5V14H3ZM9.5 2H13V14H9.5Z'} />
        </button>
        <button
          type="button"
          onClick={step('block', false)}
          aria-label="To the block before"
          title="["
        >
          <Icon path="M2 2H4.5V14H2ZM14 2 5 8 14 14Z" />
        </button>
        <button type="button" onClick={step('event', false)} aria-label="One event back" title=",">
          <Icon path="M11.5 2 3.5 8 11.5 14Z" />
        </button>
        <button type="button" onClick={step('event', true)} aria-label="One event on" title=".">
          <Icon path="M4.5 2 12.5 8 4.5 14Z" />
        </button>
        <button
          type="button"
          onClick={step('block', true)}
          aria-label="To the next block"
          title="]"
        >
          <Icon path="M11.5 2H14V14H11.5ZM2 2 11 8 2 14Z" />
        </button>
        <label class="speed">
          <span class="unseen">Speed</span>
          <select
            value={String(speed)}
            onChange={({ currentTarget }) =>
              tell({ do: 'speed', speed: Number(currentTarget.value) })
            }
          >
            {speeds.map((one) => (
              <option key={one} value={String(one)}>
                {shown(one)}×
              </option>
            ))}
          </select>
        </label>
        {follows && (
          <button
            type="button"
            class="to-live"
            aria-pressed={mode === 'live'}
            onClick={() => tell({ do: 'live' })}
          >
            Live
          </button>
        )}
        <button type="button" class="for-keys" aria-label="Keys" onClick={() => showHelp(true)}>
          ?
        </button>
      </div>
      <Scrubber />
      <p class="where">
        <b>{moment(here.at)}</b>{' '}
        <span>
          entry {shown(here.entry)}
          {atEnd ? '' : ` of ${shown(head.entry)}`}
        </span>
      </p>
      <Help />
    </section>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} fill="currentColor" />
    </svg>
  );
}

/** The address says where the view stands, and whoever changes it goes there. */
function useAddress(): void {
  const { mode } = clock.value;
  const entry = position.value?.entry;
  const live = mode === 'live';
  /** What we wrote ourselves leads nowhere: the view may have gone on since. */
  const written = useRef(place.peek().query.get('at'));
  // Live, it stays the same however far the network goes.
  const stands = live ? null : entry;
  useEffect(() => {
    if (stands === undefined || mode === 'playing') return;
    const timer = setTimeout(() => {
      written.current = stands === null ? null : String(stands);
      setQuery({ at: written.current });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [stands, mode]);
  const { query } = place.value;
  const wanted = query.get('at');
  useEffect(() => {
    if (wanted === written.current) return;
    const at = entryInAddress();
    const now = position.peek();
    if (!now || clock.peek().mode === 'playing') return;
    if (at === null && clock.peek().mode !== 'live') tell({ do: 'live' });
    if (at !== null && at !== now.entry) tell({ do: 'seek', entry: at });
  }, [wanted]);
}
