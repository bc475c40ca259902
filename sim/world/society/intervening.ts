/** What a world and its interventions ask of each other: what happens, and what is otherwise. */
import type { Command, Event, SignedRequest } from '../../../engine/internal.js';
import type { DecisionNote } from '../../agents/port/notes.js';
import type { ScheduledEvent, World } from '../../agents/port/world.js';

/** A request with what its agent noted. */
export interface Outgoing {
  request: SignedRequest;
  note: DecisionNote | null;
}

/** By meme: from when on nobody hears of it any more. */
export type Mutes = ReadonlyMap<string, number>;

export interface Intervening {
  readonly mutes: Mutes;
  /** When the next one acts that waits for an instant; infinite without any. */
  readonly nextAt: number;
  /** Those whose instant has come act. */
  actAt(now: number): void;
  /** An agent is to be called; and it has been, or will never be. */
  scheduled(agent: number, event: ScheduledEvent): void;
  called(agent: number, event: ScheduledEvent): void;
  /** A request as it is to go out; null when it is not to. */
  sending(from: number, outgoing: Outgoing): Outgoing | null;
  /** Before anybody is told of it. */
  happened(event: Event): void;
  /** Whether a request that is there never arrives; `accepted` says whether it would be done. */
  keepsOut(command: Command, accepted: () => boolean): boolean;
}

/** What interventions do to a world. */
export interface Changeable extends World {
  /** Another value of the scenario, by its path. */
  change(path: string, value: unknown): void;
  /** Names from now on all draws that belong to nobody, or to a message. */
  redraw(seedNumber: number): void;
}
