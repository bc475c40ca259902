/**
 * Starts the actors for agents, alliances and blocks, one XState machine each. All are root actors,
 * because XState would copy a parent with thousands of children whenever a child is added. Actors
 * have no clock and report by `emit`.
 */
import type { Emitted } from '../protocol/schema/event.js';
import {
  type Actor,
  type AnyStateMachine,
  type ContextFrom,
  createActor,
  type InputFrom,
} from './bundled/xstate.js';
import type { Outbox } from './changes.js';

/** XState reads Date.now for delays, so no engine machine may use delays. */
const noClock = {
  setTimeout(): never {
    throw new Error('an engine actor asked for a timer: time comes with log entries');
  },
  clearTimeout(): void {},
};

type Birth<M extends AnyStateMachine> =
  | { input: InputFrom<M> }
  | { state: string; context: ContextFrom<M> };

/** Starts a new or stored actor whose emitted events go to the outbox. */
export function startActor<M extends AnyStateMachine>(
  machine: M,
  id: string,
  outbox: Outbox,
  birth: Birth<M>,
): Actor<M> {
  const options =
    'input' in birth
      ? { id, clock: noClock, input: birth.input }
      : {
          id,
          clock: noClock,
          snapshot: machine.resolveState({ value: birth.state, context: birth.context }),
        };
  // XState's option types cannot follow a generic machine.
  const actor = createActor(machine, options as never) as Actor<M>;
  actor.on('*', (emitted) => {
    if (emitted.type === 'unknown_event') outbox.fault(emitted);
    else outbox.emit(emitted as unknown as Emitted);
  });
  actor.subscribe({ error: (error) => outbox.fault(error) });
  actor.start();
  return actor;
}

/** Emitted for an event that the current state does not handle. The engine treats it as a bug. */
export interface UnknownEvent {
  type: 'unknown_event';
  actor: string;
  event: string;
}
