/**
 * The messages of a queue as texts that last: the head, which says by which build and within which
 * limits its runs are made, the files that travel with it, a run on its way to a worker, and its
 * result on the way back.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseJsonOrUndefined } from '../../cluster/order/order.js';
import { LARGEST_BYTES } from '../../cluster/queue/claims.js';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import type { Provenance } from '../../report/folder.js';
import { jsonDifference } from '../compare/logs.js';
import {
  type Job,
  type JobLimits,
  type LastingResult,
  lastingMembers,
  type Outcome,
} from '../run/jobs.js';
import { complete } from '../scenario/complete.js';
import { fileInside } from '../scenario/files.js';
import { listExternals, scriptModules } from '../scenario/population.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** Something that a queue cannot carry, or that is none: a user can mend it. */
export class QueueError extends Error {
  override name = 'QueueError';
}

/** @throws {QueueError} for a run that only this machine can do, or that is too large. */
export function formatJob({ scenario, seed, audit = true, watch, keep, deciders }: Job): string {
  if (listExternals(scenario).length > 0) {
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
const jobProblem = validator('queue_job', Told);

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
    const told = parseJsonOrUndefined(body.toString('utf8'));
    if (jobProblem(told)) return 'it is not what folkmoot offers';
    const { seed, audit, scenario: raw } = told as Static<typeof Told>;
    const scenario = look(raw);
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
  if (listExternals(scenario).length > 0) return 'it asks external deciders';
  if (!scripts && scriptModules(scenario).length > 0) return 'it has scripts, and says it has none';
  return scenario;
}

/** What came of a run, without what is otherwise on every machine; of a failure one line. */
export function formatOutcome(outcome: Outcome): string {
  if ('failure' in outcome) {
    const { kind, message } = outcome.failure;
    return JSON.stringify({ failure: { kind, message } });
  }
  const { result } = outcome;
  const text = JSON.stringify({
    result: Object.fromEntries(lastingMembers.map((name) => [name, result[name]])),
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
  } satisfies Record<keyof LastingResult, unknown>,
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

const outcomeProblem = validator('queue_outcomes', Outcomes);

/** Null when it is not what a worker tells. */
export function parseOutcome(told: string): Outcome<LastingResult> | null {
  const value = parseJsonOrUndefined(told);
  if (outcomeProblem(value)) return null;
  const outcome = value as unknown as Outcome<LastingResult>;
  const broken = 'result' in outcome && outcome.result.broken !== null;
  const safety = 'result' in outcome && outcome.result.verdict === 'safety';
  return broken === safety ? outcome : null;
}

/** Of what lies in a queue; a build that says it otherwise takes another number. */
const FORMAT = 1;

interface CarriedFile {
  /** From the folder of the scenario. */
  path: string;
  sha256: string;
  bytes: number;
}

export interface QueueHead {
  /** In words, for whoever looks at a worker. */
  title: string;
  made: Provenance;
  limits: JobLimits;
  /** Whether some of the files are programs. */
  scripts: boolean;
  files: CarriedFile[];
}

const Head = Type.Object({
  format: Type.Literal(FORMAT),
  title: Type.String({ maxLength: 1_000 }),
  made: Type.Object({
    version: Type.String(),
    commit: Type.Union([Type.String(), Type.Null()]),
    node: Type.String(),
  }),
  limits: Type.Object({
    wallMs: Type.Integer({ minimum: 1 }),
    memoryMb: Type.Integer({ minimum: 16 }),
  }),
  scripts: Type.Boolean(),
  files: Type.Array(
    Type.Object({
      path: Type.String({ maxLength: 1_000 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      bytes: Type.Integer({ minimum: 0 }),
    }),
  ),
});
const headProblem = validator('queue_head', Head);

/** @throws {QueueError} */
export function formatHead(head: QueueHead): string {
  const text = JSON.stringify({ format: FORMAT, ...head });
  if (Buffer.byteLength(text) <= LARGEST_BYTES) return text;
  throw new QueueError(`a queue cannot carry so many files: ${head.files.length}`);
}

/** Null when it is none. */
export function parseHead(body: Buffer): QueueHead | null {
  const told = parseJsonOrUndefined(body.toString('utf8'));
  return headProblem(told) ? null : (told as QueueHead);
}

/** Null for the same build: what another one makes of a scenario may be something else. */
export function describeBuildMismatch({ made }: QueueHead, own: Provenance): string | null {
  const found = jsonDifference(pick(made), pick(own));
  return found && `${found.path} is ${found.a} there and ${found.b} here`;
}

const pick = ({ version, commit, node }: Provenance) => ({ version, commit, node });

/** Files of a queue, together. */
const CARRIED_BYTES = 32 * 1_048_576;

/** What a sweep knows of the files of its scenarios. */
export interface NamedFiles {
  folder: string;
  /** sha256 of each, by its path. */
  modules: Readonly<Record<string, string>>;
  /** Those of them that are programs. */
  scripts: readonly string[];
}

/** What a script takes from a file beside it, types aside: it does not travel. */
const beside = [
  /(?:^|[\n;])\s*(?:im|ex)port(?!\s+type\b)[^'";]*?['"](\.{1,2}\/[^'"]*)['"]/,
  /\b(?:require|import)\(\s*['"](\.{1,2}\/[^'"]*)['"]/,
];

/** @throws {QueueError} for what cannot be carried. */
export function readFiles({
  folder,
  modules,
  scripts,
}: NamedFiles): (CarriedFile & { body: Buffer })[] {
  let total = 0;
  return Object.entries(modules).map(([path, expected]) => {
    const found = fileInside(path, folder, 'a file');
    if ('why' in found) throw new QueueError(`a file of the scenario ${found.why}`);
    const body = readBounded(found.file, fileBounds.result);
    const sha256 = sha256Hex(body);
    if (sha256 !== expected) throw new QueueError(`${path} has changed since the sweep was begun`);
    total += body.length;
    if (total > CARRIED_BYTES) {
      throw new QueueError(
        `the files of the scenario are larger than ${CARRIED_BYTES} bytes, which is what a queue ` +
          'carries; run the sweep in shards: --shard i/n',
      );
    }
    if (scripts.includes(path)) refuseNeighbours(path, body.toString('utf8'));
    return { path: posix.normalize(path), sha256, bytes: body.length, body };
  });
}

function refuseNeighbours(path: string, text: string): void {
  const neighbour = beside.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
  if (neighbour === undefined) return;
  throw new QueueError(
    `script ${path} imports ${neighbour}, which does not travel with a queue: put it into one ` +
      'file, or run the sweep in shards: --shard i/n',
  );
}

/** Why a file of somebody else's queue is not written; null when it may be. */
export function pathProblem({ path }: CarriedFile): string | null {
  const parts = path.split('/');
  const plain = parts.every((part) => /^[^\\:\0]+$/.test(part) && part !== '.' && part !== '..');
  return plain ? null : `the path ${JSON.stringify(path)} leads elsewhere`;
}

/** @throws {QueueError} when it is not what was announced. */
export function writeFile(folder: string, { path, sha256 }: CarriedFile, body: Buffer): void {
  if (sha256Hex(body) !== sha256) throw new QueueError(`${path} is not as the queue announced it`);
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, body);
}
