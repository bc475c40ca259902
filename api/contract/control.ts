/** Control of a world's clock: what can be asked of it, what is shown, and who implements it. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { BlockStatus, nullable, Timestamp } from '../../engine/protocol/schema/primitives.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';

const worldKinds = ['live', 'sim', 'folder', 'replay', 'load'] as const;
/**
 * What a page shows: a live network, a simulation, a folder, a replay or a load run.
 *
 * @useDeclaredType
 */
export type WorldKind = (typeof worldKinds)[number];

const Until = Type.Object({
  what: Type.Enum(['block', 'outcome', 'time'], {
    description: 'a block is proposed, one leaves voting, or time has passed',
  }),
  /** Of the outcome; any where none is given. */
  status: Type.Optional(BlockStatus),
  /** So much of the world's time, from now. */
  ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
});
/**
 * Where a world that goes on is paused again: at a block, an outcome, or after a time.
 *
 * @interface
 */
export type Until = Static<typeof Until>;

const speeds = { minimum: 0.001, maximum: 1_000_000 };

/** What can be asked, by `do`. */
export const controlCommands = {
  pause: Type.Object({ do: Type.Literal('pause') }),
  resume: Type.Object({ do: Type.Literal('resume') }),
  /** As little as the world can go on by. */
  step: Type.Object({ do: Type.Literal('step') }),
  until: Type.Object({ do: Type.Literal('until'), until: Until }),
  /** It ends, with what it did so far. */
  stop: Type.Object({ do: Type.Literal('stop') }),
  /** Null: as fast as it can. */
  speed: Type.Object({ do: Type.Literal('speed'), speed: nullable(Type.Number(speeds)) }),
} as const;

/**
 * The name of something that can be asked of a world's clock.
 *
 * @useDeclaredType
 */
export type ControlName = keyof typeof controlCommands;
/**
 * Something asked of a world's clock.
 *
 * @useDeclaredType
 */
export type ControlCommand = {
  [K in ControlName]: Static<(typeof controlCommands)[K]>;
}[ControlName];

const controlNames = Object.keys(controlCommands) as ControlName[];

export const ClockView = Type.Object({
  holds: Type.Enum(['network', 'agents', 'run', 'nothing'], {
    description: 'what stands still while it is paused',
  }),
  paused: Type.Boolean(),
  speed: nullable(Type.Number({ description: 'times as fast as the wall; null: as it can' })),
  until: nullable(Until),
  at: Timestamp,
  over: Type.Optional(Type.Boolean({ description: 'true: nothing more will come' })),
});
/**
 * A world's clock, as it is shown.
 *
 * @interface
 */
export type ClockShown = Static<typeof ClockView>;

/** What is told of a world whenever its clock changed. */
export const WorldView = Type.Object({
  kind: Type.Enum([...worldKinds]),
  clock: ClockView,
  can: Type.Array(Type.Enum(controlNames)),
  lost: Type.Optional(Type.String({ description: 'why nothing new can be shown any more' })),
});

const knownParts = ['history', 'scenario', 'neighbours', 'decisions', 'cluster'] as const;
/**
 * What a server may know beside the network that it shows: reads of earlier entries, the scenario,
 * who hears whom, what votes rested on, and the nodes that keep it together.
 *
 * @useDeclaredType
 */
export type KnownPart = (typeof knownParts)[number];

export const ControlView = Type.Object({
  ...WorldView.properties,
  knows: Type.Array(Type.Enum([...knownParts]), {
    description: 'what can be asked here beside what every server is asked',
  }),
});
/**
 * What is shown of a world: what it is, its clock, and what can be asked of that.
 *
 * @interface
 */
export type ControlShown = Static<typeof ControlView>;

/** A world whose clock is shown and, as far as `can` says, controlled. */
export interface Control {
  readonly kind: WorldKind;
  /** What may be asked of it; nothing where it is only shown. */
  readonly can: readonly ControlName[];
  /** Why nothing new can be shown of it any more, once that is so: of a folder that was deleted. */
  readonly lost?: string | null;
  /** Its clock as it is now. */
  clock(): ClockShown;
  /** Does what is in `can`, and resolves once it holds; a refusal where that is not possible. */
  do(command: ControlCommand): Promise<Refusal | null>;
  /** Calls back when it was paused, goes on, is over or lost; returns how to stop that. */
  onChange(listener: () => void): () => void;
}

export const describeWorld = (control: Control): Static<typeof WorldView> => ({
  kind: control.kind,
  clock: control.clock(),
  can: [...control.can],
  ...(control.lost ? { lost: control.lost } : {}),
});
