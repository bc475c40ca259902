/**
 * The network's own clock, where the server lets a reader control it: the token, the commands, the
 * panel in the header, and how far a replay has proven its log.
 */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { format } from '../report/shared/format.js';
import { data } from './components/requests.js';
import type { WorldCommand, WorldStatus } from './data/messages.js';
import { capabilities, clock, link, notice, world } from './data/store.js';
import { home } from './home.js';

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

const heldTexts: Record<WorldStatus['clock']['holds'], string> = {
  network: 'The network itself stands still while it is paused: it refuses what is sent to it.',
  agents: 'Only its agents hold still while they are paused: deadlines of blocks go on.',
  run: 'The simulation stands still while it is paused. What it finds is the same.',
  nothing: 'It goes on by itself.',
};

const replayText =
  'No more of the log is recomputed while it is paused. What it finds is the same.';

/** Whether the command was told to wait, and nothing was begun yet. */
export function isWaitingToStart(): boolean {
  const now = worldClock.value;
  if (!now?.clock.paused || now.clock.over) return false;
  if (now.kind === 'sim') return clock.value.head.entry <= 0;
  return now.kind === 'replay' && commandProof.value?.entry === null;
}

/** The way to begin what waits, above every view. */
export function StartBand() {
  const now = worldClock.value;
  if (!now || !isWaitingToStart()) return null;
  const what = now.kind === 'replay' ? 'replay' : 'run';
  return (
    <section class="band start" aria-label="Start">
      <p>
        <b>The {what} has not started.</b> {getToken() === null && <Locked />}
      </p>
      {getToken() !== null && (
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
            {format(speed)}×
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
        <p>{over ? endOf(now) : now.kind === 'replay' ? replayText : heldTexts[holds]}</p>
        {getToken() === null ? (
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

function standing({ kind, clock: { paused, over } }: WorldStatus): string {
  if (over) return kind === 'replay' ? 'Replay over' : 'Run over';
  const what = kind === 'replay' ? 'Replay' : 'Network';
  return paused ? `${what} paused` : `${what} runs`;
}

/** A run that was stopped by hand waits at its end, too. */
function endOf({ kind, clock: { paused } }: WorldStatus): string {
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

function Buttons({ now: { can, clock } }: { now: WorldStatus }) {
  const waits = isWaitingToStart();
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

export function NoAgents() {
  if (isWaitingToStart()) return <p>Agents appear here once the run has started.</p>;
  if (worldClock.value?.kind === 'sim') return <p>Agents appear here as they join the run.</p>;
  return (
    <p>
      Agents register with a key: <code>npx folkmoot agent register</code> makes one, and{' '}
      <Reference /> says what an agent signs. They appear here at once.
    </p>
  );
}

const Reference = () => (home.docs ? <a href={home.docs}>the reference</a> : <>the reference</>);

/** With the time of this page at which it was told. */
type Heard = WorldStatus & { heard: number };

const CONTROL_PATH = '/api/v1/control';

/** Null where the server says nothing of it. */
export const worldClock = signal<Heard | null>(null);

function hearWorld(world: WorldStatus): void {
  // What is told of its clock alone leaves that out.
  capabilities.value = world.knows ?? capabilities.value ?? [];
  worldClock.value = { ...world, heard: performance.now() };
}

/** Its time now, where that passes as ours does, else null: this machine's own may be wrong. */
export function networkNow(): number | null {
  const { kind, clock, heard } = worldClock.value ?? {};
  if (kind !== 'live' || !clock || heard === undefined) return null;
  const stands = clock.paused && clock.holds === 'network';
  return Date.parse(clock.at) + (stands ? 0 : performance.now() - heard);
}

async function askWorld(): Promise<void> {
  try {
    const answer = await home.ask(CONTROL_PATH);
    if (answer.ok) hearWorld(((await answer.json()) as { data: WorldStatus }).data);
  } catch {
    // The band says that the server does not answer.
  }
}

async function controlWorld(command: WorldCommand): Promise<void> {
  try {
    const answer = await home.ask(CONTROL_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${getToken()}` },
      body: JSON.stringify(command),
    });
    const { data, error } = (await answer.json()) as {
      data?: WorldStatus;
      error?: { message: string };
    };
    if (data?.clock) hearWorld(data);
    if (error) notice.value = { text: `The network's clock: ${error.message}` };
  } catch {
    notice.value = {
      text: "The network's clock could not be reached: the server does not answer.",
    };
  }
}

const TOKEN_KEY = 'folkmoot-token';

/** Taken out of the address at once: it is not to be copied with a link, nor kept in a history. */
export function takeToken(): void {
  const token = /^#token=([\w-]{1,256})$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(null, '', location.pathname + location.search);
}

export const getToken = (): string | null => sessionStorage.getItem(TOKEN_KEY);

interface CommandProof {
  state: 'running' | 'match' | 'differs' | 'failed';
  /** The last one that was recomputed, and the last that is to be. */
  entry: number | null;
  end: number;
  signatures: boolean;
  divergence: CommandDivergence | null;
  /** Why it failed. */
  problem: string | null;
}

export interface CommandDivergence {
  entry: number;
  kind: string;
  what: string;
  which: string | null;
  actor: { kind: string; id: string; name: string | null } | null;
  field: string | null;
  expected: string;
  found: string;
}

const PROOF_EVERY_MS = 1_000;

/** Null where nobody recomputes. */
export const commandProof = signal<CommandProof | null>(null);

/** Entries that were recomputed. */
export const countRecomputed = ({ entry }: CommandProof): number => (entry ?? -1) + 1;

/** Keeps it up to date while the replay goes on; whatever its server tells, it is asked again. */
export function useCommandProof(): void {
  const world = worldClock.value;
  useEffect(() => {
    if (world?.kind !== 'replay') return;
    let timer = 0;
    let wanted = true;
    const look = async () => {
      const found = await data<CommandProof>('/api/v1/proof').catch(() => null);
      if (!wanted || !found) return;
      commandProof.value = found;
      if (found.state === 'running') timer = setTimeout(() => void look(), PROOF_EVERY_MS);
    };
    void look();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [world]);
}
