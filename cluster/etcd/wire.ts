/**
 * etcd protocol messages as decoded with etcd.proto (64-bit integers as strings, keys and values as
 * bytes), client errors, endpoints and TLS files.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import {
  defineFailures,
  Failure,
  indexGroups,
  type KeyIn,
  type MessageIn,
  type MessageTable,
  type MessageValues,
  withFix,
} from '../../engine/protocol/messages.js';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import type { MethodDefinition, ServiceError } from './bundled/grpc.js';

interface Header {
  member_id: string;
  revision: string;
}

export interface WireKeyValue {
  key: Buffer;
  value: Buffer;
  create_revision: string;
  mod_revision: string;
  version: string;
  lease: string;
}

export interface RangeResponse {
  header: Header;
  kvs: WireKeyValue[];
  more: boolean;
  count: string;
}

interface PutResponse {
  header: Header;
}

export interface DeleteRangeResponse {
  header: Header;
  deleted: string;
}

/** Exactly one member is present. */
export interface ResponseOp {
  response_range?: RangeResponse;
  response_put?: PutResponse;
  response_delete_range?: DeleteRangeResponse;
}

export interface WatchResponse {
  header: Header;
  created: boolean;
  canceled: boolean;
  compact_revision: string;
  cancel_reason: string;
  events: { type: 'PUT' | 'DELETE'; kv: WireKeyValue }[];
}

interface LeaseGrantResponse {
  header: Header;
  ID: string;
  TTL: string;
}

interface StatusResponse {
  header: Header;
  version: string;
  dbSize: string;
  leader: string;
}

/** Responses by method, or the messages in the method's stream. */
export interface Answers {
  'KV/Range': RangeResponse;
  'KV/Put': PutResponse;
  'KV/DeleteRange': DeleteRangeResponse;
  'KV/Txn': { header: Header; succeeded: boolean; responses: ResponseOp[] };
  'KV/Compact': PutResponse;
  'Watch/Watch': WatchResponse;
  'Lease/LeaseGrant': LeaseGrantResponse;
  'Lease/LeaseRevoke': PutResponse;
  'Lease/LeaseKeepAlive': LeaseGrantResponse;
  'Maintenance/Alarm': { alarms: { memberID: string; alarm: 'NONE' | 'NOSPACE' | 'CORRUPT' }[] };
  'Maintenance/Status': StatusResponse;
}

export type MethodName = keyof Answers;
type Methods = {
  [Name in MethodName]: MethodDefinition<object, Answers[Name]>;
};

type Grpc = typeof import('./bundled/grpc.js');
let loaded: { grpc: Grpc; methods: Methods } | undefined;

/** Loads gRPC and the protocol's methods on first use, which takes 60 ms. */
export function loadGrpc(): { grpc: Grpc; methods: Methods } {
  if (loaded) return loaded;
  const grpc = createRequire(import.meta.url)('./bundled/grpc.cjs') as Grpc;
  const file = fileURLToPath(new URL('../../../cluster/etcd/etcd.proto', import.meta.url));
  const read = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
  const definition = grpc.loadSync(file, read);
  const methods: Record<string, unknown> = {};
  for (const service of ['KV', 'Watch', 'Lease', 'Maintenance']) {
    const found = definition[`etcdserverpb.${service}`] as Record<string, unknown>;
    for (const [name, method] of Object.entries(found)) methods[`${service}/${name}`] = method;
  }
  loaded = { grpc, methods: methods as Methods };
  return loaded;
}

/**
 * - `unavailable`: no member answers, or the member knows no leader
 * - `out_of_space`: etcd rejects writes until an operator frees space and disarms the alarm
 * - `too_large`: request or value above etcd's limit (1.5 MiB by default)
 * - `compacted`: the revision was compacted; `compactRevision` is the oldest available revision
 * - `no_lease`: the lease expired or was revoked
 * - `refused`: etcd rejects the credentials or the request, or the server is not etcd
 */
type EtcdFailure =
  | 'unavailable'
  | 'out_of_space'
  | 'too_large'
  | 'compacted'
  | 'no_lease'
  | 'refused';

/** Messages of `EtcdError`, by kind. */
const etcdMessages = {
  unavailable: {
    UNAVAILABLE: 'etcd at {endpoint}: {details}',
    CLIENT_CLOSED: 'etcd client is closed',
    CONNECT_TIMEOUT: `etcd at {endpoint}: no connection within {connectMs} ms;
      check the address and that the member runs`,
    CALL_ENDED: 'etcd at {endpoint}: call ended without a response',
    WATCH_CANCELED: 'etcd at {endpoint}: watch canceled: {reason}',
    WATCH_SILENT: 'etcd at {endpoint}: no response on a watch',
  },
  out_of_space: {
    OUT_OF_SPACE:
      'etcd at {endpoint}: {details}; compact and defragment etcd, then disarm its alarm',
  },
  too_large: {
    TOO_LARGE: 'etcd at {endpoint}: {details}',
  },
  compacted: {
    COMPACTED: 'etcd at {endpoint}: {details}',
    WATCH_COMPACTED: 'etcd at {endpoint}: revisions before {revision} were compacted',
  },
  no_lease: {
    NO_LEASE: 'etcd at {endpoint}: {details}',
    LEASE_EXPIRED: 'etcd lease expired: {lease}',
  },
  refused: {
    REFUSED: 'etcd at {endpoint}: {details}',
  },
} as const satisfies Record<EtcdFailure, MessageTable>;

const etcdRows = indexGroups(etcdMessages);

type EtcdProblem = KeyIn<typeof etcdMessages>;

export class EtcdError<Problem extends EtcdProblem = EtcdProblem> extends Failure<Problem> {
  override name = 'EtcdError';
  readonly kind: EtcdFailure;
  /** `unknown` if the request may have been executed or may yet be executed. */
  readonly outcome: 'not_done' | 'unknown';
  /** Oldest revision available to a watch that was `compacted`. */
  readonly compactRevision: number | null;
  /**
   * The member's state when `unavailable`: it responds with an error, is unreachable, or is silent.
   */
  readonly member: 'answers' | 'away' | 'silent';

  constructor(
    problem: Problem,
    values: MessageValues<MessageIn<typeof etcdMessages, Problem>>,
    more: Partial<Pick<EtcdError, 'outcome' | 'compactRevision' | 'member'>> = {},
  ) {
    const { category, message } = etcdRows[problem];
    super('server', problem, withFix(message, values));
    this.kind = category;
    this.outcome = more.outcome ?? 'not_done';
    this.compactRevision = more.compactRevision ?? null;
    this.member = more.member ?? 'answers';
  }
}

/**
 * etcd and gRPC messages which mean that nothing was done. After any other message, the request may
 * have been executed.
 */
const surely: readonly [says: RegExp, problem: FailedCall][] = [
  [/database space exceeded/, 'OUT_OF_SPACE'],
  [/request is too large|grpc: received message larger|Attempted to send message/, 'TOO_LARGE'],
  [/has been compacted/, 'COMPACTED'],
  [/requested lease not found/, 'NO_LEASE'],
  // Sent before the request is proposed to the cluster, if the member knows no leader.
  [/etcdserver: no leader|too many requests/, 'UNAVAILABLE'],
  // Reported by gRPC before anything was sent.
  [/^No connection established|^Name resolution failed/, 'UNAVAILABLE'],
];

/** gRPC status codes from a member that understood the request and rejects it. */
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

/** gRPC status code for a call that timed out. */
const DEADLINE_EXCEEDED = 4;

/** Message rows for a failed call, which all take the same values. */
type FailedCall =
  | 'UNAVAILABLE'
  | 'OUT_OF_SPACE'
  | 'TOO_LARGE'
  | 'COMPACTED'
  | 'NO_LEASE'
  | 'REFUSED';

export function toEtcdError(
  { code, details }: Pick<ServiceError, 'code' | 'details'>,
  endpoint: string,
): EtcdError {
  const values = { endpoint, details: oneLine(details) };
  const known = surely.find(([says]) => says.test(details));
  const said = details.includes('etcdserver: ');
  const member = code === DEADLINE_EXCEEDED ? 'silent' : said ? 'answers' : 'away';
  if (known) return new EtcdError(known[1], values, { member });
  if (unwanted.has(code)) return new EtcdError('REFUSED', values);
  return new EtcdError('UNAVAILABLE', values, { outcome: 'unknown', member });
}

/** Reduces a text to one line, without TLS and gRPC internals. */
const oneLine = (text: string): string =>
  text
    .replace(
      /\S+:SSL routines:[^:]*:\S+ alert ([a-z ]+):.* alert number \d+/,
      'TLS connection rejected: $1',
    )
    .replace(/ Resolution note: $/, '')
    .replace(/\s+/g, ' ')
    .slice(0, 300);

const DEFAULT_PORT = 2379;
/** Larger clusters are a mistake, since etcd recommends at most 7 members. */
const MOST_ENDPOINTS = 16;

/** Usage error for an invalid address or an unusable TLS file. */
const addressError = defineFailures('user', {
  INVALID_ADDRESS:
    'invalid etcd address: {address} (expected etcd://HOST:PORT, or a comma-separated list)',
  INVALID_MEMBER: 'invalid etcd member: {member} in {address} (expected HOST:PORT)',
  TOO_MANY_MEMBERS: 'too many etcd members: {count} in {address} (limit {limit})',
  CERTIFICATE_WITHOUT_KEY: 'client certificate and key belong together; give both, or none',
  FILE_UNREADABLE: 'cannot read TLS file: {path}: {reason}',
  NOT_PEM: 'invalid TLS file: {path} (expected PEM, with a line -----BEGIN ...)',
});

/** CA certificates, client certificate and its key, as PEM bytes. */
export interface EtcdTls {
  /** Default: the CAs built into Node.js. */
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/**
 * Parses an address into each member's `host:port`.
 *
 * @throws {Failure}
 */
export function parseEndpoints(address: string): string[] {
  const [, list] = /^etcd:\/\/([^/?#@\s]+)\/?$/.exec(address) ?? [];
  if (list === undefined) {
    throw addressError('INVALID_ADDRESS', {
      // An address without a scheme can have a password too.
      address: JSON.stringify(address.replace(/^(\w+:\/\/)?.*@/s, '$1***@')),
    });
  }
  const endpoints = list.split(',').map((part) => {
    const [, host, port = String(DEFAULT_PORT)] =
      /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(part) ?? [];
    if (host !== undefined && 1 <= Number(port) && Number(port) <= 65_535) return `${host}:${port}`;
    throw addressError('INVALID_MEMBER', { member: JSON.stringify(part), address });
  });
  const different = [...new Set(endpoints)];
  if (different.length <= MOST_ENDPOINTS) return different;
  const values = { address, count: different.length, limit: MOST_ENDPOINTS };
  throw addressError('TOO_MANY_MEMBERS', values);
}

/**
 * Reads the TLS files. If no files are given, returns undefined, for a connection without TLS.
 *
 * @throws {Failure}
 */
export function readTls(files: { ca?: string; cert?: string; key?: string }): EtcdTls | undefined {
  const named = Object.entries(files).filter(([, path]) => path !== undefined);
  if (named.length === 0) return undefined;
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw addressError('CERTIFICATE_WITHOUT_KEY', {});
  }
  return Object.fromEntries(named.map(([what, path]) => [what, pemIn(path)]));
}

function pemIn(path: string): Buffer {
  let text: Buffer;
  try {
    text = readBounded(path, fileBounds.text);
  } catch (error) {
    throw addressError('FILE_UNREADABLE', { path, reason: (error as Error).message });
  }
  if (text.includes('-----BEGIN ')) return text;
  throw addressError('NOT_PEM', { path });
}
