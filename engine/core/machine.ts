/**
 * Root actors, one XState machine each: created, restored, never children of one another (a parent
 * with thousands of children is copied at every join). They have no clock and speak by `emit`.
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

/** XState would read Date.now for delays; no machine here may have any. */
const noClock = {
  setTimeout(): never {
    throw new Error('an engine actor asked for a timer: time comes with log entries');
  },
  clearTimeout(): void {},
};

type Birth<M extends AnyStateMachine> =
  | { input: InputFrom<M> }
  | { state: string; context: ContextFrom<M> };

/** Starts an actor, new or as it was stored; what it emits goes to the outbox. */
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
  // The one boundary where XState's option types cannot follow a generic machine.
  const actor = createActor(machine, options as never) as Actor<M>;
  actor.on('*', (emitted) => {
    if (emitted.type === 'unknown_event') outbox.fault(emitted);
    else outbox.emit(emitted as unknown as Emitted);
  });
  actor.subscribe({ error: (error) => outbox.fault(error) });
  actor.start();
  return actor;
}

/** What a machine emits for an event that its state does not know: never silence. */
export interface UnknownEvent {
  type: 'unknown_event';
  actor: string;
  event: string;
}
