/** What a peer says of a snapshot before its bytes: a header, which the proof covers. */
import { Type, Value } from '../../engine/internal.js';
import { PeerError } from './error.js';

/** Of what is written here: who finds another number must not guess. */
export const PROTOCOL = 1;

const Description = Type.Object(
  {
    protocol: Type.Literal(PROTOCOL),
    network: Type.String({ maxLength: 64 }),
    /** Names the order that it has gone by. */
    log: Type.String({ maxLength: 64 }),
    /** How many batches of it are in there. */
    version: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
);

export interface SnapshotDescription {
  protocol: typeof PROTOCOL;
  network: string;
  log: string;
  version: number;
  bytes: number;
  sha256: string;
}

export const describe = (description: SnapshotDescription): string =>
  Buffer.from(JSON.stringify(description)).toString('base64url');

/** @throws {PeerError} `UNSOUND` */
export function described(header: string): SnapshotDescription {
  let found: unknown;
  try {
    found = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
  } catch {
    found = null;
  }
  if (Value.Check(Description, found)) return found as SnapshotDescription;
  const expected = `expected one of protocol ${PROTOCOL}: all nodes must run the same version`;
  throw new PeerError('UNSOUND', `it sends no description of a snapshot; ${expected}`);
}
