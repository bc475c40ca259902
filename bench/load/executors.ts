/**
 * Executors with the names and the meaning of k6. A row turns a scenario into a plan: arrivals or
 * virtual users, piecewise linear in time. The options --rate and --concurrency are plans as well.
 */
import { type Static, type TProperties, Type } from '../../engine/protocol/bundled/typebox.js';
import { definePattern } from '../../engine/protocol/patterns.js';
import { Streams } from '../../sim/rng.js';
import {
  durationPattern,
  type LoadOptions,
  type Plan,
  parseDuration,
  scenariosOf,
} from './options.js';

const strictly = { additionalProperties: false } as const;

export const Duration = (description: string, standard?: string) =>
  Type.String({
    pattern: definePattern(durationPattern.source, 'a duration such as 500ms, 30s or 1m30s'),
    ...(standard === undefined ? {} : { default: standard }),
    description,
  });

const MOST_USERS = 10_000;
const MOST_RATE = 1_000_000;
const Rate = (description: string) => Type.Number({ minimum: 0, maximum: MOST_RATE, description });
const Users = (description: string, minimum = 0) =>
  Type.Integer({ minimum, maximum: MOST_USERS, description });
const Count = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 100_000_000, description });

/** One part of a ramp. A stage without a duration is a jump. */
const Stage = (description: string) =>
  Type.Object(
    {
      duration: Duration('time in which the value changes linearly'),
      target: Type.Number({ minimum: 0, maximum: MOST_RATE, description }),
    },
    strictly,
  );

const stages = (description: string) =>
  Type.Array(Stage(description), {
    minItems: 1,
    maxItems: 1_000,
    description: 'parts of the ramp',
  });

const timeUnit = Type.Optional(Duration('period to which the rate applies', '1s'));
const users = {
  preAllocatedVUs: Type.Optional(Users('largest number of iterations at once, without maxVUs', 1)),
  maxVUs: Type.Optional(
    Users('largest number of iterations under way or waiting; later arrivals are dropped', 1),
  ),
};

interface Ramp {
  duration: string;
  target: number;
}

const ms = (text = '10m'): number => parseDuration(text)!;

/** Segments from one target to the next. */
function ramp(start: number, all: readonly Ramp[], unitMs = 1_000): Plan['segments'] {
  let from = (start * 1_000) / unitMs;
  return all.map(({ duration, target }) => {
    const to = (target * 1_000) / unitMs;
    const segment = { ms: ms(duration), from, to };
    from = to;
    return segment;
  });
}

const flat = (value: number, forMs: number) => [{ ms: forMs, from: value, to: value }];

const limited = ({ maxVUs, preAllocatedVUs }: { maxVUs?: number; preAllocatedVUs?: number }) => {
  const most = maxVUs ?? preAllocatedVUs;
  return most === undefined ? {} : { most };
};

/** An executor with the members of its scenarios, and the plan that they describe. */
const executor = <M extends TProperties>(
  about: string,
  members: M,
  plan: (scenario: Static<ReturnType<typeof Type.Object<M>>>) => Plan,
) => ({ about, members, plan });

const iterations = (about: string, each: boolean) =>
  executor(
    `a number of iterations${about}`,
    {
      vus: Users('virtual users', 1),
      iterations: Count(each ? 'iterations of each user' : 'iterations of all users together'),
      maxDuration: Type.Optional(Duration('longest time', '10m')),
    },
    ({ vus, iterations: count, maxDuration }) => ({
      ...{ of: 'users', segments: flat(vus, ms(maxDuration)), iterations: { count, each } },
    }),
  );

export const executors = {
  'constant-arrival-rate': executor(
    'a fixed rate of arrivals, independent of the server',
    { rate: Rate('arrivals per timeUnit'), timeUnit, duration: Duration('length'), ...users },
    ({ rate, timeUnit: unit = '1s', duration, ...rest }) => ({
      of: 'arrivals',
      segments: flat((rate * 1_000) / ms(unit), ms(duration)),
      ...limited(rest),
    }),
  ),
  'ramping-arrival-rate': executor(
    'a rate of arrivals that changes in stages',
    {
      startRate: Type.Optional(Rate('arrivals per timeUnit at the start (default: 0)')),
      timeUnit,
      stages: stages('arrivals per timeUnit at the end of the stage'),
      ...users,
    },
    ({ startRate = 0, timeUnit: unit = '1s', stages: all, ...rest }) => ({
      of: 'arrivals',
      segments: ramp(startRate, all, ms(unit)),
      ...limited(rest),
    }),
  ),
  'constant-vus': executor(
    'a fixed number of virtual users, each with one iteration after another',
    { vus: Users('virtual users', 1), duration: Duration('length') },
    ({ vus, duration }) => ({ of: 'users', segments: flat(vus, ms(duration)) }),
  ),
  'ramping-vus': executor(
    'a number of virtual users that changes in stages',
    {
      startVUs: Type.Optional(Users('virtual users at the start (default: 1)')),
      stages: stages('virtual users at the end of the stage'),
    },
    ({ startVUs = 1, stages: all }) => ({ of: 'users', segments: ramp(startVUs, all) }),
  ),
  'shared-iterations': iterations(', shared by the virtual users', false),
  'per-vu-iterations': iterations(' for each virtual user', true),
};

export type ExecutorName = keyof typeof executors;
export const executorNames = Object.keys(executors) as ExecutorName[];

/** @param scenario members of the executor, checked against its schema. */
export const planOf = (name: ExecutorName, scenario: object): Plan =>
  executors[name].plan(scenario as never);

/** Returns the value of a plan at a time after its start; 0 before and after. */
export function valueAt({ segments }: Plan, atMs: number): number {
  let startMs = 0;
  for (const { ms: lengthMs, from, to } of segments) {
    const inside = atMs - startMs;
    if (inside >= 0 && inside < lengthMs) return from + ((to - from) * inside) / lengthMs;
    startMs += lengthMs;
  }
  return 0;
}

/** Returns the planned arrivals up to a time after the start of the plan. */
export function planned({ segments }: Plan, untilMs: number): number {
  let [startMs, count] = [0, 0];
  for (const { ms: lengthMs, from, to } of segments) {
    const inside = Math.max(0, Math.min(lengthMs, untilMs - startMs));
    const end = from + ((to - from) * inside) / Math.max(lengthMs, Number.MIN_VALUE);
    count += (((from + end) / 2) * inside) / 1_000;
    startMs += lengthMs;
  }
  return count;
}

/** Returns the time at which the planned arrivals reach a count, within a segment. */
function timeIn({ ms: lengthMs, from, to }: Plan['segments'][number], count: number): number {
  const slope = (to - from) / lengthMs;
  // Stable form of the root of from t + slope t^2 / 2 = 1,000 count.
  const root = Math.sqrt(Math.max(0, from * from + 2 * slope * 1_000 * count));
  return count === 0 ? 0 : Math.min(lengthMs, (2 * 1_000 * count) / (from + root));
}

export interface Arriving {
  plan: Plan;
  law: 'uniform' | 'poisson' | readonly number[];
  seed: string;
  /** Part of a run on several generators: this generator sends every `count`th arrival. */
  shard?: { index: number; count: number } | undefined;
}

/**
 * Yields the times of all arrivals after the start of the plan. Arrival k is due when the planned
 * ones reach k or, by the Poisson law, the sum of k exponential draws. This is exact for any rate:
 * a Poisson process is one of rate 1 on a clock that runs as the rate.
 */
export function* arrivalTimes({ plan, law, seed, shard }: Arriving): Generator<number> {
  const { index = 0, count = 1 } = shard ?? {};
  if (typeof law !== 'string') {
    const endMs = plan.segments.reduce((sum, one) => sum + one.ms, 0);
    for (const [at, time] of law.entries()) if (at % count === index && time < endMs) yield time;
    return;
  }
  const stream = new Streams(`load/${seed}`).of(index, 'arrivals');
  const gap = () => (law === 'uniform' ? 1 : -Math.log(1 - stream.real()));
  // The plan of a part is its share of the rate, so its arrivals lie between those of the others.
  let due = law === 'uniform' ? index / count : gap();
  let [startMs, before] = [0, 0];
  for (const segment of plan.segments) {
    const inside = (((segment.from + segment.to) / 2) * segment.ms) / 1_000;
    while (due - before < inside - 1e-9) {
      yield startMs + timeIn(segment, Math.max(0, due - before));
      due += gap();
    }
    startMs += segment.ms;
    before += inside;
  }
}

/** Returns the rate of each scenario's arrivals, for limits and supplies: its largest value. */
export const peak = ({ segments }: Plan): number =>
  Math.max(0, ...segments.flatMap(({ from, to }) => [from, to]));

export const lengthMs = ({ segments }: Plan): number =>
  segments.reduce((sum, one) => sum + one.ms, 0);

/** Returns the largest number of iterations under way that these options allow. */
export const usersOf = (options: LoadOptions): number =>
  scenariosOf(options).reduce((sum, { plan }) => sum + (plan.of === 'users' ? peak(plan) : 0), 0);
