/** The world's clock: pauses, steps and runs the network itself, where a reader may. */
import { useEffect } from 'preact/hooks';
import { shown } from '../../report/shared/numbers.js';
import type { World, WorldCommand } from '../data/messages.js';
import { clock, link, world } from '../data/store.js';
import { askWorld, controlWorld, hearWorld, worldClock } from './control.js';
import { commandProof } from './proof.js';
import { tokenKept } from './token.js';

const untils: readonly { name: string; command: WorldCommand }[] = [
  { name: 'a block is proposed', command: { do: 'until', until: { what: 'block' } } },
  { name: 'a block is decided', command: { do: 'until', until: { what: 'outcome' } } },
  {
    name: 'a block is rejected',
    command: { do: 'until', until: { what: 'outcome', status: 'rejected' } },
  },
  { name: '1 s has passed', command: { do: 'until', until: { what: 'time', ms: 1_000 } } },
  { name: '10 s have passed', command: { do: 'until', until: { what: 'time', ms: 10_000 } } },
  { name: '60 s have passed', command: { do: 'until', until: { what: 'time', ms: 60_000 } } },
];
const speeds = [0.1, 0.5, 1, 2, 10, 100];

const things: Record<World['clock']['holds'], string> = {
  network: 'The network itself stands still while it is paused: it refuses what is sent to it.',
  agents: 'Only its agents hold still while they are paused: deadlines of blocks go on.',
  run: 'The simulation stands still while it is paused. What it finds is the same.',
  nothing: 'It goes on by itself.',
};

const replays = 'No more of the log is recomputed while it is paused. What it finds is the same.';

/** Whether the command was told to wait, and nothing was begun yet. */
export function waitsToStart(): boolean {
  const now = worldClock.value;
  if (!now?.clock.paused || now.clock.over) return false;
  if (now.kind === 'sim') return clock.value.head.entry <= 0;
  return now.kind === 'replay' && commandProof.value?.entry === null;
}

/** The way to begin what waits, above every view. */
export function StartBand() {
  const now = worldClock.value;
  if (!now || !waitsToStart()) return null;
  const what = now.kind === 'replay' ? 'replay' : 'run';
  return (
    <section class="band start" aria-label="Start">
      <p>
        <b>The {what} has not started.</b> {tokenKept() === null && <Locked />}
      </p>
      {tokenKept() !== null && (
        <>
          {now.can.includes('speed') && <SpeedChoice speed={now.clock.speed} />}
          <button type="button" class="button main" onClick={() => controlWorld({ do: 'resume' })}>
            Start the {what}
          </button>
        </>
      )}
    </section>
  );
}

function SpeedChoice({ speed: now }: { speed: number | null }) {
  return (
    <label>
      Speed{' '}
      <select
        value={String(now ?? '')}
        onChange={({ currentTarget }) => {
          const speed = currentTarget.value === '' ? null : Number(currentTarget.value);
          void controlWorld({ do: 'speed', speed });
        }}
      >
        <option value="">as fast as possible</option>
        {speeds.map((speed) => (
          <option key={speed} value={String(speed)}>
            {shown(speed)}×
          </option>
        ))}
      </select>
    </label>
  );
}

export function WorldClock() {
  const said = world.value;
  const { is } = link.value;
  useEffect(() => {
    if (said) hearWorld(said);
  }, [said]);
  // What was told while it was out of touch, or asleep, did not come.
  useEffect(() => {
    const again = () => void askWorld();
    again();
    document.addEventListener('visibilitychange', again);
    return () => document.removeEventListener('visibilitychange', again);
  }, [is]);
  const now = worldClock.value;
  if (!now || now.can.length === 0) return null;
  const { holds, over } = now.clock;
  return (
    <details class="world">
      <summary class="button">{standing(now)}</summary>
      <div class="panel">
        <h2>{now.kind === 'replay' ? 'The replay’s own clock' : 'The network’s own clock'}</h2>
        <p>{over ? endOf(now) : now.kind === 'replay' ? replays : things[holds]}</p>
        {tokenKept() === null ? (
          <p>
            <Locked />
          </p>
        ) : (
          <Buttons now={now} />
        )}
      </div>
    </details>
  );
}

function standing({ kind, clock: { paused, over } }: World): string {
  if (over) return kind === 'replay' ? 'Replay over' : 'Run over';
  const what = kind === 'replay' ? 'Replay' : 'Network';
  return paused ? `${what} paused` : `${what} runs`;
}

/** A run that was stopped by hand waits at its end, too. */
function endOf({ kind, clock: { paused } }: World): string {
  if (kind === 'replay') return 'The replay is over: Explore says what it found.';
  return paused
    ? 'The run is over, and its command waits. Let it end: what is shown here stays.'
    : 'The run is over, and its command ends. What is shown here stays.';
}

function Locked() {
  return (
    <span class="faint">
      To control it, open the address that the command printed: it ends in <code>#token=…</code>
    </span>
  );
}

function Buttons({ now: { can, clock } }: { now: World }) {
  const waits = waitsToStart();
  const may = (command: WorldCommand['do']) => can.includes(command);
  if (clock.over) {
    if (!clock.paused) return null;
    return (
      <button type="button" class="button" onClick={() => controlWorld({ do: 'resume' })}>
        Let it end
      </button>
    );
  }
  return (
    <div class="controls">
      {may('pause') && may('resume') && !waits && (
        <button
          type="button"
          onClick={() => controlWorld({ do: clock.paused ? 'resume' : 'pause' })}
        >
          {clock.paused ? 'Go on' : 'Pause'}
        </button>
      )}
      {may('step') && (
        <button type="button" disabled={!clock.paused} onClick={() => controlWorld({ do: 'step' })}>
          Step
        </button>
      )}
      {may('until') && (
        <label>
          Go on until{' '}
          <select
            value=""
            onChange={({ currentTarget }) => {
              const chosen = untils.find(({ name }) => name === currentTarget.value);
              if (chosen) void controlWorld(chosen.command);
              currentTarget.value = '';
            }}
          >
            <option value="">…</option>
            {untils.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {may('speed') && !waits && <SpeedChoice speed={clock.speed} />}
    </div>
  );
}
