/** The whole history at a glance, and a slider over it. */
import { useEffect, useRef } from 'preact/hooks';
import type { Overview } from '../../api/view/model.js';
import { shown } from '../../report/shared/numbers.js';
import { tell } from '../data/connect.js';
import { clock, overview, position } from '../data/store.js';
import { moment } from '../parts/moment.js';

export function Scrubber() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { head, mode, goal } = clock.value;
  const { entry: here, at } = position.value!;
  /** Until the worker has heard of it: the next key counts from there. */
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
    const schemes = matchMedia('(prefers-color-scheme: dark)');
    schemes.addEventListener('change', draw);
    draw();
    return () => {
      observer.disconnect();
      schemes.removeEventListener('change', draw);
    };
  }, [all, Math.floor((200 * here) / Math.max(1, last)), Math.floor(last / 100)]);
  return (
    <div class="scrubber">
      <canvas ref={canvas} />
      <input
        type="range"
        aria-label="Position in the history"
        min={0}
        max={Math.max(0, last)}
        step={1}
        value={thumb}
        aria-valuetext={`entry ${shown(thumb)} of ${shown(last)}${when}`}
        onInput={({ currentTarget }) => {
          const entry = Number(currentTarget.value);
          wanted.current = entry;
          tell({ do: 'seek', entry });
        }}
      />
    </div>
  );
}

const OUTCOMES = 7;
/** Of what is still to come, where the view stands. */
const AHEAD = 0.4;

/**
 * Events an entry as bars, by their square root: one entry may change the scores of all agents, and
 * what happens otherwise is to be seen beside it. Above, a tick for each block that closed: long if
 * not finalized.
 */
function drawHistory(element: HTMLCanvasElement, all: Overview | null, span: Shown): void {
  const { clientWidth: width, clientHeight: height } = element;
  const ratio = devicePixelRatio;
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil(height * ratio);
  const context = element.getContext('2d')!;
  context.scale(ratio, ratio);
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name);
  const x = (entry: number) => (entry / Math.max(1, span.last)) * width;
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
    context.globalAlpha = bucket.from <= span.here ? 1 : AHEAD;
    context.fillRect(left, height - high, wide, high);
  }
  context.globalAlpha = 1;
  for (const { entry, status } of all.closings) {
    const final = status === 'finalized';
    context.fillStyle = color(final ? '--good' : '--c2');
    context.fillRect(x(entry) - 0.75, 0, 1.5, final ? OUTCOMES - 3 : OUTCOMES);
  }
}

interface Shown {
  here: number;
  last: number;
}
