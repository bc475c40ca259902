/** A run on its way to a worker, and what came of it on its way back, as texts that last. */
import { LARGEST_BYTES } from '../../cluster/queue/index.js';
import { Type, Value, validator } from '../../engine/internal.js';
import { jsonDifference } from '../compare/json.js';
import { type Job, type Lasting, lasting, type Outcome } from '../run/jobs/index.js';
import { externalsIn } from '../scenario/external.js';
import { scriptModules } from '../scenario/files/modules.js';
import { complete } from '../scenario/read/complete.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Something that a queue cannot carry, or that is none: a user can mend it. */
export class QueueError extends Error {
  override name = 'QueueError';
}

/** @throws {QueueError} for a run that only this machine can do, or that is too large. */
export function jobText({ scenario, seed, audit = true, watch, keep, deciders }: Job): string {
  if (externalsIn(scenario).length > 0) {
    const advice = 'run it without --queue, or in shards';
    throw new QueueError(`a queue carries no answers of external deciders; ${advice}`);
  }
  if (watch !== undefined || keep !== undefined || deciders !== undefined) {
    throw new QueueError('this run is kept or asked about here: a queue cannot carry it');
  }
  const text = JSON.stringify({ scenario, seed, audit });
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_BYTES) return text;
  throw new QueueError(
    `a scenario of ${bytes} bytes is too large for a queue, which carries at most ` +
      `${LARGEST_BYTES}; run the sweep in shards: --shard i/n`,
  );
}

const Told = Type.Object({ scenario: Type.Unknown(), seed: Type.String(), audit: Type.Boolean() });

/** Scenarios whose check is remembered: a sweep has one for each of its cells. */
const REMEMBERED = 64;

/**
 * Reads the runs that a queue offers: what is wrong with one is told as text, since whoever writes
 * to an etcd may offer anything.
 *
 * @param folder where its files are.
 */
export function jobReader(folder: string, scripts: boolean): (body: Buffer) => Job | string {
  const known = new Map<string, Scenario | string>();
  const look = (raw: unknown): Scenario | string => {
    const text = JSON.stringify(raw);
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    const found = scenarioTold(raw, folder, scripts);
    const [oldest] = known.keys();
    if (known.size === REMEMBERED) known.delete(oldest!);
    known.set(text, found);
    return found;
  };
  return (body) => {
    const told = jsonOf(body.toString('utf8'));
    if (!Value.Check(Told, told)) return 'it is not what folkmoot offers';
    const { seed, audit } = told;
    const scenario = look(told.scenario);
    return typeof scenario === 'string' ? scenario : { scenario, seed, audit, folder };
  };
}

/** A scenario as it is told, or what is wrong with it. */
function scenarioTold(raw: unknown, folder: string, scripts: boolean): Scenario | string {
  const found = complete(raw, folder);
  if ('problem' in found)
    return `its scenario: ${found.problem.path.join('.')} ${found.problem.text}`;
  const { scenario } = found;
  if (jsonDifference(raw, scenario)) return 'its scenario is not complete';
  if (externalsIn(scenario).length > 0) return 'it asks external deciders';
  if (!scripts && scriptModules(scenario).length > 0) return 'it has scripts, and says it has none';
  return scenario;
}

/** What came of a run, without what is otherwise on every machine; of a failure one line. */
export function outcomeText(outcome: Outcome): string {
  if ('failure' in outcome) {
    const { kind, message } = outcome.failure;
    return JSON.stringify({ failure: { kind, message } });
  }
  const { result } = outcome;
  const text = JSON.stringify({
    result: Object.fromEntries(lasting.map((name) => [name, result[name]])),
  });
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_BYTES) return text;
  const message = `its result has ${bytes} bytes; a queue carries at most ${LARGEST_BYTES}`;
  return JSON.stringify({ failure: { kind: 'crash', message } });
}

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);
const exact = { additionalProperties: false };

const Result = Type.Object(
  {
    verdict: Type.Enum(['pass', 'no_progress', 'safety']),
    ended_by: text,
    broken: Type.Union([
      Type.Object({ rule: text, actor: text, expected: text, found: text }),
      Type.Null(),
    ]),
    digest: text,
    log_digest: text,
    entries: count,
    events: count,
    virtual_ms: Type.Number(),
    refused: Type.Record(text, Type.Number()),
    measures: figures,
    groups: Type.Array(Type.Record(text, Type.Union([text, figure]))),
    reported: Type.Object(
      {
        run: figures,
        groups: Type.Record(text, figures),
        missing: Type.Optional(Type.Array(text)),
      },
      exact,
    ),
  } satisfies Record<keyof Lasting, unknown>,
  exact,
);
const Failed = Type.Object(
  {
    kind: Type.Enum(['scenario', 'unanswered', 'crash']),
    message: Type.String({ maxLength: 10_000 }),
  },
  exact,
);
const Outcomes = Type.Union([
  Type.Object({ result: Result }, exact),
  Type.Object({ failure: Failed }, exact),
]);

/** Compiled: interpreted, it takes more than a millisecond for each of a sweep's results. */
const outcomeProblem = validator(Outcomes);

/** Null when it is not what a worker tells. */
export function outcomeTold(told: string): Outcome<Lasting> | null {
  const value = jsonOf(told);
  if (outcomeProblem(value)) return null;
  const outcome = value as unknown as Outcome<Lasting>;
  const broken = 'result' in outcome && outcome.result.broken !== null;
  const safety = 'result' in outcome && outcome.result.verdict === 'safety';
  return broken === safety ? outcome : null;
}

/** Undefined when it is no JSON. */
export function jsonOf(told: string): unknown {
  try {
    return JSON.parse(told);
  } catch {
    return undefined;
  }
}
