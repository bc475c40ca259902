/** Clock control: commands, views, and the interface of a controllable world. */

import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { BlockStatus, nullable, Timestamp } from '../../engine/protocol/schema/primitives.js';
import type { Refusal } from '../../engine/protocol/schema/reason.js';

const worldKinds = ['live', 'sim', 'folder', 'load', 'gallery'] as const;
/** A live network, a simulation, a data folder, a load run or the gallery. @useDeclaredType */
export type WorldKind = (typeof worldKinds)[number];

const Until = Type.Object({
  what: Type.Enum(['block', 'outcome', 'time'], {
    description: 'a block is proposed, a block closes, or time has passed',
  }),
  /** Outcome to wait for. If absent, any outcome. */
  status: Type.Optional(BlockStatus),
  /** World time from now, in milliseconds. */
  ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
});
/** Condition that pauses a running world: a block, an outcome or a time. @interface */
export type Until = Static<typeof Until>;

const Value = Type.Union([Type.String({ maxLength: 200 }), Type.Number(), Type.Boolean()]);

/** New value at a path of the scenario. */
const Changed = Type.Object({ path: Type.String({ maxLength: 200 }), value: Value });
const Changes = Type.Array(Changed, { maxItems: 32 });

const speeds = { minimum: 0.001, maximum: 1_000_000 };

/** Schemas for control commands, by `do`. */
export const controlCommands = {
  pause: Type.Object({ do: Type.Literal('pause') }),
  resume: Type.Object({ do: Type.Literal('resume') }),
  /** Advances the world by its smallest unit, then pauses. */
  step: Type.Object({ do: Type.Literal('step') }),
  until: Type.Object({ do: Type.Literal('until'), until: Until }),
  /** Ends the world and keeps its results so far. */
  stop: Type.Object({ do: Type.Literal('stop') }),
  /**
   * Runs the scenario with changed values, in a separate process. With `from_entry`, the changes
   * apply from that entry on.
   */
  run: Type.Object({
    do: Type.Literal('run'),
    seed: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    changes: Type.Optional(Changes),
    from_entry: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 40 })),
  }),
  /** Ends the runs that `run` started. */
  cancel: Type.Object({ do: Type.Literal('cancel') }),
  /** Runs a scenario of the gallery in a process of its own, which serves the page of the run. */
  watch: Type.Object({ do: Type.Literal('watch'), scenario: Type.String({ maxLength: 100 }) }),
  /** Null means as fast as possible. */
  speed: Type.Object({ do: Type.Literal('speed'), speed: nullable(Type.Number(speeds)) }),
} as const;

/** Name of a control command. @useDeclaredType */
export type ControlName = keyof typeof controlCommands;
/** A control command. @useDeclaredType */
export type ControlCommand = {
  [K in ControlName]: Static<(typeof controlCommands)[K]>;
}[ControlName];

const controlNames = Object.keys(controlCommands) as ControlName[];

export const ClockView = Type.Object({
  holds: Type.Enum(['network', 'agents', 'run', 'nothing'], {
    description: 'what a pause stops',
  }),
  paused: Type.Boolean(),
  speed: nullable(Type.Number({ description: 'multiple of real time; null: as fast as possible' })),
  until: nullable(Until),
  at: Timestamp,
  over: Type.Optional(Type.Boolean({ description: 'true if the world has ended' })),
});
/** State of a world's clock. @interface */
export type ClockView = Static<typeof ClockView>;

/** State of a world, sent after each change to its clock. */
export const WorldView = Type.Object({
  kind: Type.Enum([...worldKinds]),
  clock: ClockView,
  can: Type.Array(Type.Enum(controlNames)),
  lost: Type.Optional(Type.String({ description: 'why the server cannot show new data' })),
});

const knownParts = ['history', 'scenario', 'neighbours', 'decisions', 'cluster'] as const;
/**
 * Optional data that a server may offer: reads at earlier entries, the scenario, the social graph,
 * decision records, and the cluster status.
 *
 * @useDeclaredType
 */
export type KnownPart = (typeof knownParts)[number];

export const ControlView = Type.Object({
  ...WorldView.properties,
  knows: Type.Array(Type.Enum([...knownParts]), {
    description: 'optional data that this server has',
  }),
});
/** A world: its kind, its clock, its control commands and its optional data. @interface */
export type ControlView = Static<typeof ControlView>;

const RunParameter = Type.Object({
  path: Type.String({ description: 'path in the scenario, such as agents.town.share' }),
  about: Type.String(),
  kind: Type.Enum(['number', 'choice', 'flag']),
  value: Value,
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
  whole: Type.Optional(Type.Boolean({ description: 'true for an integer' })),
  choices: Type.Optional(Type.Array(Type.String())),
  range: Type.Optional(
    Type.Array(Type.Number(), { description: 'least and greatest value in the sweep' }),
  ),
  featured: Type.Optional(Type.Boolean({ description: 'true if the sweep varies it' })),
  later: Type.Optional(Type.Boolean({ description: 'true if it can change during a run' })),
});
/** A value of the scenario that a started run may change. @interface */
export type RunParameter = Static<typeof RunParameter>;

const StartedRun = Type.Object({
  number: Type.Integer({ description: 'number of the run, from 1' }),
  seed: Type.String(),
  changes: Changes,
  from_entry: nullable(Type.Integer()),
  state: Type.Enum(['waiting', 'running', 'done', 'failed', 'cancelled']),
  command: Type.String({ description: 'command that gives the same digest' }),
  why: Type.Optional(Type.String({ description: 'reason for the failure' })),
  wall_ms: Type.Optional(Type.Integer()),
  digest: Type.Optional(Type.String()),
  verdict: Type.Optional(Type.String()),
  measures: Type.Optional(Type.Record(Type.String(), nullable(Type.Number()))),
});
/** A run that the page started. @interface */
export type StartedRun = Static<typeof StartedRun>;

const Compared = Type.Object({
  measure: Type.String(),
  pairs: Type.Integer({ description: 'seeds that both ran with' }),
  given: Type.Number({ description: 'mean of the scenario as given' }),
  changed: Type.Number(),
  difference: Type.Number({ description: 'mean of the differences by seed' }),
  low: nullable(Type.Number({ description: '95 % interval of the mean difference' })),
  high: nullable(Type.Number()),
});

export const RunsView = Type.Object({
  seed: Type.String({ description: 'seed of the scenario as given' }),
  parameters: Type.Array(RunParameter),
  runs: Type.Array(StartedRun),
  comparisons: Type.Array(
    Type.Object({
      changes: Changes,
      from_entry: nullable(Type.Integer()),
      runs: Type.Array(Type.Integer(), { description: 'numbers of the compared runs' }),
      measures: Type.Array(Compared),
    }),
  ),
});
/** Runs started with the command `run`, and their paired differences. @interface */
export type RunsView = Static<typeof RunsView>;

const Exhibit = Type.Object({
  name: Type.String(),
  title: Type.String(),
  question: Type.String(),
  agents: Type.Integer(),
  rule: Type.String(),
  length: Type.String({ description: 'when the run ends' }),
  expect: Type.String({ description: 'expected verdict' }),
  command: Type.String({ description: 'command that shows the run' }),
  outcomes: Type.String({
    description:
      'one letter per closed block of a recorded run: Finalized, Rejected, Expired, Orphaned',
  }),
  cpu_ms: nullable(Type.Integer({ description: 'processor time of a run without a page' })),
  groups: Type.Array(Type.Integer(), { description: 'agents of each group' }),
  links: Type.Array(Type.Array(Type.Integer()), {
    description: 'a part of the links of the graph, between numbers of agents',
  }),
  state: Type.Enum(['idle', 'starting', 'open', 'failed']),
  page: Type.Optional(Type.String({ description: 'page of the run; only for the token' })),
  why: Type.Optional(Type.String({ description: 'reason for the failure' })),
});
/** A shipped scenario in the gallery. @interface */
export type Exhibit = Static<typeof Exhibit>;

export const GalleryView = Type.Object({ scenarios: Type.Array(Exhibit) });
/** The shipped scenarios, with a picture, the run time and the outcome to expect. @interface */
export type GalleryView = Static<typeof GalleryView>;

/** Makes the runs of the commands `run` and `cancel`. */
export interface RunMaker {
  view(mayStart: boolean): RunsView;
  /** Resolves to a refusal if the run cannot start. */
  start(command: Static<typeof controlCommands.run>): Promise<Refusal | null>;
  cancel(): void;
  /** Calls the listener when a run starts or ends. */
  onChange(listener: () => void): () => void;
}

/** A world with a clock. `can` lists the supported commands. */
export interface Control {
  readonly kind: WorldKind;
  /** Supported commands; empty for a world that can only be watched. */
  readonly can: readonly ControlName[];
  /** Reason why no new data can be shown, such as a deleted folder. */
  readonly lost?: string | null;
  clock(): ClockView;
  /**
   * Runs started with the command `run`. Absent if the world starts none.
   *
   * @param mayStart true for a reader with the control token.
   */
  readonly runs?: (mayStart: boolean) => RunsView;
  /**
   * Scenarios of the command `watch`. Absent if the world has none.
   *
   * @param mayStart true for a reader with the control token.
   */
  readonly gallery?: (mayStart: boolean) => GalleryView;
  /** Executes a command in `can`. Resolves after it took effect, or to a refusal if it failed. */
  do(command: ControlCommand): Promise<Refusal | null>;
  /** Calls the listener after a pause, resume, end or loss. Returns a function to unsubscribe. */
  onChange(listener: () => void): () => void;
}

export const describeWorld = (control: Control): Static<typeof WorldView> => ({
  kind: control.kind,
  clock: control.clock(),
  can: [...control.can],
  ...(control.lost ? { lost: control.lost } : {}),
});
