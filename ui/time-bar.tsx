/**
 * The transport bar at the foot of every view: pause, step, speed, a slider over the whole history,
 * and the matching keys. At the newest entry of a simulation, the bar controls the run itself, if
 * the reader may. Everywhere else it plays what has happened, and affects only this page.
 */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { format, plural } from '../report/shared/format.js';
import { moment, watchScheme } from './components/labels.js';
import { postToWorker } from './data/connect.js';
import type { PageOverview } from './data/messages.js';
import { clock, overview, position } from './data/store.js';
import { entryInAddress, go, href, place, setQuery } from './route.js';
import { controlledRun, controlWorld, RunSpeed, RunUntil, Speed } from './world-clock.js';

const speeds = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 100, 1_000];
const ADDRESS_MS = 250;

/** Key, kind, direction and icon. */
const steps = [
  ['[', 'block', false, 'M2 2H4.5V14H2ZM14 2 5 8 14 14Z'],
  [',', 'event', false, 'M11.5 2 3.5 8 11.5 14Z'],
  ['.', 'event', true, 'M4.5 2 12.5 8 4.5 14Z'],
  [']', 'block', true, 'M11.5 2H14V14H11.5ZM2 2 11 8 2 14Z'],
] as const;

export function TimeBar() {
  useAddress();
  const { mode, speed, head, follows } = clock.value;
  const here = position.value;
  if (!here) return null;
  const run = runAtHand();
  const still = run ? run.clock.paused : mode === 'paused' || (mode === 'live' && !follows);
  const atEnd = here.entry >= head.entry;
  const step = ([key, by, forward, path]: (typeof steps)[number]) => (
    <button
      key={key}
      type="button"
      onClick={() => postToWorker({ do: 'step', by, forward })}
      aria-label={`${forward ? 'Next' : 'Previous'} ${by}`}
      title={key}
    >
      <Icon path={path} />
    </button>
  );
  return (
    <section class="clock" aria-label="Playback">
      <div class="controls">
        <button
          type="button"
          class="play"
          onClick={togglePlay}
          aria-label={`${still ? (run ? 'Resume' : 'Play') : 'Pause'}${run ? ' the run' : ''}`}
        >
          <Icon path={still ? 'M4 2 14 8 4 14Z' : 'M3 2H6.5V14H3ZM9.5 2H13V14H9.5Z'} />
        </button>
        {steps.slice(0, 2).map(step)}
        {run ? (
          <button
            type="button"
            disabled={!run.clock.paused}
            onClick={() => controlWorld({ do: 'step' })}
          >
            Step
          </button>
        ) : (
          steps.slice(2).map(step)
        )}
        {run ? (
          <RunSpeed speed={run.clock.speed} />
        ) : (
          <Speed
            speed={speed}
            all={speeds}
            onChoose={(one) => postToWorker({ do: 'speed', speed: one ?? 1 })}
          />
        )}
        {run && <RunUntil />}
        {follows && (
          <button
            type="button"
            class="to-live"
            aria-pressed={mode === 'live'}
            onClick={() => postToWorker({ do: 'live' })}
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
          entry {format(here.entry)}
          {atEnd ? '' : ` of ${format(head.entry)}`}
        </span>
      </p>
      <Help />
    </section>
  );
}

/** The run, if the page stands at its newest entry and may control it. */
function runAtHand() {
  const { mode, follows } = clock.value;
  return mode === 'live' && follows ? controlledRun() : null;
}

function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={path} fill="currentColor" />
    </svg>
  );
}

/** Synchronizes the position and the `at` parameter in the address, in both directions. */
function useAddress(): void {
  const { mode, goal } = clock.value;
  /** Last value that this hook wrote. Following it would jump back. */
  const written = useRef(place.peek().query.get('at'));
  // The clock of the page is unknown until its first position, which may come before the goal.
  const target = position.value ? goal : undefined;
  useEffect(() => {
    if (target === undefined || mode === 'playing') return;
    const timer = setTimeout(() => {
      written.current = target === null ? null : String(target);
      setQuery({ at: written.current });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [target, mode]);
  const { query } = place.value;
  const wanted = query.get('at');
  useEffect(() => {
    if (wanted === written.current) return;
    const at = entryInAddress();
    const now = position.peek();
    if (!now || clock.peek().mode === 'playing') return;
    if (at === null && clock.peek().mode !== 'live') postToWorker({ do: 'live' });
    if (at !== null && at !== now.entry) postToWorker({ do: 'seek', entry: at });
  }, [wanted]);
}

function Scrubber() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { head, mode, goal } = clock.value;
  const { entry: here, at } = position.value!;
  /** Requested entry until the worker confirms it. The next key press counts from this entry. */
  const wanted = useRef<number | null>(null);
  if (wanted.current === goal) wanted.current = null;
  const thumb = wanted.current ?? (mode === 'paused' ? goal : null) ?? here;
  const when = thumb === here ? `, ${moment(at)}` : '';
  const last = head.entry;
  const all = overview.value;
  useEffect(() => {
    const element = canvas.current!;
    const draw = () => drawHistory(element, all, { here, last });
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    const unwatch = watchScheme(draw);
    draw();
    return () => {
      observer.disconnect();
      unwatch();
    };
  }, [all, Math.floor((200 * here) / Math.max(1, last)), Math.floor(last / 100)]);
  return (
    <div class="scrubber" title={scrubberText(last)}>
      <canvas ref={canvas} />
      <input
        type="range"
        aria-label="Position in the history"
        min={0}
        max={Math.max(0, last)}
        step={1}
        value={thumb}
        aria-valuetext={`entry ${format(thumb)} of ${format(last)}${when}`}
        onInput={({ currentTarget }) => {
          const entry = Number(currentTarget.value);
          wanted.current = entry;
          postToWorker({ do: 'seek', entry });
        }}
      />
    </div>
  );
}

const scrubberText = (last: number) =>
  'Bars: events per log entry (square-root scale). ' +
  `Ticks: closed blocks, long where not finalized. n = ${plural(last + 1, 'entry', 'entries')}.`;

/** Height of an outcome tick, in CSS pixels. */
const OUTCOMES = 7;
/** Opacity of bars after the current entry. */
const AHEAD = 0.4;

/**
 * Draws events per entry as bars on a square-root scale, because one entry may change every agent's
 * score. Ticks above the bars mark closed blocks. A long tick marks a block that was not finalized.
 */
function drawHistory(element: HTMLCanvasElement, all: PageOverview | null, batch: ShownSpan): void {
  const { clientWidth: width, clientHeight: height } = element;
  const ratio = devicePixelRatio;
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil(height * ratio);
  const context = element.getContext('2d')!;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const x = (entry: number) => (entry / Math.max(1, batch.last)) * width;
  context.fillStyle = color('--line');
  context.fillRect(0, height - 1, width, 1);
  if (!all || all.buckets.length === 0 || width === 0) return;
  const density = all.buckets.map(({ events, entries }) =>
    Math.sqrt(events.reduce((sum, count) => sum + count, 0) / entries),
  );
  const most = Math.max(1, ...density);
  context.fillStyle = color('--c6');
  for (const [index, bucket] of all.buckets.entries()) {
    const left = x(bucket.from);
    const wide = Math.max(1, x(bucket.from + bucket.entries) - left - 0.5);
    const high = Math.max(1, (density[index]! / most) * (height - OUTCOMES - 3));
    context.globalAlpha = bucket.from <= batch.here ? 1 : AHEAD;
    context.fillRect(left, height - high, wide, high);
  }
  context.globalAlpha = 1;
  for (const { entry, status } of all.closings) {
    const final = status === 'finalized';
    context.fillStyle = color(final ? '--good' : '--c2');
    context.fillRect(x(entry) - 0.75, 0, 1.5, final ? OUTCOMES - 3 : OUTCOMES);
  }
}

interface ShownSpan {
  here: number;
  last: number;
}

/**
 * The worker decides between pause and play, because the page's state may be slightly out of date.
 */
function togglePlay(): void {
  const run = runAtHand();
  if (run) void controlWorld({ do: run.clock.paused ? 'resume' : 'pause' });
  else postToWorker({ do: 'toggle' });
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) &&
  (target as HTMLInputElement).type !== 'range';

function pressKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const step = steps.find(([key]) => key === event.key);
  if (step) postToWorker({ do: 'step', by: step[1], forward: step[2] });
  else if (event.key === ' ') {
    // When a control has the focus, space activates that control.
    if (event.target instanceof HTMLElement && event.target.closest('button, summary, a')) return;
    togglePlay();
  } else if (event.key === 'l') postToWorker({ do: 'live' });
  else if (event.key === 'f') void fillScreen();
  else if (event.key === '?') helpShown.value = true;
  else if (event.key === '/') findAgent();
  else return;
  event.preventDefault();
}

/** True until the search field in the Agents view has taken the focus. */
export const finding = signal(false);

function findAgent(): void {
  finding.value = true;
  if (place.peek().view !== 'agents') go(href('agents'));
}

/** The browser may refuse full screen. */
const fillScreen = () =>
  (document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen()
  ).catch(() => {});

export function useKeys(): void {
  useEffect(() => {
    addEventListener('keydown', pressKey);
    return () => removeEventListener('keydown', pressKey);
  }, []);
}

const helpShown = signal(false);

const showHelp = (shown: boolean) => {
  helpShown.value = shown;
};

const keyNames: readonly [string, string][] = [
  ['space', 'pause or play'],
  [', and .', 'previous and next event'],
  ['[ and ]', 'previous and next block'],
  ['l', 'go live'],
  ['/', 'find an agent'],
  ['f', 'full screen'],
  ['?', 'this list'],
];

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = helpShown.value;
  useEffect(() => {
    if (shown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [shown]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={() => showHelp(false)}>
      <h2 id="keys">Keys</h2>
      <dl class="keys">
        {keyNames.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button">
          Close
        </button>
      </form>
    </dialog>
  );
}
