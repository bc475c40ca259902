/**
 * Mutual authentication of nodes: both prove that they know the shared secret, and neither sends
 * it. A proof is bound to the address that is asked and to the question, so it cannot be passed on
 * to another node. Also the description of a snapshot and the limits of the protocol.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Type } from '../../engine/protocol/bundled/typebox.js';
import { validator } from '../../engine/protocol/schema/validator.js';

/** What a node asks a peer with. */
export interface PeerRequest {
  network: string;
  /** The peer's address, as its card has it. */
  to: string;
  node: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Drawn for this request. */
  nonce: string;
}

/** Names of the headers by which both sides know each other. */
export const headers = {
  asking: 'folkmoot-peer',
  snapshot: 'folkmoot-snapshot',
  proof: 'folkmoot-proof',
} as const;

/** Hex. */
export const proveRequest = (
  secret: string,
  { network, to, node, at, nonce }: PeerRequest,
): string => mac(secret, ['folkmoot asks for a snapshot', network, to, node, String(at), nonce]);

/** Of a snapshot's description, for whoever drew the nonce; hex. */
export const proveResponse = (secret: string, nonce: string, description: string): string =>
  mac(secret, ['folkmoot gives a snapshot', nonce, description]);

/** Takes as long whatever differs. */
export function isEqualProof(proof: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [own, other] = [Buffer.from(proof), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

function mac(secret: string, parts: readonly string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
}

/** Each proof of a request holds once. */
export class Proofs {
  readonly #used = new Map<string, number>();

  /** Notes it; false where it was used before, or too many are remembered. */
  use(nonce: string, at: number): boolean {
    const now = Date.now();
    for (const [old, until] of this.#used) if (until < now) this.#used.delete(old);
    if (this.#used.has(nonce) || this.#used.size >= bounds.proofs) return false;
    this.#used.set(nonce, at + bounds.proofMs);
    return true;
  }
}

/** @throws {TypeError} where it is too short, or has no end. */
export function checkedSecret(text: string): string {
  const secret = text.trim();
  if (secret.length >= bounds.secretCharacters && !/\s/.test(secret)) return secret;
  const expected = `expected at least ${bounds.secretCharacters}, drawn by chance, in one line`;
  throw new TypeError(`a secret of ${secret.length} characters; ${expected}: openssl rand -hex 32`);
}

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
const descriptionProblem = validator('snapshot_description', Description);

export interface SnapshotDescription {
  protocol: typeof PROTOCOL;
  network: string;
  log: string;
  version: number;
  bytes: number;
  sha256: string;
}

export const formatDescription = (description: SnapshotDescription): string =>
  Buffer.from(JSON.stringify(description)).toString('base64url');

/** @throws {PeerError} `UNSOUND` */
export function parseDescription(header: string): SnapshotDescription {
  let found: unknown;
  try {
    found = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
  } catch {
    found = null;
  }
  if (!descriptionProblem(found)) return found as SnapshotDescription;
  const expected = `expected one of protocol ${PROTOCOL}: all nodes must run the same version`;
  throw new PeerError('UNSOUND', `it sends no description of a snapshot; ${expected}`);
}

/**
 * Why a node does not get, or give, a snapshot.
 *
 * - `UNREACHABLE`: nobody answers there, or not in time
 * - `REFUSED`: the peer gives none, and says why
 * - `UNPROVEN`: whoever answers does not know the secret of the nodes
 * - `CUT`: it ended before it was whole
 * - `UNSOUND`: what came is no snapshot, or does not follow from its own log
 * - `OTHER_NETWORK`: it is of another network, or of another order
 * - `PARTED`: it does not continue this node's own log, or is not what other nodes told of
 * - `NOT_AHEAD`: it goes no further than what this node has
 * - `NO_ROOM`: the disk has too little free space for it
 */
export type PeerErrorCode =
  | 'UNREACHABLE'
  | 'REFUSED'
  | 'UNPROVEN'
  | 'CUT'
  | 'UNSOUND'
  | 'OTHER_NETWORK'
  | 'PARTED'
  | 'NOT_AHEAD'
  | 'NO_ROOM';

/** Another peer may do better, or the same one later. */
export class PeerError extends Error {
  override name = 'PeerError';

  constructor(
    readonly code: PeerErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Every bound of what nodes give each other, units in the names. */
export const bounds = {
  /** A secret that is shorter can be guessed. */
  secretCharacters: 32,
  /** How far the clocks of two nodes may be apart, and for how long a proof is remembered. */
  proofMs: 60_000,
  /** Proofs that are remembered; beyond, nothing more is given for a while. */
  proofs: 1_024,
  /** Limits of a request's head, of connections without a proof, and of the time until it comes. */
  headBytes: 8_192,
  connections: 64,
  requestMs: 10_000,
  /** How often Node's server compares connections with these times; by default every 30 s. */
  checkMs: 1_000,
  /** Snapshots that are made or given at a time. */
  givenAtOnce: 1,
  /** What keeps a connection awake while a snapshot is made. */
  wakeMs: 5_000,
  /** Without a byte for so long the other side is gone. */
  silenceMs: 30_000,
  /** A snapshot may take so long, and a second more for each so many bytes. */
  wholeMs: 60_000,
  leastBytesPerS: 256 * 1024,
  /** How long whoever has found nobody waits before it asks all again. */
  retryMs: 2_000,
  /** How often it is told how far it is. */
  progressMs: 10_000,
  /** What is read of an answer that is no snapshot. */
  refusalBytes: 4_096,
} as const;

/** How long a snapshot of that size may be on its way, in milliseconds. */
export const longestMs = (bytes: number): number =>
  bounds.wholeMs + Math.ceil(bytes / bounds.leastBytesPerS) * 1_000;
