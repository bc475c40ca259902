/** Control of a load run: it is told to begin, and to end. Its time is that of the wall. */
import { formatInstant } from '../../engine/internal.js';
import type { Control, ControlName } from '../contract/control.js';

/** As far as its control goes: it waits to be told to begin, it goes on, or it is over. */
export type Standing = 'waiting' | 'going' | 'over';

const can: Record<Standing, readonly ControlName[]> = {
  waiting: ['resume', 'stop'],
  going: ['stop'],
  over: [],
};

/** @param ask has it done: of a run that waits, also to end it before it has begun */
export const loadControl = (
  standing: () => Standing,
  ask: (what: 'resume' | 'stop') => void,
): Control => ({
  kind: 'load',
  get can() {
    return can[standing()];
  },
  clock() {
    const paused = standing() === 'waiting';
    const at = formatInstant(Date.now());
    return { holds: paused ? 'run' : 'nothing', paused, speed: 1, until: null, at };
  },
  async do({ do: what }) {
    if (what === 'resume' || what === 'stop') ask(what);
    return null;
  },
  onChange: () => () => {},
});
