/**
 * Clock control, if the server offers it: control token and commands. A simulation is controlled in
 * the time bar, a live network in a panel in the header.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ControlCommand } from '../api/contract/control.js';
import { format } from '../report/shared/format.js';
import { Button, Locked } from './components/lists.js';
import type { WorldStatus } from './data/messages.js';
import { capabilities, clock, link, notice, world } from './data/store.js';
import { home } from './home.js';
import { pageText } from './messages.js';

const untils: readonly { name: string; command: ControlCommand }[] = [
  { name: 'a block is proposed', command: { do: 'until', until: { what: 'block' } } },
  { name: 'a block is decided', command: { do: 'until', until: { what: 'outcome' } } },
  {
    name: 'a block is rejected',
    command: { do: 'until', until: { what: 'outcome', status: 'rejected' } },
  },
  { name: '1 s later', command: { do: 'until', until: { what: 'time', ms: 1_000 } } },
  { name: '10 s later', command: { do: 'until', until: { what: 'time', ms: 10_000 } } },
  { name: '60 s later', command: { do: 'until', until: { what: 'time', ms: 60_000 } } },
];
const speeds = [0.1, 0.5, 1, 2, 5, 10, 100, null];

/** Effect of a pause, by what the clock controls. */
const pauseTexts: Record<WorldStatus['clock']['holds'], string> = {
  network: 'While paused, the network refuses all requests.',
  agents: 'While paused, agents do not act. Block deadlines still pass.',
  run: 'A pause stops the simulation. It does not change its results.',
  nothing: 'This clock cannot be paused.',
};

/** Returns true if the command is waiting to be started and has done nothing yet. */
export function isWaitingToStart(): boolean {
  const now = worldClock.value;
  if (!now?.clock.paused || now.clock.over) return false;
  return now.kind === 'sim' && clock.value.head.entry <= 0;
}

export function StartBand() {
  const now = worldClock.value;
  if (!now || !isWaitingToStart()) return null;
  return (
    <section class="band start" aria-label="Start">
      <p>
        <b>The run has not started.</b> {getToken() === null && locked}
      </p>
      {getToken() !== null && (
        <>
          <Button class="button main" onClick={() => controlWorld({ do: 'resume' })}>
            Start the run
          </Button>
          <Buttons now={now} />
        </>
      )}
    </section>
  );
}

/** Keeps the command of a finished run until its reader has compared. */
export function EndBand() {
  const now = worldClock.value;
  if (now?.kind !== 'sim' || !now.clock.over || !now.clock.paused) return null;
  return (
    <section class="band" aria-label="End">
      <p>
        <b>The run has finished.</b> Its command waits, so that you can change values and run again.
        This page stays after the command ends.
      </p>
      {getToken() !== null && <Buttons now={now} />}
    </section>
  );
}

/** Returns true while the server runs variants of the scenario for this page. */
export function canRun(): boolean {
  const now = worldClock.value;
  return (now?.can.includes('run') && (now.clock.paused || !now.clock.over)) ?? false;
}

/** The state of a running simulation that this page may control; null for any other. */
export function controlledRun(): WorldStatus | null {
  const now = worldClock.value;
  const isOpen = now?.kind === 'sim' && !now.clock.over && !isWaitingToStart();
  return isOpen && now.can.includes('pause') && getToken() !== null ? now : null;
}

interface SpeedProps {
  /** Null for no limit. */
  speed: number | null;
  all: readonly (number | null)[];
  onChoose(speed: number | null): void;
}

export function Speed({ speed, all, onChoose }: SpeedProps) {
  return (
    <label class="speed">
      <span>Speed </span>
      <select
        value={String(speed ?? '')}
        onChange={({ currentTarget: { value } }) => onChoose(value === '' ? null : Number(value))}
      >
        {(all.includes(speed) ? all : [speed, ...all]).map((one) => (
          <option key={one} value={String(one ?? '')}>
            {one === null ? 'max' : `${format(one)}×`}
          </option>
        ))}
      </select>
    </label>
  );
}

export const RunSpeed = ({ speed }: { speed: number | null }) => (
  <Speed
    speed={speed}
    all={speeds}
    onChoose={(chosen) => void controlWorld({ do: 'speed', speed: chosen })}
  />
);

export function RunUntil() {
  return (
    <label class="until">
      Run until{' '}
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
  );
}

export function WorldClock() {
  const said = world.value;
  const { is } = link.value;
  useEffect(() => {
    if (said) hearWorld(said);
  }, [said]);
  // The page misses messages while it is disconnected or asleep.
  useEffect(() => {
    const again = () => void askWorld();
    again();
    document.addEventListener('visibilitychange', again);
    return () => document.removeEventListener('visibilitychange', again);
  }, [is]);
  // The command of a run waits at its end once a reader with the token has seen the parameters.
  const keeps = canRun() && getToken() !== null;
  useEffect(() => {
    if (keeps) home.ask('/api/v1/runs', { headers: tokenHeader() }).catch(() => {});
  }, [keeps]);
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  const now = worldClock.value;
  if (!now || now.can.length === 0 || now.kind === 'sim') return null;
  const { holds } = now.clock;
  return (
    <details class="world" ref={menu}>
      <summary class="button">Clock: {now.clock.paused ? 'paused' : 'running'}</summary>
      <div class="panel">
        <h2>Network clock</h2>
        <p>{pauseTexts[holds]}</p>
        {getToken() === null ? <p>{locked}</p> : <Buttons now={now} />}
      </div>
    </details>
  );
}

/** Closes a menu on Escape, which returns the focus to its button, and on a press outside it. */
function useClosing(menu: { readonly current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    const press = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !menu.current?.open) return;
      menu.current.open = false;
      menu.current.querySelector('summary')!.focus();
    };
    const point = ({ target }: PointerEvent) => {
      if (menu.current && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    addEventListener('keydown', press);
    addEventListener('pointerdown', point);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('pointerdown', point);
    };
  }, []);
}

const locked = <Locked to="control the clock" />;

function Buttons({ now: { can, clock } }: { now: WorldStatus }) {
  const waits = isWaitingToStart();
  const may = (command: ControlCommand['do']) => can.includes(command);
  if (clock.over) {
    if (!clock.paused) return null;
    return <Button onClick={() => controlWorld({ do: 'resume' })}>End the command</Button>;
  }
  return (
    <div class="controls">
      {may('pause') && may('resume') && !waits && (
        <button
          type="button"
          onClick={() => controlWorld({ do: clock.paused ? 'resume' : 'pause' })}
        >
          {clock.paused ? 'Resume' : 'Pause'}
        </button>
      )}
      {may('step') && (
        <button type="button" disabled={!clock.paused} onClick={() => controlWorld({ do: 'step' })}>
          Step
        </button>
      )}
      {may('until') && <RunUntil />}
      {may('speed') && <RunSpeed speed={clock.speed} />}
    </div>
  );
}

export function NoAgents() {
  if (isWaitingToStart()) return <p>Start the run to see its agents.</p>;
  if (worldClock.value?.kind === 'sim') return <p>Agents appear as they join the run.</p>;
  return (
    <p>
      To register an agent with a new key, run <code>npx folkmoot agent register</code>. See{' '}
      {home.docs ? <a href={home.docs}>the API reference</a> : 'the API reference'} for the signing
      format.
    </p>
  );
}

/** Status with its arrival time, from `performance.now()`. */
interface Heard extends WorldStatus {
  heard: number;
}

const CONTROL_PATH = '/api/v1/control';

/** Null if the server has no clock control. */
export const worldClock = signal<Heard | null>(null);

function hearWorld(world: WorldStatus): void {
  // Updates that concern only the clock omit `knows`.
  capabilities.value = world.knows ?? capabilities.value ?? [];
  worldClock.value = { ...world, heard: performance.now() };
}

/** Estimates the network time in a live network; null if not live. The local clock may be wrong. */
export function networkNow(): number | null {
  if (worldClock.value?.kind !== 'live') return null;
  const { clock, heard } = worldClock.value;
  const isHeld = clock.paused && clock.holds === 'network';
  return Date.parse(clock.at) + (isHeld ? 0 : performance.now() - heard);
}

export async function askWorld(): Promise<void> {
  try {
    const answer = await home.ask(CONTROL_PATH);
    if (answer.ok) hearWorld(((await answer.json()) as { data: WorldStatus }).data);
  } catch {
    // The connection band reports the error.
  }
}

/** Sends a command. Resolves to false if it was refused or got no response. */
export async function controlWorld(command: ControlCommand): Promise<boolean> {
  try {
    const answer = await home.ask(CONTROL_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...tokenHeader() },
      body: JSON.stringify(command),
    });
    const { data, error } = (await answer.json()) as {
      data?: WorldStatus;
      error?: { message: string };
    };
    if (data?.clock) hearWorld(data);
    if (error) notice.value = { text: pageText('CONTROL_FAILED', { message: error.message }) };
    return error === undefined;
  } catch {
    notice.value = { text: pageText('SERVER_UNREACHABLE') };
    return false;
  }
}

const TOKEN_KEY = 'folkmoot-token';

/**
 * Removes the token from the address, so that the token is not copied with a link or kept in the
 * history.
 */
export function takeToken(): void {
  const token = /^#token=([\w-]{1,256})$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(null, '', location.pathname + location.search);
}

export function tokenHeader(): Record<string, string> {
  const token = getToken();
  return token === null ? {} : { Authorization: `Bearer ${token}` };
}

export const getToken = (): string | null => sessionStorage.getItem(TOKEN_KEY);
