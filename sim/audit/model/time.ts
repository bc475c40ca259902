/** What time brings by itself: deadlines, each at the instant after it. */
import { allianceDue, isOver } from './alliances.js';
import { closeIfDecided } from './close.js';
import { emitMetrics } from './events.js';
import type { Deadline } from './state/deadlines.js';
import { renewMetrics } from './state/metrics.js';
import type { PredictedEvents, State } from './state/state.js';

/** When something happens by itself next, or null. */
export function nextDue(state: State): number | null {
  for (let next = state.deadlines.peek(); next; next = state.deadlines.peek()) {
    if (stands(state, next)) return next.due;
    state.deadlines.pop();
  }
  return null;
}

/** Fires every deadline before `at`. Those of one instant fire together, in their order. */
export function passTime(state: State, predicted: PredictedEvents, at: number): void {
  for (let due = nextDue(state); due !== null && due < at; due = nextDue(state)) {
    const next = state.deadlines.peek()!;
    state.deadlines.pop();
    fire(state, predicted, next);
  }
}

/** Whether a deadline has neither been put off nor overtaken. */
function stands(state: State, { due, of, id }: Deadline): boolean {
  if (of === 'metrics') return state.metricsDue === due;
  if (of === 'block') return state.open.has(id);
  const alliance = state.alliances.get(id)!;
  return !isOver(alliance) && alliance.deadline === due;
}

function fire(state: State, predicted: PredictedEvents, { due, of, id }: Deadline): void {
  const at = due + 1;
  if (of === 'alliance') allianceDue(state, predicted, state.alliances.get(id)!, at);
  else if (of === 'block')
    closeIfDecided(state, predicted, state.open.get(id)!, { at, isOver: true });
  else {
    emitMetrics(state, predicted, at);
    renewMetrics(state, due);
  }
}
