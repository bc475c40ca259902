/**
 * Queue formats: the head, which names the build and the runs' limits, the files that are
 * transferred with the queue, a job on its way to a worker, and the outcome on its way back.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseJsonOrUndefined } from '../../cluster/order/order.js';
import { LARGEST_BYTES } from '../../cluster/queue/claims.js';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import { jsonDifference } from '../../engine/protocol/canonical.js';
import { defineFailures } from '../../engine/protocol/messages.js';
import { digestPattern } from '../../engine/protocol/patterns.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import { sha256Hex } from '../../engine/protocol/signing.js';
import { excerpt } from '../../engine/protocol/text.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import type { Provenance } from '../../report/folder.js';
import { type Job, type LastingResult, lastingMembers, type Outcome } from '../run/jobs.js';
import { complete } from '../scenario/complete.js';
import { fileInside } from '../scenario/files.js';
import { listExternals, scriptModules } from '../scenario/population.js';
import { problemText } from '../scenario/problem.js';
import type { Scenario } from '../scenario/schema/scenario.js';

/** The queue cannot carry a run or file, or contains invalid data. A user can correct this. */
export const queueError = defineFailures('user', {
  EXTERNAL_DECIDERS:
    'external deciders do not work with a queue; run without --queue, or in shards',
  LOCAL_JOB: `a run that is kept or watched on this machine cannot go through a queue;
    run without --keep, or in shards with --shard i/n`,
  SCENARIO_TOO_LARGE: `scenario too large for a queue: {bytes} bytes (limit {limit});
    run the sweep in shards with --shard i/n`,
  TOO_MANY_FILES: 'too many files for a queue: {count}',
  FILE_UNUSABLE: 'a file of the scenario {reason}',
  FILE_CHANGED: 'file changed since the start of the sweep: {path}',
  FILES_TOO_LARGE: `files of the scenario too large for a queue (limit {limit} bytes);
    run the sweep in shards with --shard i/n`,
  RELATIVE_IMPORT: `script imports a file that a queue does not transfer: {path} imports {imported};
    bundle the script into one file, or run the sweep in shards with --shard i/n`,
  WRONG_HASH: 'file does not match its size and hash in the queue: {path}',
  INVALID_RESULTS: `invalid results for run {run}: {count};
    find the client that writes to this queue, then continue with --resume`,
});

/** @throws {Failure} if the job can run only on this machine, or is too large. */
export function formatJob(job: Job): string {
  const { scenario, seed, audit = true, log = 'full', watch, keep, deciders } = job;
  if (listExternals(scenario).length > 0) throw queueError('EXTERNAL_DECIDERS', {});
  if (watch !== undefined || keep !== undefined || deciders !== undefined) {
    throw queueError('LOCAL_JOB', {});
  }
  const text = JSON.stringify({ scenario, seed, audit, log });
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_BYTES) return text;
  throw queueError('SCENARIO_TOO_LARGE', { bytes, limit: LARGEST_BYTES });
}

/** Nesting limit for values in a queue. The deepest scenario stays far below. */
const DEEPEST = 64;

/** Parses JSON of bounded depth, on which recursive checks are safe. */
export function parseQueued(text: Buffer | string): unknown {
  const value = parseJsonOrUndefined(text.toString());
  return isDeeper(value, DEEPEST) ? undefined : value;
}

const isDeeper = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => isDeeper(member, depth - 1)));

const Told = Type.Object({
  scenario: Type.Unknown(),
  seed: Type.String(),
  audit: Type.Boolean(),
  log: Type.Optional(Type.Enum(['full', 'none'])),
});
const jobProblem = validator('queue_job', Told);

/** Number of cached scenarios. A sweep uses one scenario per cell. */
const REMEMBERED = 64;

/**
 * Returns a job parser. For an invalid job, the parser returns a problem as text. Jobs are not
 * trusted, because every etcd client can write them.
 *
 * @param folder folder that contains the queue's files.
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
    const told = parseQueued(body);
    if (jobProblem(told)) return 'invalid job';
    const { seed, audit, log = 'full', scenario: raw } = told as Static<typeof Told>;
    const scenario = look(raw);
    return typeof scenario === 'string' ? scenario : { scenario, seed, audit, log, folder };
  };
}

/** Returns the validated scenario, or a description of its problem. */
function scenarioTold(raw: unknown, folder: string, scripts: boolean): Scenario | string {
  const found = complete(raw, folder);
  if ('problems' in found) return `invalid scenario: ${problemText(found.problems[0]!)}`;
  const { scenario } = found;
  if (jsonDifference(raw, scenario)) return 'incomplete scenario';
  if (listExternals(scenario).length > 0) return 'scenario uses external deciders';
  if (!scripts && scriptModules(scenario).length > 0)
    return 'scenario has scripts, but the queue declares none';
  return scenario;
}

/** Length limit of a failure's message, which a script can choose. */
const LONGEST_MESSAGE = 10_000;

/** Formats an outcome without members that differ between machines. A failure is one line. */
export function formatOutcome(outcome: Outcome): string {
  if ('failure' in outcome) {
    const { kind, message } = outcome.failure;
    return JSON.stringify({ failure: { kind, message: message.slice(0, LONGEST_MESSAGE) } });
  }
  const { result } = outcome;
  const text = JSON.stringify({
    result: Object.fromEntries(lastingMembers.map((name) => [name, result[name]])),
  });
  const bytes = Buffer.byteLength(text);
  if (bytes <= LARGEST_BYTES) return text;
  const message = `result too large: ${bytes} bytes (limit ${LARGEST_BYTES})`;
  return JSON.stringify({ failure: { kind: 'crash', message } });
}

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const figure = Type.Union([Type.Number(), Type.Null()]);
const figures = Type.Record(text, figure);
const exact = { additionalProperties: false };

const Result = Type.Object(
  {
    verdict: Type.Enum(['pass', 'no_progress', 'conflict', 'safety']),
    ended_by: text,
    broken: Type.Union([
      Type.Object({ rule: text, actor: text, expected: text, found: text }),
      Type.Null(),
    ]),
    digest: text,
    log_digest: text,
    trace_digest: Type.Optional(text),
    entries: count,
    events: count,
    virtual_ms: Type.Number(),
    refused: Type.Record(text, Type.Number()),
    interventions: Type.Optional(
      Type.Array(
        Type.Object({ what: text, when: text, at_ms: figure, entry: figure, did: count }, exact),
      ),
    ),
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
    message: Type.String({ maxLength: LONGEST_MESSAGE }),
  },
  exact,
);
const Outcomes = Type.Union([
  Type.Object({ result: Result }, exact),
  Type.Object({ failure: Failed }, exact),
]);

const outcomeProblem = validator('queue_outcomes', Outcomes);

/** Parses an outcome. Returns null for text that no worker writes. */
export function parseOutcome(told: string): Outcome<LastingResult> | null {
  const value = parseQueued(told);
  if (outcomeProblem(value)) return null;
  const outcome = value as unknown as Outcome<LastingResult>;
  const broken = 'result' in outcome && outcome.result.broken !== null;
  const safety = 'result' in outcome && outcome.result.verdict === 'safety';
  return broken === safety ? outcome : null;
}

const FORMAT = 1;

/** Longest delay of a timer. A longer delay would end every run at once. */
const MOST_WALL_MS = 2_147_483_647;
const MOST_MEMORY_MB = 1_048_576;

const CarriedFile = Type.Object({
  /** Path relative to the scenario's folder. */
  path: Type.String({ maxLength: 1_000 }),
  sha256: Type.String({ pattern: digestPattern }),
  bytes: Type.Integer({ minimum: 0 }),
});
type CarriedFile = Static<typeof CarriedFile>;

const Head = Type.Object({
  format: Type.Literal(FORMAT),
  /** Title shown to a worker's operator. */
  title: Type.String({ maxLength: 1_000 }),
  made: Type.Object({
    version: Type.String(),
    commit: Type.Union([Type.String(), Type.Null()]),
    node: Type.String(),
  }),
  limits: Type.Object({
    wallMs: Type.Integer({ minimum: 1, maximum: MOST_WALL_MS }),
    memoryMb: Type.Integer({ minimum: 16, maximum: MOST_MEMORY_MB }),
  }),
  /** True if some files are programs. */
  scripts: Type.Boolean(),
  files: Type.Array(CarriedFile),
});
export type QueueHead = Omit<Static<typeof Head>, 'format'>;

const headProblem = validator('queue_head', Head);

/** @throws {Failure} if there are too many files. */
export function formatHead(head: QueueHead): string {
  const text = JSON.stringify({ format: FORMAT, ...head });
  if (Buffer.byteLength(text) <= LARGEST_BYTES) return text;
  throw queueError('TOO_MANY_FILES', { count: head.files.length });
}

export function parseHead(body: Buffer): QueueHead | null {
  const told = parseQueued(body);
  return headProblem(told) ? null : (told as QueueHead);
}

/** Returns null for an identical build. A different build may give different results. */
export function describeBuildMismatch({ made }: QueueHead, own: Provenance): string | null {
  const found = jsonDifference(pick(made), pick(own));
  return found && `${found.path} is ${found.a} there and ${found.b} here`;
}

const pick = ({ version, commit, node }: Provenance) => ({ version, commit, node });

/** Limit on the total size of a queue's files. */
const CARRIED_BYTES = 32 * 1_048_576;

/** Files used by a sweep's scenarios. */
export interface NamedFiles {
  folder: string;
  /** SHA-256 hashes by path. */
  modules: Readonly<Record<string, string>>;
  /** Paths of files that are programs. */
  scripts: readonly string[];
}

/** Matches a script's relative imports, except type imports. Imported files are not transferred. */
const beside = [
  /(?:^|[\n;])\s*(?:im|ex)port(?!\s+type\b)[^'";]*?['"](\.{1,2}\/[^'"]*)['"]/,
  /\b(?:require|import)\(\s*['"](\.{1,2}\/[^'"]*)['"]/,
];

/** @throws {Failure} if a file cannot be carried. */
export function readFiles({
  folder,
  modules,
  scripts,
}: NamedFiles): (CarriedFile & { body: Buffer })[] {
  let total = 0;
  return Object.entries(modules).map(([path, expected]) => {
    const found = fileInside(path, folder, 'a file');
    if ('text' in found) throw queueError('FILE_UNUSABLE', { reason: found.text });
    const body = readBounded(found.file, fileBounds.result);
    const sha256 = sha256Hex(body);
    if (sha256 !== expected) throw queueError('FILE_CHANGED', { path });
    total += body.length;
    if (total > CARRIED_BYTES) throw queueError('FILES_TOO_LARGE', { limit: CARRIED_BYTES });
    if (scripts.includes(path)) assertNoImports(path, body.toString('utf8'));
    return { path: posix.normalize(path), sha256, bytes: body.length, body };
  });
}

function assertNoImports(path: string, text: string): void {
  const neighbour = beside.map((pattern) => pattern.exec(text)?.[1]).find(Boolean);
  if (neighbour === undefined) return;
  throw queueError('RELATIVE_IMPORT', { path, imported: neighbour });
}

/** Longest name of a file that every common file system accepts, in bytes. */
const LONGEST_NAME = 255;

/** Returns why the files cannot be written, or null. A queue can be from an untrusted client. */
export function findFilesProblem(files: readonly CarriedFile[]): string | null {
  const folders = new Set<string>();
  const names = new Set<string>();
  for (const { path } of files) {
    const parts = path.split('/');
    if (!parts.every(isPlainName)) return `unsafe path: ${excerpt(path)}`;
    for (let end = 1; end < parts.length; end += 1) folders.add(parts.slice(0, end).join('/'));
    names.add(path);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > CARRIED_BYTES) return `files too large: ${bytes} bytes (limit ${CARRIED_BYTES})`;
  const clash = [...names].find((name) => folders.has(name));
  return clash === undefined ? null : `file and folder of one name: ${excerpt(clash)}`;
}

const isPlainName = (name: string): boolean =>
  /^[^\\:\0]+$/.test(name) &&
  name !== '.' &&
  name !== '..' &&
  Buffer.byteLength(name) <= LONGEST_NAME;

/** @throws {Failure} if the content does not match its hash. */
export function writeFile(
  folder: string,
  { path, sha256, bytes }: CarriedFile,
  body: Buffer,
): void {
  if (body.length !== bytes || sha256Hex(body) !== sha256) throw queueError('WRONG_HASH', { path });
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, body);
}
