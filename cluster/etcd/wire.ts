/**
 * The messages of etcd's protocol as they come out of etcd.proto (64-bit numbers as text, keys and
 * values as bytes), their errors, and the endpoints and TLS files of a client.
 */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { fileBounds, readBounded } from '../../engine/store/folder.js';
import type { MethodDefinition, ServiceError } from './bundled/grpc.js';

interface Header {
  cluster_id: string;
  member_id: string;
  revision: string;
  raft_term: string;
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

/** One of them is there. */
export interface ResponseOp {
  response_range?: RangeResponse;
  response_put?: PutResponse;
  response_delete_range?: DeleteRangeResponse;
}

interface TxnResponse {
  header: Header;
  succeeded: boolean;
  responses: ResponseOp[];
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

interface AlarmResponse {
  alarms: { memberID: string; alarm: 'NONE' | 'NOSPACE' | 'CORRUPT' }[];
}

interface StatusResponse {
  header: Header;
  version: string;
  dbSize: string;
  leader: string;
  raftIndex: string;
  raftTerm: string;
}

/** What each method answers with; streams, with what comes on them. */
export interface Answers {
  'KV/Range': RangeResponse;
  'KV/Put': PutResponse;
  'KV/DeleteRange': DeleteRangeResponse;
  'KV/Txn': TxnResponse;
  'KV/Compact': PutResponse;
  'Watch/Watch': WatchResponse;
  'Lease/LeaseGrant': LeaseGrantResponse;
  'Lease/LeaseRevoke': PutResponse;
  'Lease/LeaseKeepAlive': LeaseGrantResponse;
  'Maintenance/Alarm': AlarmResponse;
  'Maintenance/Status': StatusResponse;
}

export type MethodName = keyof Answers;
type Methods = {
  [Name in MethodName]: MethodDefinition<object, Answers[Name]>;
};

type Grpc = typeof import('./bundled/grpc.js');
let loaded: { grpc: Grpc; methods: Methods } | undefined;

/** gRPC and the methods of the protocol: required when they are first used, which takes 60 ms. */
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
 * - `unavailable`: no member answers, or the one that was asked has no leader
 * - `out_of_space`: etcd takes no writes until somebody makes room and disarms its alarm
 * - `too_large`: a request or a value over etcd's limit (1.5 MiB unless an operator raised it)
 * - `compacted`: the revision asked for is gone; `compactRevision` is the oldest that is there
 * - `no_lease`: the lease has expired or was revoked
 * - `refused`: etcd does not want it: who we are, what we ask, or it is no etcd
 */
type EtcdFailure =
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

export function toEtcdError({ code, details }: ServiceError, endpoint: string): EtcdError {
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

const DEFAULT_PORT = 2379;
/** More members no etcd should have. */
const MOST_ENDPOINTS = 16;

/** An address or a file of TLS that cannot be used: a user can mend it. */
export class EtcdAddressError extends Error {
  override name = 'EtcdAddressError';
}

/** PEM, as bytes: who may vouch for etcd, and who we are where etcd asks for that. */
export interface EtcdTls {
  /** Left out, the authorities that Node knows. */
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/**
 * The members that an address names, each as `host:port`.
 *
 * @throws {EtcdAddressError}
 */
export function parseEndpoints(address: string): string[] {
  const expected = `expected etcd://host:port, with commas between several`;
  const [, list] = /^etcd:\/\/([^/?#@\s]+)\/?$/.exec(address) ?? [];
  if (list === undefined) {
    throw new EtcdAddressError(
      `${JSON.stringify(address)} is not the address of an etcd: ${expected}`,
    );
  }
  const endpoints = list.split(',').map((part) => {
    const [, host, port = String(DEFAULT_PORT)] =
      /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(part) ?? [];
    if (host !== undefined && 1 <= Number(port) && Number(port) <= 65_535) return `${host}:${port}`;
    throw new EtcdAddressError(
      `${JSON.stringify(part)} in ${address} is no host:port; ${expected}`,
    );
  });
  const different = [...new Set(endpoints)];
  if (different.length <= MOST_ENDPOINTS) return different;
  throw new EtcdAddressError(
    `${address} names ${different.length} members; expected at most ${MOST_ENDPOINTS}`,
  );
}

/**
 * Reads the files of TLS; undefined when none is named, which is a connection without it.
 *
 * @throws {EtcdAddressError}
 */
export function readTls(files: { ca?: string; cert?: string; key?: string }): EtcdTls | undefined {
  const named = Object.entries(files).filter(([, path]) => path !== undefined);
  if (named.length === 0) return undefined;
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new EtcdAddressError('a certificate needs its key, and a key its certificate: give both');
  }
  return Object.fromEntries(named.map(([what, path]) => [what, pemIn(path)]));
}

function pemIn(path: string): Buffer {
  let text: Buffer;
  try {
    text = readBounded(path, fileBounds.text);
  } catch (error) {
    throw new EtcdAddressError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new EtcdAddressError(`${path} is not PEM; expected a text with -----BEGIN in it`);
}
