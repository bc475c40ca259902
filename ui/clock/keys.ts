/** Keys that work everywhere, except where a reader types. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { tell } from '../data/connect.js';
import { go, href, place } from '../route/router.js';
import { helpShown } from './help.js';

const steps: Record<string, { by: 'event' | 'block'; forward: boolean }> = {
  ',': { by: 'event', forward: false },
  '.': { by: 'event', forward: true },
  '[': { by: 'block', forward: false },
  ']': { by: 'block', forward: true },
};

/** The worker knows whether it stands still: what is shown may be a moment old. */
export const toggle = (): void => tell({ do: 'toggle' });

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)) &&
  (target as HTMLInputElement).type !== 'range';

function press(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const step = steps[event.key];
  if (step) tell({ do: 'step', ...step });
  else if (event.key === ' ') {
    // On a button, space presses that.
    if (event.target instanceof HTMLElement && event.target.closest('button, summary, a')) return;
    toggle();
  } else if (event.key === 'l') tell({ do: 'live' });
  else if (event.key === 'f') void fill();
  else if (event.key === '?') helpShown.value = true;
  else if (event.key === '/') find();
  else return;
  event.preventDefault();
}

/** A name is to be typed: the field takes the focus once it is there. */
export const finding = signal(false);

function find(): void {
  finding.value = true;
  if (place.peek().view !== 'agents') go(href('agents'));
}

async function fill(): Promise<void> {
  try {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await document.documentElement.requestFullscreen();
  } catch {
    // A reader's browser may not allow it: nothing is lost.
  }
}

export function useKeys(): void {
  useEffect(() => {
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
