/** When agents of a group join and leave, wave by wave; times are of the run, from its start. */
import type { Group } from './schema/scenario.js';

/** From an instant on, for so long. */
export interface Span {
  readonly startMs: number;
  readonly overMs: number;
}

interface Waves {
  over_ms: number;
  waves: number;
  every_ms: number;
}

/** Who says nothing of it joins within this time. */
const USUAL: Span = { startMs: 0, overMs: 2_000 };

/** Of the agent at a place in its group, from 0. */
export function staying({ join, leave }: Group, place: number, size: number) {
  const span = (start: number, { over_ms, waves, every_ms }: Waves): Span => {
    const wave = Math.floor((place * waves) / size);
    return { startMs: start + wave * every_ms, overMs: over_ms };
  };
  return {
    joins: join ? span(join.start_ms, join) : USUAL,
    leaves: leave ? span(leave.at_ms, leave) : null,
  };
}

/** When the last of a group has joined: all have by then. */
export function joinedByMs({ join }: Group): number {
  return join ? endOf(join.start_ms, join) : USUAL.startMs + USUAL.overMs;
}

/** When the last of a group has left; null when they stay. */
export function leftByMs({ leave }: Group): number | null {
  return leave ? endOf(leave.at_ms, leave) : null;
}

const endOf = (start: number, { over_ms, waves, every_ms }: Waves): number =>
  start + (waves - 1) * every_ms + over_ms;
