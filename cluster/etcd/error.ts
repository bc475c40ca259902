/** What may go wrong between us and etcd, and whether a write that failed so may have been done. */
import type { ServiceError } from './bundled/grpc.js';

/**
 * - `unavailable`: no member answers, or the one that was asked has no leader
 * - `out_of_space`: etcd takes no writes until somebody makes room and disarms its alarm
 * - `too_large`: a request or a value over etcd's limit (1.5 MiB unless an operator raised it)
 * - `compacted`: the revision asked for is gone; `compactRevision` is the oldest that is there
 * - `no_lease`: the lease has expired or was revoked
 * - `refused`: etcd does not want it: who we are, what we ask, or it is no etcd
 */
export type EtcdFailure =
  | 'unavailable'
  | 'out_of_space'
  | 'too_large'
  | 'compacted'
  | 'no_lease'
  | 'refused';

export class EtcdError extends Error {
  override name = 'EtcdError';
  readonly kind: EtcdFailure;
  /** Whether what was asked is surely not done, or may be: now, or by and by. */
  readonly outcome: 'not_done' | 'unknown';
  /** With `compacted` of a watch: from there on, all is there. */
  readonly compactRevision: number | null;
  /** With `unavailable`: whether the member said so, is not there, or gave no sign of life. */
  readonly member: 'answers' | 'away' | 'silent';

  constructor(
    kind: EtcdFailure,
    message: string,
    more: Partial<Pick<EtcdError, 'outcome' | 'compactRevision' | 'member'>> = {},
  ) {
    super(message);
    this.kind = kind;
    this.outcome = more.outcome ?? 'not_done';
    this.compactRevision = more.compactRevision ?? null;
    this.member = more.member ?? 'answers';
  }
}

/** What etcd or gRPC says when nothing was done; all that is not here may have been. */
const surely: readonly [says: RegExp, kind: EtcdFailure][] = [
  [/database space exceeded/, 'out_of_space'],
  [/request is too large|grpc: received message larger|Attempted to send message/, 'too_large'],
  [/has been compacted/, 'compacted'],
  [/requested lease not found/, 'no_lease'],
  // Said before it is proposed, as a request for a member with a leader is answered.
  [/etcdserver: no leader|too many requests/, 'unavailable'],
  // Said by gRPC before anything was sent.
  [/^No connection established|^Name resolution failed/, 'unavailable'],
];

/** By the numbers of gRPC: what a member says who has understood, and does not want to. */
const unwanted = new Set([
  3, // INVALID_ARGUMENT
  5, // NOT_FOUND
  6, // ALREADY_EXISTS
  7, // PERMISSION_DENIED
  9, // FAILED_PRECONDITION
  11, // OUT_OF_RANGE
  12, // UNIMPLEMENTED
  16, // UNAUTHENTICATED
]);

/** By the numbers of gRPC: nothing came in the time that a call has. */
const DEADLINE_EXCEEDED = 4;

export function errorOf({ code, details }: ServiceError, endpoint: string): EtcdError {
  const message = `etcd at ${endpoint}: ${oneLine(details)}`;
  const known = surely.find(([says]) => says.test(details));
  const said = details.includes('etcdserver: ');
  const member = code === DEADLINE_EXCEEDED ? 'silent' : said ? 'answers' : 'away';
  if (known) return new EtcdError(known[1], message, { member });
  if (unwanted.has(code)) return new EtcdError('refused', message);
  return new EtcdError('unavailable', message, { outcome: 'unknown', member });
}

/** Foreign text in a message of ours, without what TLS and gRPC say for themselves only. */
const oneLine = (text: string): string =>
  text
    .replace(
      /\S+:SSL routines:[^:]*:\S+ alert ([a-z ]+):.* alert number \d+/,
      'it refuses us by TLS: $1',
    )
    .replace(/ Resolution note: $/, '')
    .replace(/\s+/g, ' ')
    .slice(0, 300);
