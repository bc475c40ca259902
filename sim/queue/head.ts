/** What a queue says of all its runs: by which build, with which files, within which limits. */
import { LARGEST_BYTES } from '../../cluster/queue/index.js';
import { Type, Value } from '../../engine/internal.js';
import type { Provenance } from '../../report/provenance.js';
import { jsonDifference } from '../compare/json.js';
import type { JobLimits } from '../run/jobs/index.js';
import { jsonOf, QueueError } from './told.js';

/** Of what lies in a queue; a build that says it otherwise takes another number. */
const FORMAT = 1;

export interface CarriedFile {
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

/** @throws {QueueError} */
export function headText(head: QueueHead): string {
  const text = JSON.stringify({ format: FORMAT, ...head });
  if (Buffer.byteLength(text) <= LARGEST_BYTES) return text;
  throw new QueueError(`a queue cannot carry so many files: ${head.files.length}`);
}

/** Null when it is none. */
export function headTold(body: Buffer): QueueHead | null {
  const told = jsonOf(body.toString('utf8'));
  return Value.Check(Head, told) ? (told as unknown as QueueHead) : null;
}

/** Null for the same build: what another one makes of a scenario may be something else. */
export function otherBuild({ made }: QueueHead, own: Provenance): string | null {
  const found = jsonDifference(pick(made), pick(own));
  return found && `${found.path} is ${found.a} there and ${found.b} here`;
}

const pick = ({ version, commit, node }: Provenance) => ({ version, commit, node });
