/**
 * Mutual authentication between nodes. Each node proves that it knows the shared secret without
 * sending the secret. A proof covers the peer's address and a nonce, so it cannot be replayed to a
 * different node. This module also contains the snapshot description and the protocol's limits.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from '../../engine/protocol/bundled/typebox.js';
import {
  formatMessage,
  indexGroups,
  type KeyIn,
  type MessageIn,
  type MessageTable,
  type MessageValues,
} from '../../engine/protocol/messages.js';
import { digestPattern } from '../../engine/protocol/patterns.js';
import { parseUnique } from '../../engine/protocol/repeated-members.js';
import { validator } from '../../engine/protocol/schema/validator.js';
import type { HostClock } from '../../engine/store/host-clock.js';

export interface PeerRequest {
  network: string;
  /** The peer's address, from its card. */
  to: string;
  node: string;
  /** Milliseconds since 1970. */
  at: number;
  /** Random value, new in each request. */
  nonce: string;
}

export const headers = {
  asking: 'folkmoot-peer',
  snapshot: 'folkmoot-snapshot',
  proof: 'folkmoot-proof',
} as const;

/** Returns a request's proof, in hex. */
export const proveRequest = (
  secret: string,
  { network, to, node, at, nonce }: PeerRequest,
): string => mac(secret, ['folkmoot asks for a snapshot', network, to, node, String(at), nonce]);

/** Returns the proof of a snapshot description for the request with this nonce, in hex. */
export const proveResponse = (secret: string, nonce: string, description: string): string =>
  mac(secret, ['folkmoot gives a snapshot', nonce, description]);

/** Compares in constant time. */
export function isEqualProof(proof: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [own, other] = [Buffer.from(proof), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

function mac(secret: string, parts: readonly string[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('hex');
}

export class Proofs {
  readonly #used = new Map<string, number>();

  constructor(private readonly host: HostClock) {}

  /**
   * Records a nonce. Returns false if the nonce was used before, or if too many nonces are
   * recorded.
   */
  use(nonce: string, at: number): boolean {
    const now = this.host.now();
    for (const [old, until] of this.#used) if (until < now) this.#used.delete(old);
    if (this.#used.has(nonce) || this.#used.size >= bounds.proofs) return false;
    this.#used.set(nonce, at + bounds.proofMs);
    return true;
  }
}

/**
 * Checks a secret read from a file. @throws {TypeError} if the secret is too short or spans several
 * lines.
 */
export function checkedSecret(text: string): string {
  const secret = text.trim();
  if (secret.length >= bounds.secretCharacters && !/\s/.test(secret)) return secret;
  const found = `invalid peer secret: ${secret.length} characters`;
  const expected = `expected at least ${bounds.secretCharacters} random characters on one line`;
  throw new TypeError(`${found} (${expected}); create one with openssl rand -hex 32`);
}

/** Protocol version. A peer with a different version is rejected. */
export const PROTOCOL = 1;

const Description = Type.Object(
  {
    protocol: Type.Literal(PROTOCOL),
    network: Type.String({ maxLength: 64 }),
    log: Type.String({ maxLength: 64 }),
    /** Number of the last batch that the snapshot contains. */
    version: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    sha256: Type.String({ pattern: digestPattern }),
  },
  { additionalProperties: false },
);
const descriptionProblem = validator('snapshot_description', Description);

export type SnapshotDescription = Static<typeof Description>;

export const formatDescription = (description: SnapshotDescription): string =>
  Buffer.from(JSON.stringify(description)).toString('base64url');

/** @throws {PeerError} `UNSOUND` if the header is not a description. */
export function parseDescription(header: string): SnapshotDescription {
  let found: unknown;
  try {
    found = parseUnique(Buffer.from(header, 'base64url').toString('utf8'));
  } catch {
    found = null;
  }
  if (!descriptionProblem(found)) return found as SnapshotDescription;
  throw new PeerError('INVALID_DESCRIPTION', { protocol: PROTOCOL });
}

/**
 * - `UNREACHABLE`: no response, or no response in time
 * - `REFUSED`: the peer refuses, with a reason
 * - `UNPROVEN`: the peer does not know the secret
 * - `CUT`: the transfer ended early
 * - `UNSOUND`: the data is not a snapshot, or does not follow from its own log
 * - `OTHER_NETWORK`: the snapshot belongs to a different network or order
 * - `PARTED`: the snapshot's log differs from the log at this node or a different node
 * - `NOT_AHEAD`: the snapshot is not newer than this node's data
 * - `NO_ROOM`: too little free disk space
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

/** Texts for `PeerError`; `code` is the category. */
const peerMessages = {
  UNREACHABLE: {
    NO_RESPONSE: 'no response: {reason}',
    TRANSFER_TIMEOUT: 'snapshot transfer timed out',
  },
  REFUSED: {
    PEER_REFUSED: 'peer refused with status {status} {reason}',
    SECRET_REJECTED:
      'peer refused with status {status} {reason}; use the same --peer-secret on all nodes',
    CLOCK_REJECTED:
      'peer refused with status {status} {reason}; synchronize the clocks of both nodes',
    ADDRESS_REJECTED: `peer refused with status {status} {reason};
      connect to the address that the peer announces (--peer-listen)`,
    TLS_MISMATCH: `this node {own} TLS between nodes, the peer {peer} it;
      give --cluster-cert to all nodes, or to none`,
  },
  UNPROVEN: {
    SECRET_UNPROVEN: `peer did not prove that it knows the secret;
      snapshot rejected; use the same --peer-secret on all nodes`,
  },
  CUT: {
    TRUNCATED: 'transfer ended after {received} of {bytes} bytes',
  },
  UNSOUND: {
    TOO_LONG: 'snapshot exceeds its announced size of {bytes} bytes',
    HASH_MISMATCH: 'snapshot does not match its announced SHA-256',
    INVALID_DESCRIPTION: `invalid snapshot description (expected protocol {protocol});
      run the same version on all nodes`,
    READER_DIED: 'cannot read the snapshot: the process that reads it ended with {status}',
    SNAPSHOT_UNREADABLE: 'cannot read the snapshot: {reason}',
    WRONG_END: 'snapshot ends at batch {version} (expected {expected})',
    NOT_FROM_LOG: 'snapshot {what} of entry {seq} does not follow from its log',
  },
  OTHER_NETWORK: {
    NO_ORDER: 'snapshot of a network without a cluster',
    OTHER_NETWORK: 'snapshot of another network: {found} (expected {expected})',
  },
  PARTED: {
    DIVERGED: `snapshot has digest {found} at entry {seq}, {who} has {digest};
      find the damaged folder with \`folkmoot replay\``,
  },
  NOT_AHEAD: {
    NOT_AHEAD: 'snapshot ends at batch {version}, this node is at batch {own}',
  },
  NO_ROOM: {
    DISK_FULL: 'disk full',
    NO_SPACE: 'not enough disk space: {free} bytes free for a snapshot of {bytes} bytes',
  },
} as const satisfies Partial<Record<PeerErrorCode, MessageTable>>;

const peerRows = indexGroups(peerMessages);

export type PeerProblem = KeyIn<typeof peerMessages>;

/** Failed snapshot transfer. A different peer may succeed, or the same peer later. */
export class PeerError<Problem extends PeerProblem = PeerProblem> extends Error {
  override name = 'PeerError';
  readonly code: PeerErrorCode;

  constructor(
    readonly problem: Problem,
    readonly values: MessageValues<MessageIn<typeof peerMessages, Problem>>,
    options?: ErrorOptions,
  ) {
    const { category, message } = peerRows[problem];
    super(formatMessage<string>(message, values), options);
    this.code = category;
  }
}

/** Peer protocol limits, with units in the names. */
export const bounds = {
  /** Minimum length of a secret. Shorter secrets can be guessed. */
  secretCharacters: 32,
  /** Maximum difference between two nodes' clocks, and lifetime of a recorded proof. */
  proofMs: 60_000,
  /** Maximum number of recorded proofs. Further requests are refused until some proofs expire. */
  proofs: 1_024,
  /**
   * Limits on the request head, on unauthenticated connections, and on the time to authenticate.
   */
  headBytes: 8_192,
  connections: 64,
  requestMs: 10_000,
  /** Interval at which the HTTP server enforces these timeouts. Node.js defaults to 30 s. */
  checkMs: 1_000,
  givenAtOnce: 1,
  /**
   * Interval between interim responses, which keep a connection open while a snapshot is copied.
   */
  wakeMs: 5_000,
  /** Time without received bytes after which the other side is considered dead. */
  silenceMs: 30_000,
  /** Time limit for a transfer: `wholeMs`, plus 1 s per `leastBytesPerS` bytes. */
  wholeMs: 60_000,
  leastBytesPerS: 256 * 1024,
  retryMs: 2_000,
  progressMs: 10_000,
  /** Maximum number of bytes read from an error response. */
  refusalBytes: 4_096,
} as const;

/** Returns the time limit for a transfer of this size, in milliseconds. */
export const longestMs = (bytes: number): number =>
  bounds.wholeMs + Math.ceil(bytes / bounds.leastBytesPerS) * 1_000;
