/**
 * The output of an entry: changed records and emitted events. An entry changes a record at most
 * once, and the order of its changes depends on the entry alone. Agents, alliances and blocks are
 * XState machines that report by `emit`. All are root actors, because XState would copy a parent
 * with thousands of children whenever a child is added.
 */

import type { ProposeCommand } from '../protocol/schema/command.js';
import type { Event, EventData } from '../protocol/schema/event.js';
import type { RecordKey, RecordOf, Table } from '../protocol/schema/record.js';
import {
  type Actor,
  type AnyStateMachine,
  type ContextFrom,
  createActor,
  type InputFrom,
} from './bundled/xstate.js';

/** A changed record. The value `null` deletes the record. */
export interface Change {
  table: Table;
  key: RecordKey;
  value: RecordOf[Table] | null;
  /** Canonical JSON of the value. The host sets it when it encodes the step. */
  json: string | null;
}

/** Members of a vote's record that come from its command. */
export type NewVote = Pick<RecordOf['votes'], 'decision' | 'meme_references' | 'ballot'>;

/** Adds an item. For most lists, `push` would reserve the memory of seventeen items for one. */
function added<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

export class Changes {
  #list: Change[] = [];
  /** False if no log contains the changes: the engine skips records that only a restart needs. */
  readonly logged: boolean = true;
  /** False if nothing reads the responses to accepted votes. The engine then leaves them empty. */
  readonly answered: boolean = true;

  put<T extends Table>(table: T, key: RecordKey, value: RecordOf[T]): void {
    this.#list = added(this.#list, { table, key, value, json: null });
  }

  drop(table: Table, key: RecordKey): void {
    this.#list = added(this.#list, { table, key, value: null, json: null });
  }

  putVote(block: number, agent: number, vote: NewVote, at: number, entry: number): void {
    const { decision, meme_references, ballot } = vote;
    const record: RecordOf['votes'] = { at, decision, entry, meme_references };
    // Most votes have no ballot, and a spread of nothing takes as long as the rest of the object.
    if (ballot !== undefined) record.ballot = ballot;
    this.put('votes', [block, agent], record);
  }

  /** Adds the record of an agent's standing. `values` contains one row per agent. */
  putStanding(ordinal: number, values: Int32Array, width: number): void {
    const row: number[] = [];
    const start = ordinal * width;
    for (let place = start; place < start + width; place += 1) row.push(values[place]!);
    this.put('standings', ordinal, row);
  }

  take(): Change[] {
    const list = this.#list;
    this.#list = [];
    return list;
  }
}

/** List before the first event. Nothing is added to it. */
const nothing: Event[] = [];

export class Outbox {
  #emitted = nothing;
  #faults: unknown[] = [];

  /** Adds an event. The engine numbers the events of an entry when it takes them. */
  emit<T extends Event['type']>(type: T, data: EventData[T]): void {
    this.#emitted = added(this.#emitted, { data, seq: 0, type } as unknown as Event);
  }

  /** Records a bug: an actor threw, or received an event that its state does not handle. */
  fault(error: unknown): void {
    this.#faults.push(error);
  }

  take(): Event[] {
    const taken = this.#emitted;
    this.#emitted = nothing;
    return taken;
  }

  firstFault(): unknown {
    return this.#faults[0];
  }
}

/** Synchronous reads, provided by the host, of records that the engine does not hold in memory. */
export interface Reader {
  /** Returns a record as of the last applied entry, even if that entry is not committed yet. */
  read<T extends Table>(table: T, key: RecordKey): RecordOf[T] | undefined;
  /** Returns records in key order. Called only while an engine is restored. */
  range<T extends Table>(
    table: T,
    options?: { from?: RecordKey; to?: RecordKey; reverse?: boolean },
  ): Iterable<{ key: RecordKey; value: RecordOf[T] }>;
  /** Returns the command of a logged proposal. Called only while an engine is restored. */
  proposal(entry: number): ProposeCommand;
}

/** A reader without records, for engines that start at genesis without a store. */
export const emptyReader: Reader = {
  read: () => undefined,
  range: () => [],
  proposal: (entry) => {
    throw new Error(`the store is empty: no proposal at entry ${entry}`);
  },
};

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
    else {
      const { type, data } = emitted as unknown as Event;
      outbox.emit(type, data);
    }
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
